#include "src/compare/plan_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/config/field_types.h"
#include "src/config/fields.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

constexpr std::size_t contenders_max = 16;
constexpr std::size_t variants_max = 256;

/// Keys that a cell sets itself, with the key of the plan to be used instead.
const std::vector<std::pair<std::string, std::string>> taken_keys = {
    {"exchange.mode", "modes"},
    {"training.learning_rate", "learning_rates"},
    {"training.batch.local", "batch_per_peer"},
    {"training.batch", "batch_per_peer"},  // unless it is auto
    {"training.epochs", "epochs"},
    {"training.evaluate_every", "evaluate_every"},
    {"training.target_accuracy", "target_accuracy"},
    {"exchange.egress_mbit_max", "rates_mbit"},
    {"exchange.link_mbit", "rates_mbit"},
    {"seed", "seeds"},
    {"run", "name"},
    {"output", "output"},
    {"peers", "machines"}};

/// A key of the cluster file and what the plan gives for it.
struct GivenKey {
    std::string key;
    const ConfigValue* value;
};

/// Nested groups as keys with dots; of a key given twice the later, which is from the command line.
void flatten(const ConfigValue& map, const std::string& prefix, std::vector<GivenKey>& keys) {
    for (const ConfigEntry& entry : map.entries) {
        const std::string key = prefix + entry.key;
        const bool group =
            std::any_of(known_keys().begin(), known_keys().end(), [&](const std::string& known) {
                return known.starts_with(key + ".") && known.find('*') == std::string::npos;
            });
        if (group && entry.value.kind == ConfigValue::Kind::map) {
            flatten(entry.value, key + ".", keys);
            continue;
        }
        for (const auto& [taken, instead] : taken_keys) {
            const bool free = key == "training.batch" && entry.value.text == "auto";
            if (key == taken && !free)
                throw StartupError(
                    fmt::format("{}: {}: a comparison sets it itself", entry.where, key),
                    fmt::format("use the plan's {}", instead));
        }
        std::erase_if(keys, [&](const GivenKey& other) { return other.key == key; });
        keys.push_back({key, &entry.value});
    }
}

std::vector<std::string> values_of(const GivenKey& given) {
    if (given.value->kind != ConfigValue::Kind::list) return {yaml_text(*given.value)};
    std::vector<std::string> values;
    for (const ConfigEntry& entry : given.value->entries) values.push_back(yaml_text(entry.value));
    if (values.empty())
        refuse(given.value->where, given.key, "a value or a list of them", "an empty list");
    return values;
}

std::vector<Variant> combinations(const std::vector<GivenKey>& keys, const std::string& where,
                                  const std::string& path) {
    std::vector<Variant> variants{{}};
    for (const GivenKey& given : keys) {
        std::vector<Variant> longer;
        for (const Variant& variant : variants) {
            for (const std::string& value : values_of(given)) {
                longer.push_back(variant);
                longer.back().push_back({given.key, value});
            }
        }
        variants = std::move(longer);
        if (variants.size() > variants_max)
            refuse(where, path, fmt::format("at most {} variants", variants_max), "more");
    }
    return variants;
}

std::vector<Variant> variants_of(const ConfigValue& map, const std::string& path) {
    std::vector<GivenKey> keys;
    flatten(map, "", keys);
    return combinations(keys, map.where, path);
}

Contender read_contender(const ConfigEntry& entry) {
    const std::string path = "modes." + entry.key;
    Contender contender;
    contender.name = contender.mode = entry.key;
    contender.where = entry.where;
    ConfigValue value = entry.value;
    const bool knows_best = mode_named(contender.mode).has_servers;
    const std::string expected = fmt::format(
        "nothing, {}or keys of the cluster file with their values", knows_best ? "best, " : "");
    if (value.kind == ConfigValue::Kind::null) return contender;
    if (value.kind == ConfigValue::Kind::scalar && value.text == "best") {
        if (!knows_best)
            refuse(value.where, path, "keys and values", "best",
                   "`best` stands for all parameter servers; of other modes list the variants");
        contender.every_server = true;
        return contender;
    }
    if (value.kind != ConfigValue::Kind::map)
        refuse(value.where, path, expected, value.description());
    if (const ConfigEntry* mode = value.find("mode")) {
        contender.mode = read_text(mode->value, path + ".mode", "the mode");
        std::erase_if(value.entries, [](const ConfigEntry& one) { return one.key == "mode"; });
    }
    contender.variants = variants_of(value, path);
    return contender;
}

}  // namespace

std::string yaml_text(const ConfigValue& value) {
    std::string text;
    switch (value.kind) {
        case ConfigValue::Kind::null:
            return "null";
        case ConfigValue::Kind::scalar:
            return value.quoted ? quote(value.text) : value.text;
        case ConfigValue::Kind::list:
            for (const ConfigEntry& entry : value.entries)
                text += (text.empty() ? "" : ", ") + yaml_text(entry.value);
            return "[" + text + "]";
        case ConfigValue::Kind::map:
            for (const ConfigEntry& entry : value.entries)
                text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", entry.key,
                                    yaml_text(entry.value));
            return "{" + text + "}";
    }
    return text;
}

std::vector<Contender> read_modes(const ConfigValue& value) {
    const std::string expected =
        fmt::format("1 to {} names of modes, each with its variants", contenders_max);
    if (value.kind != ConfigValue::Kind::map || value.entries.empty() ||
        value.entries.size() > contenders_max)
        refuse(value.where, "modes", expected, value.description());
    std::vector<Contender> contenders;
    for (const ConfigEntry& entry : value.entries) {
        contenders.push_back(read_contender(entry));
        if (contenders.back().alone())
            refuse(entry.where, "modes", "another name", alone_name,
                   "the plan's `alone` adds this one by itself");
    }
    return contenders;
}

std::optional<Contender> read_alone(const ConfigValue* value, const std::string& where) {
    Contender contender;
    contender.name = alone_name;
    contender.mode = mode_table::local.word;
    contender.where = where;
    if (value == nullptr) return contender;
    contender.where = value->where;
    if (value->kind == ConfigValue::Kind::map) {
        contender.variants = variants_of(*value, "alone");
        return contender;
    }
    const std::string expected = "true, false, or keys of the cluster file with their values";
    const std::string word = read_text(*value, "alone", expected);
    if (word != "true" && word != "false")
        refuse(value->where, "alone", expected, value->description());
    return word == "true" ? std::optional(contender) : std::nullopt;
}

Variant read_assignments(const ConfigValue& value, const std::string& path) {
    if (value.kind != ConfigValue::Kind::map)
        refuse(value.where, path, "keys and values", value.description());
    std::vector<GivenKey> keys;
    flatten(value, "", keys);
    Variant assignments;
    for (const GivenKey& given : keys) assignments.push_back({given.key, yaml_text(*given.value)});
    return assignments;
}

}  // namespace ako
