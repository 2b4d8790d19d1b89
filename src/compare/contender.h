// A contender: one line of a plan's `modes`, which is a mode of exchange with the variants of it
// that are tried. The best of its variants and learning rates stands for it. Values; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ako/mode_table.h"

namespace ako {

/// One key of the cluster file and its value as YAML.
struct Assignment {
    std::string key;
    std::string value;

    bool operator==(const Assignment&) const = default;
};
using Variant = std::vector<Assignment>;

/// The name of the contender that exchanges nothing: one machine trains on all data.
inline constexpr const char* alone_name = "one machine alone";

/// The mode of this word; as if it were ako where none is called so, for whoever reads the cell's
/// cluster file refuses that.
const ModeEntry& mode_named(const std::string& word);

struct Contender {
    std::string name;
    std::string mode;   ///< of exchange.mode
    std::string where;  ///< in the plan, for complaints
    /// Every combination of the values given; one that is empty if there are none.
    std::vector<Variant> variants{{}};
    /// `best`: the parameter servers there are, by number, place and consistency.
    bool every_server = false;

    bool alone() const { return name == alone_name; }
    /// Its key in the plan.
    std::string key() const { return alone() ? "alone" : "modes." + name; }
};

/// The variants that so many machines can run.
std::vector<Variant> variants_for(const Contender& contender, std::size_t machines);

/// The value of a key in a variant; empty if it has none.
std::string value_of(const Variant& variant, const std::string& key);
/// The keys that say how many servers there are, where and who waits for whom.
const std::vector<std::string>& server_keys();
/// Completes variants by what `elsewhere` says, for dedicated_servers() and is_synchronous() look
/// at a variant alone: one of a parameter server says server_keys() first, and one of model
/// averaging says whether its learners are `auto`.
void complete_variants(Contender& contender, const Variant& elsewhere);
/// How many of the machines are parameter servers and nothing else.
std::size_t dedicated_servers(const Variant& variant);
/// Do all peers end a round together, so that the rounds to an accuracy do not depend on the rate
/// of the network?
bool is_synchronous(const std::string& word, const Variant& variant);

/// "rule plain, partitions 8"; empty for the empty variant.
std::string variant_text(const Variant& variant);

}  // namespace ako
