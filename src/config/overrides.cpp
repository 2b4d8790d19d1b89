#include "src/config/overrides.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "ako/error.h"

namespace ako {

namespace {

/// The element of `list` that the part of a key means.
ConfigValue& list_element(ConfigValue& list, const std::string& part, const std::string& where,
                          const std::string& path) {
    std::size_t place = 0;
    const char* end = part.data() + part.size();
    const auto [stopped, error] = std::from_chars(part.data(), end, place);
    if (error != std::errc() || stopped != end || place >= list.entries.size())
        refuse(where, path, fmt::format("a number below {} of an element", list.entries.size()),
               fmt::format("\"{}\"", part));
    return list.entries[place].value;
}

/// The child `part` of `parent`, made if it is not there.
ConfigValue& child(ConfigValue& parent, const std::string& part, const std::string& where,
                   const std::string& path) {
    if (parent.kind == ConfigValue::Kind::list) return list_element(parent, part, where, path);
    if (parent.kind == ConfigValue::Kind::null) parent.kind = ConfigValue::Kind::map;
    if (parent.kind == ConfigValue::Kind::scalar)
        refuse(where, path, "a key that has keys below it",
               fmt::format("one whose value is {}", parent.description()));
    if (ConfigEntry* entry = parent.find(part)) return entry->value;
    parent.entries.push_back(
        {part, where, ConfigValue::make(ConfigValue::Kind::null, where, true)});
    return parent.entries.back().value;
}

void expand(ConfigValue& parent, const std::string& key, const std::string& inner) {
    ConfigEntry* entry = parent.find(key);
    if (entry == nullptr || entry->value.kind != ConfigValue::Kind::scalar) return;
    ConfigValue scalar = std::move(entry->value);
    entry->value =
        ConfigValue::make(ConfigValue::Kind::map, scalar.where, scalar.from_command_line);
    const std::string where = scalar.where;
    entry->value.entries.push_back({inner, where, std::move(scalar)});
}

/// The place of a value in here that was set by an override of a key below `path`; empty if there
/// is none.
std::string set_below(const ConfigValue& value, const std::string& path) {
    if (value.from_command_line && value.where.starts_with("--set " + path + "."))
        return value.where;
    for (const ConfigEntry& entry : value.entries) {
        if (std::string where = set_below(entry.value, path); !where.empty()) return where;
    }
    return "";
}

/// As a place it is kept with every value in it, so a long one is cut off.
std::string shortened(const std::string& override_text) {
    constexpr std::size_t length_max = 200;
    if (override_text.size() <= length_max) return override_text;
    return override_text.substr(0, length_max) + "...";
}

}  // namespace

void expand_shorthands(ConfigValue& tree) {
    expand(tree, "model", "name");
    ConfigEntry* const training = tree.find("training");
    if (training == nullptr) return;
    expand(training->value, "schedule", "kind");
    const ConfigEntry* const batch = training->value.find("batch");
    const bool by_noise = batch != nullptr && batch->value.text == "auto";
    expand(training->value, "batch", by_noise ? "schedule" : "local");
    if (ConfigEntry* const expanded = training->value.find("batch"))
        expand(expanded->value, "schedule", "kind");
}

void apply_overrides(ConfigValue& tree, const std::vector<std::string>& overrides) {
    for (const std::string& override_text : overrides) {
        const std::string where = "--set " + shortened(override_text);
        const std::size_t equals = override_text.find('=');
        if (equals == std::string::npos || equals == 0)
            throw StartupError(where + ": expected key=value",
                               "for example --set training.epochs=1");
        const std::string path = override_text.substr(0, equals);
        expand_shorthands(tree);
        ConfigValue* value = &tree;
        for (const std::string& part : split_path(path)) value = &child(*value, part, where, path);
        ConfigValue given = parse_config(override_text.substr(equals + 1), where, true);
        // As when a variable of the shell is not set: it would take all keys below it away.
        if (given.kind == ConfigValue::Kind::null && value->kind == ConfigValue::Kind::map)
            refuse(where, path, "a value", "nothing",
                   fmt::format("{}={{}} has all keys below it at their defaults", path));
        if (const std::string before = set_below(*value, path); !before.empty())
            refuse(where, path, "to come before what is set below it",
                   fmt::format("it after {}, which it would take back", before),
                   "change their order, or leave one out");
        *value = std::move(given);
    }
    expand_shorthands(tree);
}

}  // namespace ako
