// A scenario: what one seed draws. Everything about a run of the simulator follows from the seed:
// what the cluster is like, here, and what is done to it, the schedule of faults (fault.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/frame.h"
#include "tests/sim/fault.h"
#include "tests/sim/world.h"

namespace ako::sim {

struct PeerPlan {
    Time round_time = ms(10);
    Time clock_offset{0};
    unsigned partitions = 0;  ///< fixed P; 0 = auto
    Time starts_at{0};        ///< unless it comes late
};

/// What may go wrong in a scenario.
enum class Weather : std::uint8_t {
    calm,    ///< nothing
    deaths,  ///< peers die, begin anew, hang and come late, but the network stands
    rough,   ///< everything
    narrow,  ///< links so slow that a block outlasts a question and a row outlasts the linger
};

struct Scenario {
    std::uint64_t seed = 0;
    Weather weather = Weather::calm;  ///< what the schedule was drawn for
    std::size_t element_count = 64;
    std::size_t block_elements = 4;
    std::size_t layers = 1;  ///< of increasing size, for which a round takes equally long
    Rule rule = Rule::anchored;
    bool nesterov = false;
    bool adaptive = false;  ///< Precision::adaptive
    /// How long an answer is waited for follows from what was seen; else it is want_timeout.
    bool observes_answers = true;
    bool own_optimizers = false;  ///< rounds end with updates, which peers' own optimizers made
    double rounds = 40;           ///< of each peer, about: the sample budget
    double learning_rate = 0.05;
    std::vector<PeerPlan> peers;
    double bytes_per_second = 1e6;
    Time delay = ms(1);
    std::optional<PeerIndex> narrow_into;  ///< only links into it have that rate, others 1e6
    double reorder = 0;
    double start_wait_s = 0.4;  ///< 0: nobody waits for anybody
    double linger_s = 2.5;
    Time finish_exchange = ms(500);  ///< how long the first proposer waits for rows
    unsigned heartbeat_ms = 30;
    std::size_t payload_blocks = 1;     ///< of one frame at most
    std::size_t header_bytes = 64;      ///< of every frame beside its payload
    std::optional<unsigned> staleness_rounds_max = 0;  ///< 0: no bound; nothing: chosen
    Schedule faults;
    bool shows_logs = false;  ///< what its peers log is printed

    static Scenario from_seed(std::uint64_t seed);

    std::vector<Range> layer_ranges() const;

    /// The network does all along what it can do at its rate: nothing ends a session but a death.
    bool network_stands() const;
    bool narrow() const { return weather == Weather::narrow; }
    /// Nothing goes wrong, however slow the links are.
    bool faultless() const;
    bool has(FaultKind kind) const;
    /// Does another process begin under the name of one that was there?
    bool begins_anew() const;
    /// Sessions end at the finish, and come up again.
    bool resets() const;
    /// The amount of the lasting fault of this kind, or what holds without it.
    double amount(FaultKind kind, double otherwise) const;
    bool hurried(PeerIndex peer) const;
    Time starts_at(PeerIndex peer) const;

    /// A frame of the largest payload on a usual link.
    Time frame_time() const;
    /// A whole row on a usual link, with what else it carries.
    Time row_time() const;
    Time slowest_round() const;
    /// For so long an answer is waited for, on usual links at most.
    Time answer_time() const;
    /// One line for people.
    std::string text() const;
};

}  // namespace ako::sim
