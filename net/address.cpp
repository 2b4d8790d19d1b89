#include "net/address.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace ako {

Result<Address> parse_address(const std::string& text) {
    const auto wrong = [&](const char* what) {
        return fail(Error::Kind::io, fmt::format("\"{}\" is not host:port: {}", text, what));
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return wrong("there is no colon");
    std::string host = text.substr(0, colon);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string::npos)
        return wrong("an IPv6 address stands in [brackets]");
    if (host.empty()) return wrong("there is no host");

    const std::string_view digits = std::string_view(text).substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
        return wrong("the port is not a number from 0 to 65535");
    return Address{std::move(host), port};
}

std::string address_text(const Address& address) {
    return address.host.find(':') == std::string::npos
               ? fmt::format("{}:{}", address.host, address.port)
               : fmt::format("[{}]:{}", address.host, address.port);
}

std::string address_text(const Address& address, const std::string& found) {
    return found.empty() || found == address.host
               ? address_text(address)
               : fmt::format("{} ({})", address_text(address), found);
}

}  // namespace ako
