#include "net/exposure.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ako/error.h"
#include "net/address.h"
#include "net/address_range.h"
#include "net/asio.h"

namespace ako {
namespace {

constexpr const char* what_to_do =
    "make a key with `openssl rand -hex 32 > cluster.key && chmod 600 cluster.key`, copy it to "
    "every peer, beside the cluster file, and add `cluster_key_file: cluster.key` to that file; "
    "or use addresses of a private network or a VPN";

/// localhost and all below it are this machine, whatever a name server says (RFC 6761).
bool names_loopback(std::string_view host) {
    return host == "localhost" || host.ends_with(".localhost");
}

/// The numeric addresses that `host` stands for; none for a name that is not known.
std::vector<std::string> numeric_addresses(const std::string& host, Names names) {
    if (address_range(host)) return {host};
    if (names == Names::left_alone || names_loopback(host)) return {};
    asio::io_context io;
    asio::error_code not_known;
    std::vector<std::string> found;
    for (const auto& entry : asio::ip::tcp::resolver(io).resolve(host, "", not_known))
        found.push_back(entry.endpoint().address().to_string());
    return found;
}

/// The address of `text` that strangers may reach; none if there is none. `any_is_exposed`: does
/// 0.0.0.0 count as one?
std::optional<std::string> exposed_address(const std::string& text, Names names,
                                           bool any_is_exposed) {
    const auto address = parse_address(text);
    if (!address) return std::nullopt;  // refused elsewhere, by what is wrong with it
    for (const std::string& numeric : numeric_addresses(address->host, names)) {
        const auto range = address_range(numeric);
        if (range == AddressRange::elsewhere || (range == AddressRange::any && any_is_exposed))
            return numeric;
    }
    return std::nullopt;
}

[[noreturn]] void refuse(const std::string& name, const char* does, const std::string& text,
                         const std::string& numeric) {
    const bool was_name = text.find(numeric) == std::string::npos;
    throw StartupError(
        fmt::format("peer {} {} {}{}, outside loopback and private networks, without a cluster key",
                    name, does, text, was_name ? fmt::format(" ({})", numeric) : ""),
        what_to_do);
}

}  // namespace

void require_no_exposure(const std::string& name, const std::string& address,
                         const std::string& listen, Names names) {
    if (const auto numeric = exposed_address(address, names, true))
        refuse(name, "announces", address, *numeric);
    if (listen.empty() || listen == address) return;
    if (const auto numeric = exposed_address(listen, names, false))
        refuse(name, "listens on", listen, *numeric);
}

}  // namespace ako
