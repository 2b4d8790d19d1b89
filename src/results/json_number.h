// A number that may be missing, in JSON: null then. Pure functions; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace ako {

inline nlohmann::ordered_json or_null(const std::optional<double>& number) {
    return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

inline std::optional<double> optional_number(const nlohmann::ordered_json& json) {
    return json.is_null() ? std::nullopt : std::optional<double>(json.get<double>());
}

}  // namespace ako
