// Numbers as people read them. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace ako {

/// "1:05" or "2:03:04".
std::string clock_text(double seconds);
/// 12,345,678 as "12.3 MB".
std::string bytes_text(double bytes);
/// 431080 as "431,080".
std::string grouped(std::uint64_t number);

}  // namespace ako
