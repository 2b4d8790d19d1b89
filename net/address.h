// "host:port" as people write it, with [brackets] around an IPv6 address. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "ako/error.h"

namespace ako {

struct Address {
    std::string host;
    std::uint16_t port = 0;
};

/// Error::Kind::io saying what is wrong; nothing is looked up.
Result<Address> parse_address(const std::string& text);

/// As it is written.
std::string address_text(const Address& address);

/// As it is written, and what its host was looked up to: "b:7701 (172.18.0.3)".
std::string address_text(const Address& address, const std::string& found);

}  // namespace ako
