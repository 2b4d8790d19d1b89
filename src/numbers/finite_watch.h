// What a peer gives, held against the rule that all of it is finite: what is not is named, and
// nothing of this peer is sent any more. Compute thread only.
#pragma once

#include <span>
#include <string>

#include "ako/types.h"
#include "src/numbers/finite.h"

namespace ako {

class FiniteWatch {
  public:
    /// Returns false, and remembers `noun` for people, if one of these is not finite.
    bool look(std::span<const float> given, const char* noun) {
        if (all_finite(given)) return true;
        not_finite_ = noun;
        return false;
    }
    /// Was everything?
    bool good() const { return not_finite_.empty(); }
    /// For people, if not.
    std::string complaint(Round round) const {
        return not_finite_ + " of round " + std::to_string(round) +
               " is not finite: no more of it is sent";
    }

  private:
    std::string not_finite_;
};

}  // namespace ako
