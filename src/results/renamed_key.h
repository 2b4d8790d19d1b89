// A key of JSON that has been renamed: what was counted as "images" is "samples" now, and what an
// older program wrote is still read. A pure function; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ako {

/// Where the value of `key` is in this object: at "images_per_s" of "samples_per_s", if that alone
/// is there; else at `key`.
inline std::string key_in(const nlohmann::ordered_json& json, const std::string& key) {
    constexpr std::string_view now = "samples", before = "images";
    const std::size_t place = key.find(now);
    if (place == std::string::npos || json.contains(key)) return key;
    std::string old_key = key;
    old_key.replace(place, now.size(), before);
    return json.contains(old_key) ? old_key : key;
}

}  // namespace ako
