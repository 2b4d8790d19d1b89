#include "src/results/seen_data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/results/number_text.h"
#include "src/results/renamed_key.h"

namespace ako {

using nlohmann::ordered_json;

std::uint64_t seen_once(const Seen& seen) {
    return seen.passes * seen.items + seen.of_next + seen.of_after;
}

std::uint64_t seen_again(const Seen& seen, std::uint64_t samples) {
    const std::uint64_t once = seen_once(seen);
    return samples > once ? samples - once : 0;
}

std::string seen_text(const Seen& seen, std::uint64_t samples) {
    std::string text =
        seen.passes == 0
            ? fmt::format("{} of {} samples were seen", grouped(seen.of_next), grouped(seen.items))
            : fmt::format("all {} samples were seen {} time{}, {} of them once more",
                          grouped(seen.items), seen.passes, seen.passes == 1 ? "" : "s",
                          grouped(seen.of_next));
    if (const std::uint64_t again = seen_again(seen, samples); again > 0)
        text += fmt::format("; {} of the {} trained on were a repetition", grouped(again),
                            grouped(samples));
    return text;
}

ordered_json seen_json(const std::optional<Seen>& seen, std::uint64_t samples) {
    if (!seen) return nullptr;
    return {{"samples", seen->items},
            {"passes", seen->passes},
            {"of_next", seen->of_next},
            {"of_after", seen->of_after},
            {"repeated", seen_again(*seen, samples)}};
}

std::optional<Seen> seen_from(const ordered_json& json) {
    if (json.is_null()) return std::nullopt;
    return Seen{json.at(key_in(json, "samples")), json.at("passes"), json.at("of_next"),
                json.at("of_after")};
}

}  // namespace ako
