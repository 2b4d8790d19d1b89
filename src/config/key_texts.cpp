#include "src/config/key_texts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ako/error.h"
#include "src/config/fields.h"
#include "src/config/peer_list.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

/// "ring", "ring with exchange.elastic: true": how a file says the mode that a row names.
std::string as_written(const std::string& name) {
    for (const ModeEntry& entry : mode_table::entries)
        if (entry.name == name && entry.word != name && !entry.with.empty())
            return fmt::format("{} with {}", entry.word, entry.with);
    return name;
}

/// "model.name: synthetic", "exchange.mode: ring or local-sgd"; empty: always.
std::string only_with(const Field& field) {
    if (field.modes.empty()) return field.applies_with;
    std::vector<std::string> modes;
    for (const std::string& name : field.modes) modes.push_back(as_written(name));
    return fmt::format("exchange.mode: {}", fmt::join(modes, " or "));
}

std::vector<KeyText> make_texts(const Settings& defaults) {
    std::vector<KeyText> texts;
    for (const Field& field : all_fields()) {
        if (field.is_retired) continue;
        const std::string standard =
            field.standard.empty() ? field.write(defaults) : field.standard;
        texts.push_back({field.path,
                         field.meaning,
                         field.expected,
                         standard,
                         only_with(field),
                         field.modes,
                         {}});
        for (const ListKey& key : list_keys())
            if (key.path.starts_with(field.path + "."))
                texts.push_back(
                    {key.path, key.meaning, key.expected, key.standard, "", field.modes, {}});
    }
    return texts;
}

/// "1: its local rounds are ...", "sgd with exchange.elastic: true: its steps ...".
std::vector<std::string> limits_in(const std::string& mode, const std::string& path) {
    std::vector<std::string> limits;
    for (const ModeEntry& entry : mode_table::entries) {
        if (entry.word != mode) continue;
        for (const auto& [key, allowed, why] : entry.exclusions) {
            if (key != path) continue;
            const std::string reason = fmt::format(": {}", why);
            const bool is_plain = entry.with.empty();
            // The plain form comes last, and its special ones have no form of it either.
            if (is_plain)
                std::erase_if(limits, [&](const auto& one) { return one.ends_with(reason); });
            const std::string with = is_plain ? "" : fmt::format(" with {}", entry.with);
            limits.push_back(fmt::format("{}{}{}", allowed, with, reason));
        }
    }
    return limits;
}

/// All keys and groups, to find the one nearest to a misspelt one.
std::vector<std::string> names_and_groups() {
    std::set<std::string> names;
    for (const KeyText& text : key_texts()) {
        for (std::size_t end = 0; end != std::string::npos;) {
            end = text.path.find('.', end + 1);
            names.insert(text.path.substr(0, end));
        }
    }
    return {names.begin(), names.end()};
}

/// The keys that the mode heeds, with its defaults and limits.
std::vector<KeyText> key_texts_in(const ModeEntry& mode) {
    Settings defaults;
    defaults.exchange.life_timeout_ms = mode.life_timeout_ms;
    const std::string word(mode.word);
    std::vector<KeyText> texts = make_texts(defaults);
    std::erase_if(texts, [&](const KeyText& text) { return !text.heeded_by(word); });
    for (KeyText& text : texts) text.limits = limits_in(word, text.path);
    return texts;
}

}  // namespace

bool KeyText::heeded_by(const std::string& word) const {
    return modes.empty() || std::any_of(modes.begin(), modes.end(), [&](const std::string& name) {
               return std::any_of(mode_table::entries.begin(), mode_table::entries.end(),
                                  [&](const ModeEntry& entry) {
                                      return entry.word == word &&
                                             (name == entry.word || name == entry.name);
                                  });
           });
}

const std::vector<KeyText>& key_texts() {
    static const std::vector<KeyText> texts = make_texts(Settings{});
    return texts;
}

std::vector<KeyText> key_texts_of(const std::string& group, const ModeEntry* mode) {
    std::vector<KeyText> found;
    for (const KeyText& text : mode ? key_texts_in(*mode) : key_texts()) {
        if (group.empty() || text.path == group || text.path.starts_with(group + "."))
            found.push_back(text);
    }
    if (!found.empty()) return found;
    if (mode != nullptr && !key_texts_of(group).empty())
        throw StartupError(fmt::format("the mode {} does not heed {}", mode->word, group),
                           fmt::format("`ako keys {}` says which do", group));
    if (const std::string now = renamed_key(group); !now.empty())
        throw StartupError(fmt::format("there is no key or group of keys {}", group),
                           fmt::format("it is {} now", now));
    const std::string nearest = nearest_key(group, names_and_groups());
    throw StartupError(fmt::format("there is no key or group of keys {}", group),
                       nearest.empty() ? "`ako keys` without a group prints them all"
                                       : fmt::format("did you mean {}?", nearest));
}

}  // namespace ako
