// Which samples of a training set are used, and for what: `data.validation` keeps some back, which
// take the place of the test set, and of the others `data.subset` uses a part. Both choose
// each sample by its place in the set alone, as if by chance: whatever the order of the classes,
// the set is cut fairly, and everybody cuts it alike. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "models/dataset.h"
#include "models/model_settings.h"

namespace ako {

/// Is what is used for this part other than what its files hold?
bool is_cut(const DataSettings& settings, DataPart part);

/// Of so many samples of the training set those that this part uses, in rising order.
std::vector<std::size_t> places_of(const DataSettings& settings, DataPart part, std::size_t count);

/// The samples at these places, in rising order, alone.
void keep_places(const std::vector<std::size_t>& places, Images& images, Labels& labels);

}  // namespace ako
