// See staleness.h.
#include "src/config/staleness.h"

#include <fmt/format.h>

#include "ako/status.h"
#include "src/config/nearest_word.h"

namespace ako {

namespace {

constexpr const char* staleness_path = "exchange.staleness_rounds_max";
constexpr const char* staleness_expected = "auto, none or a whole number from 1 to 1000000";

std::optional<unsigned> read_staleness(const ConfigValue& value) {
    const bool is_word = value.kind == ConfigValue::Kind::scalar;
    if (is_word && value.text == "auto") return std::nullopt;
    if (is_word && value.text == "none") return 0;
    if (is_word && !did_you_mean(value.text, {"auto", "none"}).empty())
        refuse(value.where, staleness_path, staleness_expected, value.description(),
               did_you_mean(value.text, {"auto", "none"}));
    const std::uint64_t rounds = read_whole(value, staleness_path, staleness_expected);
    if (rounds < 1 || rounds > Waits::bound_max)
        refuse(value.where, staleness_path, staleness_expected, value.description());
    return static_cast<unsigned>(rounds);
}

}  // namespace

Field staleness_field() {
    const auto read = [](const ConfigValue& value, Settings& settings) {
        settings.exchange.staleness_rounds_max = read_staleness(value);
    };
    const auto write = [](const Settings& settings) {
        const std::optional<unsigned>& rounds = settings.exchange.staleness_rounds_max;
        if (!rounds) return std::string("auto");
        return *rounds == 0 ? std::string("none") : fmt::to_string(*rounds);
    };
    return {staleness_path, Scope::shared, staleness_expected, read, write};
}

}  // namespace ako
