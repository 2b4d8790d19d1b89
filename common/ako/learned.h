// What one round taught this peer, as the caller of an exchange hands it over. Plain views of the
// caller's memory; Exchange says how long that must not change.
#pragma once

#include <span>
#include <variant>

namespace ako {

/// The gradient of the loss at the replica, [parameter_count]; the mode's optimizer makes the step.
struct Gradient {
    std::span<const float> values;
};

/// What the caller's own optimizer made of it, [parameter_count]: the parameters after its step
/// less the replica.
struct Update {
    std::span<const float> values;
};

using Learned = std::variant<Gradient, Update>;

inline std::span<const float> values_of(const Learned& learned) {
    return std::visit([](const auto& given) { return given.values; }, learned);
}

/// What a mode says, for people, when it refuses an update.
inline constexpr const char* exchanges_gradients =
    "this mode exchanges gradients and makes the step itself: end the round with a gradient, or "
    "choose the mode ako, local-sgd or local";

/// For messages.
inline const char* noun_of(const Learned& learned) {
    return std::holds_alternative<Gradient>(learned) ? "gradient" : "update";
}

}  // namespace ako
