// Which networks an IP address belongs to. Pure.
#pragma once

#include <optional>
#include <string>

namespace ako {

enum class AddressRange {
    loopback,   ///< 127/8, ::1
    local,      ///< RFC 1918, link-local (169.254/16, fe80::/10), shared (100.64/10), RFC 4193
                ///< (fc00::/7)
    any,        ///< 0.0.0.0, ::
    elsewhere,  ///< everything else: what the whole world may reach
};

/// The range of a numeric address, an IPv4 address inside IPv6 (::ffff:10.0.0.1) being what it is
/// by itself; nullopt for a name. A zone (fe80::1%eth0) may stand behind.
std::optional<AddressRange> address_range(const std::string& host);

}  // namespace ako
