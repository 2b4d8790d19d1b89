// `exchange.consistency`: how far apart the workers of a parameter server may be, as a word or as
// `{ssp: s}`. Any thread.
#pragma once

#include "src/config/fields.h"

namespace ako {

/// bsp, async, or {ssp: s} with s rounds; `{ssp: 0}` is bsp.
Field consistency_field();

}  // namespace ako
