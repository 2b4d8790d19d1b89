#include "net/data_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

namespace ako {
namespace {

constexpr std::string_view of_data = "data.";
constexpr const char* digest_field = "data.digest";
constexpr const char* nothing = "nothing";

/// Between what both have in common and their values.
constexpr std::string_view before_value = ": ";

/// "3,000".
std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string items_text(const DataPiece& piece) {
    if (piece.end - piece.first == 1) return fmt::format("at item {}", grouped(piece.first));
    return fmt::format("in items {} to {}", grouped(piece.first), grouped(piece.end - 1));
}

/// A Reject that names the first checksums that differ, or nothing. `what`: "labels".
std::optional<Reject> checksums_differ(const std::string& field, std::uint64_t count,
                                       const char* what, const std::vector<std::uint32_t>& ours,
                                       const std::vector<std::uint32_t>& theirs) {
    if (ours.size() != theirs.size()) return std::nullopt;  // one does not say
    std::optional<std::size_t> first;
    std::size_t differing = 0;
    for (std::size_t k = 0; k < ours.size(); ++k) {
        if (ours[k] == theirs[k]) continue;
        if (!first) first = k;
        ++differing;
    }
    if (!first) return std::nullopt;
    const std::string place =
        fmt::format("{} {} in {} of {} pieces, first {}: checksum ", grouped(count), what,
                    differing, ours.size(), items_text(data_piece(count, *first)));
    return Reject{field, place + fmt::format("{:08x}", ours[*first]),
                  place + fmt::format("{:08x}", theirs[*first])};
}

/// A Reject that names two labels that differ, of those that were told, or nothing.
std::optional<Reject> labels_differ(const std::string& field, const DataPartDescription& ours,
                                    const DataPartDescription& theirs) {
    const auto& own = ours.first_labels;
    const auto& others = theirs.first_labels;
    if (own.size() != others.size()) return std::nullopt;  // one does not say
    const auto [here, there] = std::mismatch(own.begin(), own.end(), others.begin());
    if (here == own.end()) return std::nullopt;
    const std::string place =
        fmt::format("{} labels, first at item {}: ", grouped(ours.count), here - own.begin());
    return Reject{field, place + std::to_string(*here), place + std::to_string(*there)};
}

/// `name`: "train".
std::optional<Reject> part_differs(const std::string& name, const DataPartDescription& ours,
                                   const DataPartDescription& theirs) {
    const std::string field = std::string(of_data) + name;
    if (ours.count != theirs.count)
        return Reject{field + "_count", grouped(ours.count) + " items",
                      grouped(theirs.count) + " items"};
    if (auto reject = labels_differ(field + "_labels", ours, theirs)) return reject;
    if (auto reject =
            checksums_differ(field + "_labels", ours.count, "labels", ours.labels, theirs.labels))
        return reject;
    return checksums_differ(field + "_images", ours.count, "images", ours.images, theirs.images);
}

}  // namespace

std::optional<Reject> reject_for_data(const DataDescription& ours, const DataDescription& theirs) {
    if (auto reject = part_differs("train", ours.train, theirs.train)) return reject;
    if (auto reject = part_differs("test", ours.test, theirs.test)) return reject;
    if (ours.digest == theirs.digest) return std::nullopt;
    const auto said = [](const std::string& digest) { return digest.empty() ? nothing : digest; };
    return Reject{digest_field, said(ours.digest), said(theirs.digest)};
}

std::optional<std::string> data_reject_text(const Reject& reject, bool ours,
                                            const std::string& other) {
    if (!reject.field.starts_with(of_data)) return std::nullopt;
    const auto& [here, there] =
        ours ? std::tie(reject.expected, reject.got) : std::tie(reject.got, reject.expected);
    // A stranger's words need not have the same beginning; then they are shown as they are.
    const std::size_t at =
        reject.field == digest_field ? std::string::npos : here.rfind(before_value);
    const std::size_t common = at == std::string::npos ? 0 : at + before_value.size();
    const bool same = there.compare(0, common, here, 0, common) == 0;
    return fmt::format("other data, all peers need the same ({} {}: {} here, {} {})", reject.field,
                       reject.field.ends_with("s") ? "differ" : "differs", here,
                       same ? there.substr(common) : there, other);
}

}  // namespace ako
