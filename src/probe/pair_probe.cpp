// See pair_probe.h.
#include "src/probe/pair_probe.h"

#include <algorithm>
#include <utility>

namespace ako {

PairProbe::PairProbe(PeerIndex self, PeerIndex partner, std::uint32_t turn, const ProbeTimes& times)
    : self_(self), turn_(turn), times_(times), meter_(times.warm_up) {
    figures_.asker = std::min(self, partner);
    figures_.asked = std::max(self, partner);
}

void PairProbe::say(ProbeKind kind, double bytes_per_s) {
    Probe probe;
    probe.kind = kind;
    probe.part = part_.value_or(ProbePart::there);
    probe.turn = turn_;
    probe.bytes_per_s = bytes_per_s;
    words_.push_back(probe);
}

void PairProbe::take(const Probe& probe, Time now) {
    begun_ = true;
    const bool of_part = part_ == probe.part;
    switch (probe.kind) {
        case ProbeKind::standing:
            return;
        case ProbeKind::ping:
            return answer_ping();
        case ProbeKind::pong:
            return pong_came(now);
        case ProbeKind::begin:
            if (!asks() && (!part_ || probe.part > *part_)) begin_part(probe.part, now);
            return;
        case ProbeKind::sent:
            if (!of_part || !receives() || other_rate_) return;
            other_rate_ = meter_.bytes_per_s();
            say(ProbeKind::taken, *other_rate_);
            return look_whether_measured(now);
        case ProbeKind::taken:
            if (!of_part || !sends() || own_rate_ || flood_ends_) return;
            own_rate_ = probe.bytes_per_s;
            return look_whether_measured(now);
    }
}

// ---- the round trip

void PairProbe::begin() {
    if (asks() && !std::exchange(begun_, true)) ping();
}

void PairProbe::ping() {
    ++pinged_;
    say(ProbeKind::ping);
}

void PairProbe::answer_ping() {
    if (!asks() && pinged_++ < pings) say(ProbeKind::pong);
}

void PairProbe::pong_came(Time now) {
    if (!pinged_at_) return;
    const Time round_trip = now - *std::exchange(pinged_at_, std::nullopt);
    figures_.round_trip = pinged_ == 1 ? round_trip : std::min(figures_.round_trip, round_trip);
    if (pinged_ < pings) return ping();
    begin_part(ProbePart::there, now);
}

// ---- floods

void PairProbe::begin_part(ProbePart part, Time now) {
    part_ = part;
    own_rate_.reset();
    other_rate_.reset();
    flood_ends_.reset();
    meter_.begin();
    if (asks()) say(ProbeKind::begin);
    if (sends()) flood_ends_ = now + times_.flood;
}

std::optional<Probe> PairProbe::next_word(Time now) {
    if (flood_is_over(now)) {
        flood_ends_.reset();
        say(ProbeKind::sent);
    }
    if (words_.empty()) return std::nullopt;
    const Probe word = words_.front();
    words_.pop_front();
    if (word.kind == ProbeKind::ping) pinged_at_ = now;
    return word;
}

void PairProbe::look_whether_measured(Time now) {
    if (over_ || (sends() && !own_rate_) || (receives() && !other_rate_)) return;
    switch (*part_) {
        case ProbePart::there:
            figures_.there = own_rate_.value_or(0);
            if (asks()) begin_part(ProbePart::back, now);
            return;
        case ProbePart::back:
            figures_.back = other_rate_.value_or(0);
            if (asks()) begin_part(ProbePart::both, now);
            return;
        case ProbePart::both:
            figures_.there_both = own_rate_.value_or(0);
            figures_.back_both = other_rate_.value_or(0);
            over_ = true;
    }
}

}  // namespace ako
