// AKO_ASSERT: an invariant of the program itself. It stays on in release builds, because a broken
// ledger is worse than a stopped one; it prints the condition and a message with the values.
// AKO_BUG: a place that is never reached, and that the compiler knows is never left.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ako {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line,
                                          const std::string& message) {
    std::fprintf(stderr, "%s:%d: bug in ako: '%s' does not hold: %s\n", file, line, condition,
                 message.c_str());
    std::abort();
}

}  // namespace ako

/// `message` is an expression convertible to std::string; it is evaluated only on failure.
#define AKO_ASSERT(condition, message)                                          \
    do {                                                                        \
        if (!(condition)) [[unlikely]]                                          \
            ::ako::assertion_failed(#condition, __FILE__, __LINE__, (message)); \
    } while (false)

#define AKO_BUG(message) \
    ::ako::assertion_failed("this is never reached", __FILE__, __LINE__, (message))
