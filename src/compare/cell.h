// A cell: one run of a comparison, as everything that distinguishes it from the others. Values; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/compare/contender.h"
#include "src/compare/plan.h"
#include "src/compare/rate.h"

namespace ako {

/// What a contender runs with; the best of several stands for it.
struct Candidate {
    std::string contender;
    std::string mode;
    Variant variant;
    double learning_rate = 0;

    /// One machine that trains by itself.
    bool alone() const { return contender == alone_name; }
    bool synchronous() const { return is_synchronous(mode, variant); }
    /// "ako, rule plain, learning rate 0.05".
    std::string text() const;
    bool operator==(const Candidate&) const = default;
};

/// What all contenders have in common in one comparison; a plan with lists of these is several.
struct Setting {
    std::size_t machines = 0;
    std::size_t batch_per_peer = 0;

    /// "4 machines, batch 64".
    std::string text() const;
    bool operator==(const Setting&) const = default;
};

struct Cell {
    /// What it is run for: `timing` only measures how long a round takes.
    enum class Part { screening, headline, timing };

    Candidate candidate;
    Setting setting;
    Rate rate;
    std::uint64_t seed = 0;
    double epochs = 0;
    double evaluate_every = 0;  ///< epochs; 0: only at the end
    Part part = Part::headline;
    std::optional<PeerLoss> loss = {};

    /// "ring, learning rate 0.05, 4 machines, batch 64, 50 Mbit/s, seed 1, 4 epochs".
    std::string text() const;
    /// Letters of every file system. `settings_text` is all that the run depends on beside the
    /// cell, so that a changed cluster file has other folders.
    std::string folder_name(const std::string& settings_text) const;
    /// What `--set` would be given for it, but for the peers' addresses.
    std::vector<std::string> overrides(const Plan& plan) const;
};

/// The number that a candidate runs with under a key of the cluster file: its variant's, else the
/// plan's, else the cluster file's, which is `otherwise`.
double number_of(const Plan& plan, const Variant& variant, const std::string& key,
                 double otherwise);

/// What a candidate's cells run with in this setting: one that is alone is one machine.
Setting setting_of(const Candidate& candidate, const Setting& setting);
/// The same for the rate of the network: one that is alone sends nothing, and ran without a limit.
Rate rate_of(const Candidate& candidate, const Rate& rate);

/// All settings of the plan.
std::vector<Setting> settings_of(const Plan& plan);
/// Every variant with every learning rate.
std::vector<Candidate> candidates_of(const Plan& plan, const Contender& contender,
                                     const Setting& setting);

/// "a", "b", .., "z", "p27", ..
std::string peer_name(std::size_t machine);

}  // namespace ako
