// What the losses of a program say of it. A single one that is not a number is harmless, as of a
// step that PyTorch's GradScaler skips; many in a row are the end of the peer. Value; one thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "ako/farewell.h"
#include "ako/types.h"

namespace ako {

class LossWatch {
  public:
    /// A GradScaler skips single steps, and at first some in a row: it begins at a scale of 2^16
    /// and halves that with each.
    static constexpr std::uint64_t in_a_row_max = 20;

    /// Takes the loss of `round`; one that is not known changes nothing. False: it is not finite.
    bool take(std::optional<float> loss, Round round) {
        if (!loss) return true;
        if (std::isfinite(*loss)) {
            in_a_row_ = 0;
            return true;
        }
        if (in_a_row_++ == 0) first_ = round;
        return false;
    }

    /// How this peer ends of what it has taken; nothing: it goes on.
    std::optional<Farewell> end() const {
        if (in_a_row_ < in_a_row_max) return std::nullopt;
        return Farewell{EndCause::numbers, first_,
                        std::to_string(in_a_row_max) + " losses in a row are not finite"};
    }

  private:
    std::uint64_t in_a_row_ = 0;
    Round first_ = 0;  ///< of them
};

}  // namespace ako
