// How the data of two peers differ, from what their Hellos say of them. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>

#include "ako/data_description.h"
#include "ako/frame.h"

namespace ako {

/// The first thing that differs, with both values: field "data.train_labels", expected "3,000
/// labels, first at item 0: 4", got the same with the value of `theirs`. What one of them does not
/// say is not compared, but for a program's digest.
std::optional<Reject> reject_for_data(const DataDescription& ours, const DataDescription& theirs);

/// Such a Reject for people: "other data, all peers need the same (data.train_labels differ:
/// 3,000 labels, first at item 0: 4 here, 5 at b)". `ours`: it is this peer that refuses. `other`
/// is "at b". Nothing if it is of another field.
std::optional<std::string> data_reject_text(const Reject& reject, bool ours,
                                            const std::string& other);

}  // namespace ako
