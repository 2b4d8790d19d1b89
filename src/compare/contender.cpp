#include "src/compare/contender.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace ako {

namespace {

constexpr const char* servers_key = "exchange.servers";
constexpr const char* placement_key = "exchange.placement";
constexpr const char* consistency_key = "exchange.consistency";
constexpr const char* learners_key = "training.learners";

/// What the parameter server is tried with: no waiting at all, waiting for everybody, and two
/// bounds on how far ahead a peer may be.
const std::vector<std::string> consistencies = {"bsp", "{ssp: 1}", "{ssp: 3}", "async"};

std::vector<Variant> every_server(std::size_t machines) {
    std::vector<Variant> variants;
    for (const char* placement : {"dedicated", "co-located"}) {
        for (std::size_t servers = 1; servers <= machines; ++servers) {
            for (const std::string& consistency : consistencies)
                variants.push_back({{servers_key, fmt::to_string(servers)},
                                    {placement_key, placement},
                                    {consistency_key, consistency}});
        }
    }
    return variants;
}

/// "exchange.local_rounds" as "local rounds".
std::string words_of(const std::string& key) {
    std::string words = key.substr(key.rfind('.') + 1);
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

}  // namespace

std::vector<Variant> variants_for(const Contender& contender, std::size_t machines) {
    std::vector<Variant> variants =
        contender.every_server ? every_server(machines) : contender.variants;
    // A machine at least has to train.
    std::erase_if(variants,
                  [&](const Variant& variant) { return dedicated_servers(variant) >= machines; });
    return variants;
}

const ModeEntry& mode_named(const std::string& word) {
    const ModeEntry* const entry = entry_named(word);
    return entry != nullptr ? *entry : mode_table::ako;
}

std::string value_of(const Variant& variant, const std::string& key) {
    for (const Assignment& assignment : variant) {
        if (assignment.key == key) return assignment.value;
    }
    return "";
}

const std::vector<std::string>& server_keys() {
    static const std::vector<std::string> keys = {servers_key, placement_key, consistency_key};
    return keys;
}

void complete_variants(Contender& contender, const Variant& elsewhere) {
    const ModeEntry& mode = mode_named(contender.mode);
    if (mode.learners == LearnersMeet::at_all_peers && value_of(elsewhere, learners_key) == "auto")
        for (Variant& variant : contender.variants)
            if (value_of(variant, learners_key).empty()) variant.push_back({learners_key, "auto"});
    if (!mode.has_servers) return;
    for (Variant& variant : contender.variants) {
        Variant complete;
        for (const std::string& key : server_keys()) {
            std::string value = value_of(variant, key);
            if (value.empty()) value = value_of(elsewhere, key);
            if (!value.empty()) complete.push_back({key, value});
            std::erase_if(variant, [&](const Assignment& one) { return one.key == key; });
        }
        complete.insert(complete.end(), variant.begin(), variant.end());
        variant = std::move(complete);
    }
}

std::size_t dedicated_servers(const Variant& variant) {
    if (value_of(variant, placement_key) != "dedicated") return 0;
    const std::string text = value_of(variant, servers_key);
    std::size_t servers = 1;
    std::from_chars(text.data(), text.data() + text.size(), servers);
    return servers;
}

bool is_synchronous(const std::string& word, const Variant& variant) {
    const ModeEntry& mode = mode_named(word);
    // How many learners `auto` comes to depends on times, and so does what their rounds come to.
    if (mode.learners == LearnersMeet::at_all_peers)
        return value_of(variant, learners_key) != "auto";
    return mode.waits && (!mode.has_servers || value_of(variant, consistency_key) == "bsp");
}

std::string variant_text(const Variant& variant) {
    std::string text;
    for (const auto& [key, value] : variant) {
        std::string plain = value;
        std::erase_if(plain, [](char letter) { return letter == '{' || letter == '}'; });
        std::erase(plain, ':');
        const bool says_itself = key == placement_key || key == consistency_key;
        text += (text.empty() ? "" : ", ") +
                (says_itself ? plain : fmt::format("{} {}", words_of(key), plain));
    }
    return text;
}

}  // namespace ako
