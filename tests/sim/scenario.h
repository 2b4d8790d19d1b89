// A scenario: what one seed draws. Everything about a run of the simulator follows from the seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
};

struct Cut {
    PeerSet one_side = 0;
    Time at{0};
    Time until{0};
};

struct Scenario {
    std::uint64_t seed = 0;
    std::size_t element_count = 64;
    std::size_t block_elements = 4;
    Rule rule = Rule::anchored;
    bool nesterov = false;
    double rounds = 40;  ///< of each peer, about: the sample budget
    std::vector<PeerPlan> peers;
    std::vector<Cut> cuts;
    bool cut_at_finish = false;  ///< a cut begins when the first peer has stopped
    Time finish_cut_for{0};
    PeerSet finish_cut_side = 0;
    bool kill_at_finish = false;  ///< a peer dies during the final exchange
    PeerIndex finish_victim = 0;
    Time finish_kill_after{0};
    bool cut_at_accept =
        false;  ///< who first accepts a cut is cut off from all before it can say so
    Time accept_cut_for{0};
    bool kill_at_decision = false;  ///< who first knows the decision dies before it can say so
    double bytes_per_second = 1e6;
    Time delay = ms(1);
    std::optional<LinkLimit> slow_link;  ///< from, to; `mbit`
    double loss = 0;
    double reorder = 0;
    bool rates_change = false;         ///< of every link, all the time, so that P changes at random
    std::size_t pool_bytes = 1 << 20;  ///< of ingress; small ones make receivers stop reading
    std::size_t payload_blocks = 1;    ///< of one frame at most
    unsigned staleness_rounds_max = 0;  ///< 0: no bound
    bool bounded = false;  ///< no faults: nobody runs out of patience, and the bound holds
    bool steady = false;   ///< no faults, and links that carry 1/P per round: I4 is checked

    static Scenario from_seed(std::uint64_t seed);
    /// One line for people.
    std::string text() const;
};

}  // namespace ako::sim
