#include "models/residual.h"

#include <utility>

#include "ako/assert.h"
#include "models/eigen_maps.h"
#include "models/room.h"

namespace ako {

Residual::Residual(Shape input, LayerChain body, std::optional<LayerChain> shortcut)
    : input_(input), body_(std::move(body)), shortcut_(std::move(shortcut)) {
    AKO_ASSERT(body_.output_shape() == (shortcut_ ? shortcut_->output_shape() : input_),
               "a sum of two shapes");
}

Range Residual::parameters() const {
    const Range body = body_.parameters();
    if (!shortcut_) return body;
    const Range shortcut = shortcut_->parameters();
    if (body.count == 0) return shortcut;
    return {body.first, body.count + shortcut.count};
}

std::size_t Residual::scratch_bytes(std::size_t threads) const {
    return body_.scratch_bytes(threads) + (shortcut_ ? shortcut_->scratch_bytes(threads) : 0);
}

HeldNumbers Residual::held_per_image() const {
    const std::size_t output = output_shape().element_count();
    HeldNumbers sum = body_.held_per_image();
    sum.always += output;
    if (!shortcut_) return sum;
    const HeldNumbers shortcut = shortcut_->held_per_image();
    sum.always += shortcut.always + output;
    sum.backward += shortcut.backward + input_.element_count();
    return sum;
}

void Residual::forward(const ForwardPass& pass) {
    ForwardPass way = pass;
    way.output = room_of(body_output_, pass.output.size());
    body_.forward(way);
    if (shortcut_) {
        way.output = room_of(shortcut_output_, pass.output.size());
        shortcut_->forward(way);
    }
    const auto added = shortcut_ ? std::span<const float>(way.output) : pass.input;
    as_array(pass.output) = as_array(room_of(body_output_, pass.output.size())) + as_array(added);
}

void Residual::backward(const BackwardPass& pass) {
    BackwardPass way = pass;
    const bool wanted = !pass.input_gradient.empty();
    if (shortcut_) {
        way.output = room_of(shortcut_output_, pass.output.size());
        if (wanted) way.input_gradient = room_of(input_gradient_, pass.input.size());
        shortcut_->backward(way);
    }
    const auto of_shortcut =
        shortcut_ ? std::span<const float>(way.input_gradient) : pass.output_gradient;
    way.output = room_of(body_output_, pass.output.size());
    way.input_gradient = pass.input_gradient;
    body_.backward(way);
    if (wanted) as_array(pass.input_gradient) += as_array(of_shortcut);
}

}  // namespace ako
