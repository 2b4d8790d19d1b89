#include "src/config/unknown_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ako/error.h"
#include "src/config/fields.h"
#include "src/config/nearest_word.h"

namespace ako {

namespace {

std::string leaf(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// Keys a map may have, with "*" for the number of a list element: the known ones and, as groups,
/// all that they stand in.
struct KnownKeys {
    const std::vector<std::string>& keys = known_keys();

    bool is_key(const std::string& path) const {
        const auto& rows = all_fields();
        return std::find(keys.begin(), keys.end(), path) != keys.end() ||
               std::any_of(rows.begin(), rows.end(),
                           [&](const Field& row) { return row.is_retired && row.path == path; });
    }
    bool is_group(const std::string& path) const {
        return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
            return key.starts_with(path + ".") && !key.starts_with(path + ".*");
        });
    }
};

/// A key that has been given another name, and that name, for ever: old files are found again.
struct RenamedKey {
    const char* old_path;
    const char* path;
};
constexpr RenamedKey renamed_keys[] = {
    {"training.batch_per_peer", "training.batch"},
    {"training.accumulate", "training.batch.accumulate"},
};

std::string remedy(const std::string& unknown) {
    if (const std::string now = renamed_key(unknown); !now.empty())
        return fmt::format("it is {} now", now);
    const std::string nearest = nearest_key(unknown);
    return nearest.empty() ? "`ako keys` prints all keys"
                           : fmt::format("did you mean {}?", nearest);
}

void walk(const ConfigValue& value, const std::string& path, const KnownKeys& known) {
    for (const ConfigEntry& entry : value.entries) {
        const bool in_list = value.kind == ConfigValue::Kind::list;
        const std::string name = in_list ? "*" : entry.key;
        const std::string inner = path.empty() ? name : fmt::format("{}.{}", path, name);
        const ConfigValue::Kind kind = entry.value.kind;
        if (in_list) {
            if (kind == ConfigValue::Kind::map) walk(entry.value, inner, known);
        } else if (known.is_group(inner) && !known.is_key(inner)) {  // peers is both
            if (kind != ConfigValue::Kind::map && kind != ConfigValue::Kind::null)
                refuse(entry.value.where, inner, "keys and values", entry.value.description());
            walk(entry.value, inner, known);
        } else if (known.is_key(inner)) {
            if (!reads_keys_below(inner)) walk(entry.value, inner, known);
        } else {
            throw StartupError(fmt::format("{}: unknown key {}", entry.where, inner),
                               remedy(inner));
        }
    }
}

}  // namespace

bool is_key_of_plan(const std::string& key) {
    return key == "cluster" || key == "modes" || key == "rates_mbit";
}

std::string renamed_key(const std::string& path) {
    for (const RenamedKey& renamed : renamed_keys) {
        if (path == renamed.old_path) return renamed.path;
    }
    return "";
}

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

void refuse_unknown_keys(const ConfigValue& tree) {
    // Before all others: the keys that a plan shares with no cluster file say what it is.
    for (const ConfigEntry& entry : tree.entries) {
        if (is_key_of_plan(entry.key))
            throw StartupError(fmt::format("{}: unknown key {}", entry.where, entry.key),
                               "this looks like the plan of a comparison, which `ako compare` runs "
                               "and `ako check` checks");
    }
    walk(tree, "", KnownKeys{});
}

}  // namespace ako
