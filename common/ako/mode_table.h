// The table of modes: whatever the rest of the program asks about a mode, so that nobody compares
// modes. How to add one: its word in `Mode` (algorithm_settings.h), an entry here, and its halves
// with their costs in src/modes (make_exchange.cpp). Values; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "ako/algorithm_settings.h"

namespace ako {

/// What a peer gives to the others: gradients, of which the step is made where they are summed up;
/// or updates, which its own optimizer has made of them.
enum class Gives { nothing, gradients, updates };

/// Peers that may train beyond those that are there at the beginning.
enum class Arrivals {
    nobody,       ///< a peer that is lost, or comes late, stays out, and the run ends with a loss
    into_rows,    ///< it takes all rows from the others; whoever is there goes on meanwhile
    into_epochs,  ///< the members agree on who is in, and hand over parameters
};

/// What peers can go on from after a run has ended.
enum class ResumesFrom {
    nothing,
    own,            ///< each from its own
    own_or_others,  ///< each from its own, or without one from what the others have
    same_round,     ///< all from those of one round, for they wait for each other
};

/// What the learners of a peer are corrected towards.
enum class LearnersMeet {
    nowhere,        ///< the mode has no learners
    at_peer,        ///< their own average
    with_exchange,  ///< their own average, which the exchange moves as well
    at_all_peers,   ///< the average of all peers' learners; there is always one
};

/// A value that a mode has no form of: the key must be one of `allowed` ("constant or steps").
struct Exclusion {
    std::string_view key;
    std::string_view allowed;
    std::string_view why;  ///< for people
};

/// All that is known of a mode without a peer of it.
struct ModeEntry {
    Mode mode = Mode::ako;
    std::string_view word;           ///< as `exchange.mode` has it
    std::string_view name;           ///< for people
    std::string_view sentence = "";  ///< what it does, for people; empty: the word says it
    std::string_view with = "";      ///< the key that makes it special; empty: its word alone
    /// Is it this entry, of those of its mode? The last of a mode holds for the rest.
    bool (*holds)(const ExchangeSettings&) = [](const ExchangeSettings&) { return true; };

    Gives gives = Gives::gradients;
    Arrivals arrivals = Arrivals::nobody;
    ResumesFrom resumes_from = ResumesFrom::same_round;
    std::string_view why_no_checkpoints = "";
    std::string_view why_same_peers = "";  ///< why others cannot go on from them; empty: they can
    LearnersMeet learners = LearnersMeet::nowhere;
    /// A round, or every so manieth, waits for the slowest peer.
    bool waits = true;
    bool has_servers = false;    ///< some peers keep the parameters (`exchange.servers`)
    bool lends_initial = false;  ///< the lowest peer's initial parameters can be everybody's
    bool shards_follow = false;  ///< `data.sharding: elastic` has a meaning
    bool every_round = true;     ///< peers exchange in each; else once in `exchange.local_rounds`
    bool runs_ahead = false;     ///< a round computes at parameters that lack the newest step
    /// A peer not heard from for so long is lost, unless the file says otherwise. Where nobody
    /// waits for it a silent peer costs the others little, and so it does where its loss is soon
    /// made good. Where its loss ends the run a pause is waited for: a peer that died is known at
    /// once by its closed connection, and the transport names a silent one within seconds.
    unsigned life_timeout_ms = 30'000;
    std::span<const Exclusion> exclusions = {};

    /// Does each peer train by itself, and hear of nobody?
    bool is_alone() const { return gives == Gives::nothing; }
    /// Do the others go on without a peer that is lost or leaves?
    bool goes_on() const { return arrivals != Arrivals::nobody; }
    /// Do members go on without those who are lost, and take others in?
    bool is_elastic() const { return arrivals == Arrivals::into_epochs; }
    bool keeps_checkpoints() const { return resumes_from != ResumesFrom::nothing; }
    /// Does a run that is made once more come to the same bits?
    bool repeats() const { return goes_on_together() || resumes_from == ResumesFrom::own; }
    /// Must all go on from checkpoints of the same round?
    bool goes_on_together() const { return resumes_from == ResumesFrom::same_round; }
};

namespace mode_table {

/// Where nobody waits for a silent peer it costs the others little to take it for lost too soon.
inline constexpr unsigned soon_lost_ms = 2000;

/// The entry that `change` makes of another one.
template <class Change>
constexpr ModeEntry changed(ModeEntry entry, Change change) {
    change(entry);
    return entry;
}

inline constexpr Exclusion learners_of_gradients = {
    "training.learners", "1",
    "it exchanges gradients, and learners end a round with an update: use sma, ako or local"};
inline constexpr Exclusion lars_by_bucket = {
    "training.optimizer", "sgd", "its steps are made bucket by bucket, and not by whole layers"};

inline constexpr ModeEntry ako = {.mode = Mode::ako,
                                  .word = "ako",
                                  .name = "ako",
                                  .gives = Gives::updates,
                                  .arrivals = Arrivals::into_rows,
                                  .resumes_from = ResumesFrom::own_or_others,
                                  .why_same_peers = "it holds the rows of its own peers",
                                  .learners = LearnersMeet::with_exchange,
                                  .waits = false,
                                  .lends_initial = true,
                                  .shards_follow = true,
                                  .life_timeout_ms = soon_lost_ms};

inline constexpr std::array ring_exclusions = {learners_of_gradients};
inline constexpr ModeEntry ring = {.mode = Mode::ring,
                                   .word = "ring",
                                   .name = "ring",
                                   .sentence = "all-reduce of every gradient",
                                   .exclusions = ring_exclusions};

inline constexpr std::array ring_ahead_exclusions = {learners_of_gradients, lars_by_bucket};
inline constexpr ModeEntry ring_ahead = changed(ring, [](ModeEntry& entry) {
    entry.name = "ring a round ahead";
    entry.with = "exchange.rounds_ahead: 1";
    entry.holds = [](const ExchangeSettings& exchange) { return exchange.rounds_ahead > 0; };
    entry.runs_ahead = true;
    entry.exclusions = ring_ahead_exclusions;
});

inline constexpr std::array elastic_exclusions = {
    learners_of_gradients, lars_by_bucket,
    Exclusion{"training.batch.schedule.kind", "constant or steps",
              "what one member wishes does not reach a newcomer"},
    Exclusion{"exchange.all_reduce", "ring",
              "a butterfly has no form that goes on without who is lost"},
    Exclusion{"exchange.rounds_ahead", "0",
              "what is made again after a loss is one round, and not two"}};
inline constexpr ModeEntry elastic_ring = changed(ring, [](ModeEntry& entry) {
    entry.name = "elastic ring";
    entry.with = "exchange.elastic: true";
    entry.holds = [](const ExchangeSettings& exchange) { return exchange.elastic; };
    entry.arrivals = Arrivals::into_epochs;
    entry.resumes_from = ResumesFrom::nothing;
    entry.why_no_checkpoints = "in an elastic ring";
    entry.life_timeout_ms = soon_lost_ms;
    entry.exclusions = elastic_exclusions;
});

inline constexpr std::array server_exclusions = {
    learners_of_gradients,
    Exclusion{"training.batch.schedule.kind", "constant",
              "its servers make the steps, and hear of no batch that grows"},
    Exclusion{"training.optimizer", "sgd",
              "a server has pieces of layers, and their sizes are not that of the layer"}};
inline constexpr ModeEntry server = {.mode = Mode::parameter_server,
                                     .word = "parameter-server",
                                     .name = "parameter server",
                                     .why_same_peers =
                                         "each server keeps the momentum of its own part, and how "
                                         "many there are decides on the parts",
                                     .has_servers = true,
                                     .exclusions = server_exclusions};
/// Workers are at different rounds when their servers are looked at.
inline constexpr ModeEntry server_apart = changed(server, [](ModeEntry& entry) {
    entry.name = "parameter server whose workers are rounds apart";
    entry.with = "exchange.consistency: ssp";
    entry.holds = [](const ExchangeSettings& exchange) {
        return exchange.server.clock_gap_max != 0U;
    };
    entry.resumes_from = ResumesFrom::nothing;
    entry.why_no_checkpoints = "with exchange.consistency: ssp or async";
});
inline constexpr ModeEntry server_async = changed(server_apart, [](ModeEntry& entry) {
    entry.name = "parameter server that nobody waits for";
    entry.with = "exchange.consistency: async";
    entry.holds = [](const ExchangeSettings& exchange) { return !exchange.server.clock_gap_max; };
    entry.life_timeout_ms = soon_lost_ms;
});
/// Nobody tells a server that is no worker of rounds.
inline constexpr ModeEntry server_dedicated = changed(server, [](ModeEntry& entry) {
    entry.name = "dedicated parameter server";
    entry.with = "exchange.placement: dedicated";
    entry.holds = [](const ExchangeSettings& exchange) {
        return exchange.server.placement == Placement::dedicated;
    };
    entry.resumes_from = ResumesFrom::nothing;
    entry.why_no_checkpoints = "with exchange.placement: dedicated";
});

inline constexpr std::array local_sgd_exclusions = {
    Exclusion{"training.learners", "1",
              "its local rounds are those of one optimizer for each peer: use sma, ako or local"}};
inline constexpr ModeEntry local_sgd = {.mode = Mode::local_sgd,
                                        .word = "local-sgd",
                                        .name = "local SGD",
                                        .gives = Gives::updates,
                                        .every_round = false,
                                        .exclusions = local_sgd_exclusions};

inline constexpr std::string_view of_learners =
    "each learner has a small batch of its own, training.batch.local";
inline constexpr std::array sma_exclusions = {
    Exclusion{"training.optimizer", "sgd", of_learners},
    Exclusion{"training.batch.global_target", "none", of_learners},
    Exclusion{"training.batch.schedule.kind", "constant", of_learners}};
inline constexpr ModeEntry sma = {
    .mode = Mode::sma,
    .word = "sma",
    .name = "synchronous model averaging",
    .sentence = "averages the replicas of all peers' learners every round",
    .gives = Gives::updates,
    .learners = LearnersMeet::at_all_peers,
    .exclusions = sma_exclusions};

inline constexpr ModeEntry local = {.mode = Mode::local,
                                    .word = "local",
                                    .name = "local",
                                    .sentence = "no exchange, to see what computing alone costs",
                                    .gives = Gives::nothing,
                                    .resumes_from = ResumesFrom::own,
                                    .why_same_peers = "each peer trains by itself",
                                    .learners = LearnersMeet::at_peer,
                                    .waits = false,
                                    .lends_initial = true,
                                    .life_timeout_ms = soon_lost_ms};

/// In the order in which people are shown them; the plain entry of a mode after its special ones.
inline constexpr std::array entries = {
    ako,    elastic_ring, ring_ahead, ring, server_async, server_apart, server_dedicated,
    server, local_sgd,    sma,        local};

}  // namespace mode_table

/// The entry of these settings.
constexpr const ModeEntry& entry_of(const ExchangeSettings& exchange) {
    for (const ModeEntry& entry : mode_table::entries)
        if (entry.mode == exchange.mode && entry.holds(exchange)) return entry;
    return mode_table::entries.front();  // no mode is without an entry: a test asks each
}

/// The entry of this word with the other keys at their defaults; null: no mode is called so.
constexpr const ModeEntry* entry_named(std::string_view word) {
    for (const ModeEntry& entry : mode_table::entries) {
        ExchangeSettings exchange;
        exchange.mode = entry.mode;
        if (entry.word == word && entry.holds(exchange)) return &entry;
    }
    return nullptr;
}

/// Do learners make the steps, so that a round ends with an update? Else the mode does, of a
/// gradient at the replica.
inline bool has_learners(const TrainingSettings& training, const ExchangeSettings& exchange) {
    return entry_of(exchange).learners == LearnersMeet::at_all_peers || training.learners != 1;
}

}  // namespace ako
