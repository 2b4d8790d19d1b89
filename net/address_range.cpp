#include "net/address_range.h"

#include "net/asio.h"

namespace ako {
namespace {

/// A network: the first `bits` of an address are those of `base`.
struct Network4 {
    std::uint32_t base;
    unsigned bits;
    bool holds(std::uint32_t address) const { return (address ^ base) >> (32 - bits) == 0; }
};

constexpr Network4 loopback4 = {0x7f000000, 8};
constexpr Network4 local4[] = {
    {0x0a000000, 8},   // 10/8, RFC 1918
    {0xac100000, 12},  // 172.16/12, RFC 1918
    {0xc0a80000, 16},  // 192.168/16, RFC 1918
    {0xa9fe0000, 16},  // 169.254/16, link-local, RFC 3927
    {0x64400000, 10},  // 100.64/10, shared behind a provider's NAT, RFC 6598; and VPNs
};

AddressRange range4(std::uint32_t address) {
    if (address == 0) return AddressRange::any;
    if (loopback4.holds(address)) return AddressRange::loopback;
    for (const Network4& network : local4)
        if (network.holds(address)) return AddressRange::local;
    return AddressRange::elsewhere;
}

AddressRange range6(const asio::ip::address_v6& address) {
    if (address.is_v4_mapped())
        return range4(asio::ip::make_address_v4(asio::ip::v4_mapped, address).to_uint());
    if (address.is_unspecified()) return AddressRange::any;
    if (address.is_loopback()) return AddressRange::loopback;
    const auto bytes = address.to_bytes();
    const bool unique_local = (bytes[0] & 0xfe) == 0xfc;                    // fc00::/7
    const bool link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;  // fe80::/10
    return unique_local || link_local ? AddressRange::local : AddressRange::elsewhere;
}

}  // namespace

std::optional<AddressRange> address_range(const std::string& host) {
    asio::error_code not_numeric;
    const auto address = asio::ip::make_address(host, not_numeric);
    if (not_numeric) return std::nullopt;
    return address.is_v4() ? range4(address.to_v4().to_uint()) : range6(address.to_v6());
}

}  // namespace ako
