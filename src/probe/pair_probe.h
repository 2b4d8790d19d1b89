// One turn of two peers that measure the links between them: words to and fro for the round trip,
// then a flood there, one back, and both at once. Who asks says what begins; both ends run this.
// What the partner says out of place changes nothing. Pure, with explicit time; network thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "ako/probe.h"
#include "src/probe/flood_meter.h"

namespace ako {

struct ProbeTimes {
    Time flood = std::chrono::seconds(2);
    Time warm_up = std::chrono::milliseconds(500);  ///< of each, see FloodMeter
    Time meet = std::chrono::seconds(60);           ///< until all peers have come
    Time patience = std::chrono::seconds(20);       ///< in a pair in which nothing moves
    Time absence = std::chrono::seconds(5);         ///< of a session that may come up again
};

class PairProbe {
  public:
    /// Words whose way there and back is timed.
    static constexpr int pings = 20;

    PairProbe(PeerIndex self, PeerIndex partner, std::uint32_t turn, const ProbeTimes& times);

    PeerIndex partner() const { return self_ == figures_.asker ? figures_.asked : figures_.asker; }
    bool asks() const { return self_ == figures_.asker; }
    /// Who asks, once both are in this turn; later calls change nothing.
    void begin();
    /// Something has been said: without the session it was said in there is nothing to go on from.
    bool begun() const { return begun_; }

    /// What the partner says in this turn, but for where it stands.
    void take(const Probe& probe, Time now);
    void take_flood(std::size_t bytes, Time at) { meter_.take(bytes, at); }

    /// What is to be said next.
    std::optional<Probe> next_word(Time now);
    bool has_word(Time now) const { return !words_.empty() || flood_is_over(now); }
    /// A flood is under way from here.
    bool floods(Time now) const { return flood_ends_ && now < *flood_ends_; }

    /// All is measured and said at this end.
    bool over() const { return over_ && words_.empty(); }
    /// Of who asks, when it is over.
    const PairFigures& figures() const { return figures_; }

  private:
    bool flood_is_over(Time now) const { return flood_ends_ && now >= *flood_ends_; }
    void say(ProbeKind kind, double bytes_per_s = 0);
    void ping();
    void answer_ping();
    void pong_came(Time now);
    void begin_part(ProbePart part, Time now);
    /// Does this end send in the part? Likewise the other.
    bool sends() const { return part_ == ProbePart::both || (part_ == ProbePart::there) == asks(); }
    bool receives() const {
        return part_ == ProbePart::both || (part_ == ProbePart::there) != asks();
    }
    void look_whether_measured(Time now);

    const PeerIndex self_;
    const std::uint32_t turn_;
    const ProbeTimes times_;
    PairFigures figures_;
    std::deque<Probe> words_;
    bool begun_ = false;
    int pinged_ = 0;  ///< of who asks: how often; of the other: answered
    std::optional<Time> pinged_at_;  ///< while no pong has come
    std::optional<ProbePart> part_;  ///< once it has begun
    FloodMeter meter_;
    std::optional<Time> flood_ends_;
    std::optional<double> own_rate_;    ///< of this end's flood, as the other took it; bytes/s
    std::optional<double> other_rate_;  ///< and of the other's
    bool over_ = false;
};

}  // namespace ako
