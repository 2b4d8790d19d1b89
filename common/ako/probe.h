// What peers say to each other while they measure the links between them, before any run
// (src/probe/link_probe.h). Values; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ako/bounds.h"
#include "ako/types.h"

namespace ako {

/// What two peers come to of the links between them. Bytes are those of payloads, which the other
/// end has taken.
struct PairFigures {
    PeerIndex asker = 0;  ///< the lower of the two
    PeerIndex asked = 0;
    /// The shortest, of a few words each way, with nothing else between the two.
    Time round_trip{};
    double there = 0;  ///< bytes per second, asker to asked, while nothing went back
    double back = 0;
    double there_both = 0;  ///< the same while both directions were in use
    double back_both = 0;

    bool operator==(const PairFigures&) const = default;

    static void fields(auto& it, auto&& each) {
        each("asker", it.asker, bound::peer);
        each("asked", it.asked, bound::peer);
        each("round_trip", it.round_trip);
        each("there", it.there, bound::not_negative);
        each("back", it.back, bound::not_negative);
        each("there_both", it.there_both, bound::not_negative);
        each("back_both", it.back_both, bound::not_negative);
    }
};

enum class ProbeKind : std::uint8_t {
    standing,  ///< where I am; repeated as the heartbeat
    ping,      ///< to be answered at once
    pong,
    begin,  ///< of the part that is named: floods go the ways that it says
    sent,   ///< all that I send in this part
    taken,  ///< so much of what you sent in this part
};
constexpr ProbeKind last(ProbeKind) { return ProbeKind::taken; }

/// Which ways floods go.
enum class ProbePart : std::uint8_t { there, back, both };
constexpr ProbePart last(ProbePart) { return ProbePart::both; }

struct Probe {
    ProbeKind kind = ProbeKind::standing;
    ProbePart part = ProbePart::there;
    std::uint32_t turn = 0;  ///< of the sender, from 1; 0: it has not met all others
    double bytes_per_s = 0;  ///< taken
    bool knows_all = false;  ///< standing: the sender has the figures of all pairs
    /// standing: those of which the sender is the asker; now and then, for they are many.
    std::vector<PairFigures> pairs = {};

    bool operator==(const Probe&) const = default;

    static void fields(auto& it, auto&& each) {
        each("kind", it.kind);
        each("part", it.part);
        each("turn", it.turn);
        each("bytes_per_s", it.bytes_per_s, bound::not_negative);
        each("knows_all", it.knows_all);
        each("pairs", it.pairs);
    }
};

}  // namespace ako
