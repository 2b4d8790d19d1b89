#include "net/settings_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "src/numbers/digest.h"

namespace ako {
namespace {

/// As many keys as fit into a text of a Reject, with what they may be cut to.
constexpr std::size_t keys_named = 2;
constexpr std::size_t key_bytes_max = 48;
constexpr std::size_t value_bytes_max = 60;
constexpr std::string_view between = "; ";
constexpr std::string_view colon = ": ";
static_assert(keys_named * (key_bytes_max + value_bytes_max + colon.size() + between.size()) +
                  std::string_view("and 9999 more").size() <=
              text_bytes_max);

struct Said {
    std::string key;
    std::string value;
};

/// At most so many bytes, and no letter in halves.
std::string cut(const std::string& text, std::size_t bytes_max) {
    constexpr std::string_view rest = "..";
    if (text.size() <= bytes_max) return text;
    std::size_t end = bytes_max - rest.size();
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
    return text.substr(0, end).append(rest);
}

/// All keys with a value, as "model.layers.2"; what is no line of such a text is left out.
std::vector<Said> read(const std::string& text) {
    std::vector<Said> all;
    std::vector<std::string> open;  // the groups that the line stands in
    std::size_t item = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::size_t first = std::min(text.find_first_not_of(' ', at), end);
        const std::string line = text.substr(first, end - first);
        open.resize(std::min(open.size(), (first - at) / 2));
        at = end + 1;
        std::string path;
        for (const std::string& group : open) path += group + ".";
        if (line.starts_with("- ")) {
            all.push_back({path + std::to_string(item++), line.substr(2)});
            continue;
        }
        const std::size_t key_end = line.find(':');
        if (key_end == std::string::npos) continue;
        const std::string key = line.substr(0, key_end);
        if (key_end + 1 == line.size())
            open.push_back(key);
        else
            all.push_back({path + key, line.substr(key_end + 2)});
        item = 0;
    }
    return all;
}

/// A key with another value in two texts.
struct DifferingSetting {
    Said here, there;
};

std::vector<DifferingSetting> differences(const std::string& ours, const std::string& theirs) {
    constexpr const char* nothing = "nothing";
    std::map<std::string, std::string> left;
    for (const Said& said : read(theirs)) left[said.key] = said.value;
    std::vector<DifferingSetting> all;
    for (const Said& said : read(ours)) {
        const auto found = left.find(said.key);
        const std::string other = found == left.end() ? nothing : found->second;
        if (other != said.value) all.push_back({said, {said.key, other}});
        if (found != left.end()) left.erase(found);
    }
    for (const auto& [key, value] : left) all.push_back({{key, nothing}, {key, value}});
    return all;
}

std::string text_of(const std::vector<Said>& named, std::size_t more) {
    std::string text;
    for (const Said& said : named) {
        if (!text.empty()) text += between;
        text += cut(said.key, key_bytes_max).append(colon) + cut(said.value, value_bytes_max);
    }
    if (more > 0) text += fmt::format("{}and {} more", between, more);
    return text;
}

std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(between, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + between.size();
    }
    return parts;
}

}  // namespace

bool settings_text_holds(const Hello& hello) {
    return !hello.settings_text.empty() && sha256(hello.settings_text) == hello.training_digest;
}

std::vector<std::string> differing_settings(const std::string& ours, const std::string& theirs) {
    std::vector<std::string> keys;
    for (const DifferingSetting& it : differences(ours, theirs)) keys.push_back(it.here.key);
    return keys;
}

std::optional<Reject> reject_for_settings(const std::string& ours, const std::string& theirs) {
    const std::vector<DifferingSetting> all = differences(ours, theirs);
    if (all.empty()) return std::nullopt;
    std::vector<Said> here, there;
    for (std::size_t k = 0; k < std::min(all.size(), keys_named); ++k) {
        here.push_back(all[k].here);
        there.push_back(all[k].there);
    }
    const std::size_t more = all.size() - here.size();
    return Reject{"training_digest", text_of(here, more), text_of(there, more)};
}

std::optional<std::string> settings_reject_text(const std::string& here, const std::string& there,
                                                const std::string& other) {
    const std::vector<std::string> own = parts_of(here);
    const std::vector<std::string> others = parts_of(there);
    if (own.size() != others.size() || own.front().find(colon) == std::string::npos)
        return std::nullopt;
    std::string text;
    for (std::size_t k = 0; k < own.size(); ++k) {
        if (k > 0) text += between;
        const std::size_t key_end = own[k].find(colon);
        if (key_end == std::string::npos) {
            text += own[k];
            continue;
        }
        const std::string key = own[k].substr(0, key_end + colon.size());
        if (!others[k].starts_with(key)) return std::nullopt;
        text += fmt::format("{} here, {} {}", own[k], others[k].substr(key.size()), other);
    }
    return text;
}

}  // namespace ako
