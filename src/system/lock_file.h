// A lock file: one process at a time holds it, and the system lets go of it when that process ends,
// however it ends. The file itself stays. Any thread.
#pragma once

#include <string>

namespace ako {

class LockFile {
  public:
    enum class State {
        held,     ///< by this object, until it goes
        taken,    ///< by somebody else
        no_file,  ///< it, or its folder, can neither be opened nor made
    };

    /// Makes the file and its folder if need be, and does not wait. Processes started while it is
    /// held do not hold it.
    explicit LockFile(const std::string& file);
    ~LockFile();
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;

    State state() const { return state_; }
    /// What the system says, with `no_file`.
    const std::string& why() const { return why_; }

  private:
    int fd_ = -1;
    State state_ = State::no_file;
    std::string why_;
};

}  // namespace ako
