#include "src/config/unknown_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "ako/error.h"
#include "src/config/fields.h"

namespace ako {

namespace {

/// Levenshtein's distance: insertions, deletions and replacements.
std::size_t edit_distance(const std::string& from, const std::string& to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

std::string leaf(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// Keys a map may have, with "*" for the number of a list element: the known ones and, as groups,
/// all that they stand in.
struct KnownKeys {
    const std::vector<std::string>& keys = known_keys();

    bool is_key(const std::string& path) const {
        return std::find(keys.begin(), keys.end(), path) != keys.end();
    }
    bool is_group(const std::string& path) const {
        return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
            return key.starts_with(path + ".") && !key.starts_with(path + ".*");
        });
    }
};

void walk(const ConfigValue& value, const std::string& path, const KnownKeys& known) {
    for (const ConfigEntry& entry : value.entries) {
        const bool in_list = value.kind == ConfigValue::Kind::list;
        const std::string name = in_list ? "*" : entry.key;
        const std::string inner = path.empty() ? name : fmt::format("{}.{}", path, name);
        const ConfigValue::Kind kind = entry.value.kind;
        if (in_list) {
            if (kind == ConfigValue::Kind::map) walk(entry.value, inner, known);
        } else if (known.is_group(inner)) {
            if (kind != ConfigValue::Kind::map && kind != ConfigValue::Kind::null)
                refuse(entry.value.where, inner, "keys and values", entry.value.description());
            walk(entry.value, inner, known);
        } else if (known.is_key(inner)) {
            if (!reads_keys_below(inner)) walk(entry.value, inner, known);
        } else {
            const std::string nearest = nearest_key(inner);
            throw StartupError(fmt::format("{}: unknown key {}", entry.where, inner),
                               nearest.empty() ? "all keys are in experiments/example.yaml"
                                               : fmt::format("did you mean {}?", nearest));
        }
    }
}

}  // namespace

std::string nearest_key(const std::string& path) { return nearest_key(path, known_keys()); }

std::string nearest_key(const std::string& path, const std::vector<std::string>& keys) {
    std::string nearest;
    std::size_t best = std::max<std::size_t>(2, path.size() / 4) + 1;
    for (const std::string& key : keys) {
        const std::size_t longer = std::max(path.size(), key.size());
        const std::size_t shorter = std::min(path.size(), key.size());
        if (longer - shorter >= best && leaf(path) != leaf(key)) continue;  // it cannot be nearer
        // A right name in the wrong group is nearer than any slip of the pen.
        const std::size_t distance =
            std::min(edit_distance(path, key), leaf(path) == leaf(key) ? std::size_t{1} : best + 1);
        if (distance < best) {
            best = distance;
            nearest = key;
        }
    }
    return nearest;
}

void refuse_unknown_keys(const ConfigValue& tree) { walk(tree, "", KnownKeys{}); }

}  // namespace ako
