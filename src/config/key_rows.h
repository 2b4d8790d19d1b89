// What the files with the rows of the table of keys share. How to add a key: its member in
// common/ako/algorithm_settings.h, models/model_settings.h or cluster_settings.h, and a row in the
// *_keys.cpp of its group; `ako keys`, experiments/example.yaml (`ako keys --example`), completion
// and the run page follow.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "src/config/field_types.h"
#include "src/config/fields.h"

namespace ako {

// A member of Settings, reachable from a const and from a mutable one.
// NOLINTBEGIN(bugprone-macro-parentheses): a member's name takes none
#define AKO_MEMBER(member) \
    [](auto& settings) -> auto& { return settings.member; }
// NOLINTEND(bugprone-macro-parentheses)

inline constexpr auto shared = Scope::shared;

void add_model_keys(std::vector<Field>& rows);
void add_data_keys(std::vector<Field>& rows);
void add_training_keys(std::vector<Field>& rows);
/// Read after the peers, which link limits name.
void add_exchange_keys(std::vector<Field>& rows);

}  // namespace ako
