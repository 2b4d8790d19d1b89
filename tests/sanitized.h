// Is this AddressSanitizer? Under it a test in virtual time takes forty times as long and runs the
// same code, so that it makes fewer of the same. A constant; any thread.
#pragma once

namespace ako::test {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace ako::test
