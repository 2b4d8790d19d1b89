// A scenario: what one seed draws. Everything about a run of the simulator follows from the seed.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "ako/frame.h"
#include "ako/settings.h"
#include "tests/sim/world.h"

namespace ako::sim {

struct PeerPlan {
    Time round_time = ms(10);
    Time clock_offset{0};
    unsigned partitions = 0;  ///< fixed P; 0 = auto
    Time starts_at{0};
    std::optional<Time> killed_at;
    bool killed_silently = false;
    std::optional<Time> hangs_at;  ///< its compute thread stands still for `hangs_for`
    Time hangs_for{0};
    std::optional<Time> paused_at;  ///< the whole process stands still for `paused_for`
    Time paused_for{0};
    bool clock_stops = false;  ///< while it does, as in suspend
    bool hurried = false;      ///< does not wait for the lost at the end
};

struct Cut {
    PeerSet one_side = 0;
    Time at{0};
    Time until{0};
};

/// Nothing arrives from one peer at another, while the other direction works.
struct Silence {
    PeerIndex from = 0;
    PeerIndex to = 0;
    Time at{0};
    Time until{0};
};

/// The process of a peer dies, and another begins under its name.
struct SecondLife {
    PeerIndex peer = 0;
    Time killed_at{0};
    Time again_after{0};  ///< more than the life time-out: the name is taken until then
};

/// Somebody wants to end before the budget is spent: the first live peer from `peer` on.
struct StopWish {
    PeerIndex peer = 0;
    Time at{0};
    StopReason reason = StopReason::requested;
};

/// What may go wrong in a scenario.
enum class Weather : std::uint8_t {
    calm,    ///< nothing
    deaths,  ///< peers die, hang and come late, but the network stands
    rough,   ///< everything
    narrow,  ///< links so slow that a block outlasts a question and a row outlasts the linger
};

struct Scenario {
    std::uint64_t seed = 0;
    Weather weather = Weather::rough;
    std::size_t element_count = 64;
    std::size_t block_elements = 4;
    Rule rule = Rule::anchored;
    bool nesterov = false;
    bool own_optimizers = false;  ///< rounds end with updates, which peers' own optimizers made
    double rounds = 40;           ///< of each peer, about: the sample budget
    double learning_rate = 0.05;
    std::vector<PeerPlan> peers;
    std::vector<Cut> cuts;
    std::vector<Silence> silences;
    std::optional<StopWish> stop_wish;
    std::optional<SecondLife> second_life;
    /// Stands still until the others have ended; nobody asks it to stop.
    std::optional<PeerIndex> straggler;
    bool cut_at_finish = false;  ///< a cut begins when the first peer has stopped
    Time finish_cut_for{0};
    PeerSet finish_cut_side = 0;
    bool reset_at_finish = false;  ///< the sessions of `finish_victim` end then, and come up again
    bool kill_at_finish = false;   ///< a peer dies during the final exchange
    PeerIndex finish_victim = 0;
    bool finish_kill_silent = false;
    Time finish_kill_after{0};
    bool cut_at_accept =
        false;  ///< who first accepts a cut is cut off from all before it can say so
    Time accept_cut_for{0};
    bool kill_at_decision = false;  ///< who first knows the decision dies before it can say so
    bool cut_at_decision = false;   ///< or is cut off from all
    Time decision_cut_for{0};
    double bytes_per_second = 1e6;
    Time delay = ms(1);
    std::optional<PeerIndex> narrow_into;  ///< only links into it have that rate, others 1e6
    std::optional<LinkLimit> slow_link;    ///< from, to; `mbit`
    double loss = 0;
    double reorder = 0;
    double flipped_bit = 0;
    double not_finite = 0;
    double damaged_header = 0;
    double linger_s = 2.5;
    Time finish_exchange = ms(500);  ///< how long the first proposer waits for rows
    unsigned heartbeat_ms = 30;
    bool rates_change = false;         ///< of every link, all the time, so that P changes at random
    std::size_t pool_bytes = 1 << 20;  ///< of ingress; small ones make receivers stop reading
    std::size_t payload_blocks = 1;    ///< of one frame at most
    std::size_t header_bytes = 64;     ///< of every frame beside its payload
    unsigned staleness_rounds_max = 0;  ///< 0: no bound

    static Scenario from_seed(std::uint64_t seed);
    /// The network does all along what it can do at its rate: nothing ends a session but a death.
    bool network_stands() const { return weather != Weather::rough; }
    bool narrow() const { return weather == Weather::narrow; }
    /// Nothing goes wrong, however slow the links are.
    bool faultless() const { return weather == Weather::calm || narrow(); }
    /// A frame of the largest payload on a usual link.
    Time frame_time() const;
    /// A whole row on a usual link, with what else it carries.
    Time row_time() const;
    Time slowest_round() const;
    /// One line for people.
    std::string text() const;
    /// Its part about cuts and the final exchange.
    void write_finish(std::ostream& out) const;
};

}  // namespace ako::sim
