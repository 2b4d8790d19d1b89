// How failures travel, decided by who can act on them:
//   a bug            AKO_ASSERT (assert.h): prints the values and aborts
//   start-up         StartupError: thrown, caught by main alone, exit status 2
//   a peer, the wire Result<T>: the session ends with a named reason, the run goes on
//   numbers          Error with Kind::numbers: the trainer stops before publishing, exit status 3
//   a caller         Error with Kind::unsupported: nothing has happened, something else may be done
#pragma once

#include <stdexcept>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace ako {

/// What went wrong while reading the settings or the data, or while starting. `what()` says what
/// and where (file:line:column, path, address); `hint()` says what to do next.
class StartupError : public std::runtime_error {
  public:
    explicit StartupError(const std::string& what, std::string hint = "")
        : std::runtime_error(what), hint_(std::move(hint)) {}

    const std::string& hint() const { return hint_; }

  private:
    std::string hint_;
};

/// A failure that a caller is expected to handle.
struct Error {
    enum class Kind {
        wire,         ///< a peer sent something that cannot be read
        io,           ///< the operating system refused (socket, file)
        numbers,      ///< a loss, a gradient or an update is not finite
        unsupported,  ///< this mode cannot do what was asked of it
    };
    Kind kind;
    std::string what;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error::Kind kind, std::string what) {
    return tl::make_unexpected(Error{kind, std::move(what)});
}

}  // namespace ako
