#include "src/config/consistency.h"

#include <fmt/format.h>

#include "src/config/nearest_word.h"

namespace ako {

namespace {

constexpr const char* consistency_path = "exchange.consistency";
constexpr const char* consistency_expected = "bsp, async or {ssp: a whole number of rounds}";
constexpr std::uint64_t gap_limit = 1'000'000;

std::optional<unsigned> read_consistency(const ConfigValue& value) {
    if (value.kind == ConfigValue::Kind::map && value.entries.size() == 1 &&
        value.entries.front().key == "ssp") {
        const std::uint64_t gap =
            read_whole(value.entries.front().value, consistency_path, consistency_expected);
        if (gap > gap_limit)
            refuse(value.where, consistency_path, consistency_expected, fmt::to_string(gap));
        return static_cast<unsigned>(gap);
    }
    if (value.kind == ConfigValue::Kind::scalar && value.text == "bsp") return 0;
    if (value.kind == ConfigValue::Kind::scalar && value.text == "async") return std::nullopt;
    refuse(value.where, consistency_path, consistency_expected, value.description(),
           value.text == "ssp" ? "say by how many rounds: {ssp: 3}"
                               : did_you_mean(value.text, {"bsp", "async"}));
}

}  // namespace

Field consistency_field() {
    const auto read = [](const ConfigValue& value, Settings& settings) {
        settings.exchange.server.clock_gap_max = read_consistency(value);
    };
    const auto write = [](const Settings& settings) {
        const std::optional<unsigned>& gap = settings.exchange.server.clock_gap_max;
        if (!gap) return std::string("async");
        return *gap == 0 ? std::string("bsp") : fmt::format("{{ssp: {}}}", *gap);
    };
    return {consistency_path, Scope::shared, consistency_expected, read, write};
}

}  // namespace ako
