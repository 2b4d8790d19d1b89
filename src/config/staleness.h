// `exchange.staleness_rounds_max`: how many rounds of the others a round may lack, as a number or
// as a word. Any thread.
#pragma once

#include "src/config/fields.h"

namespace ako {

/// auto, none, or a whole number of rounds from 1 on.
Field staleness_field();

}  // namespace ako
