// See pair_probe.h.
#include "src/probe/pair_probe.h"

#include <algorithm>

namespace ako {

PairProbe::PairProbe(PeerIndex self, PeerIndex partner, std::uint32_t turn, const ProbeTimes& times)
    : self_(self), turn_(turn), times_(times), meter_(times.warm_up) {
    figures_.asker = std::min(self, partner);
    figures_.asked = std::max(self, partner);
}

void PairProbe::begin(Time now) {
    if (!asks() || begun_) return;
    begun_ = true;
    ping(now);
}

void PairProbe::say(ProbeKind kind, Time sent_at, double bytes_per_s) {
    Probe probe;
    probe.kind = kind;
    probe.part = part_;
    probe.turn = turn_;
    probe.sent_at = sent_at;
    probe.bytes_per_s = bytes_per_s;
    words_.push_back(probe);
}

void PairProbe::take(const Probe& probe, Time now) {
    switch (probe.kind) {
        case ProbeKind::standing:
            return;
        case ProbeKind::ping:
            return say(ProbeKind::pong, probe.sent_at);
        case ProbeKind::pong:
            return pong_came(now - probe.sent_at, now);
        case ProbeKind::begin:
            if (!asks()) begin_part(probe.part, now);
            return;
        case ProbeKind::sent:
            taken_ = meter_.bytes_per_s();
            say(ProbeKind::taken, Time{0}, *taken_);
            return look_whether_measured(now);
        case ProbeKind::taken:
            sent_ = probe.bytes_per_s;
            return look_whether_measured(now);
    }
}

void PairProbe::pong_came(Time round_trip, Time now) {
    if (!asks() || pongs_ >= pings) return;
    figures_.round_trip = pongs_ == 0 ? round_trip : std::min(figures_.round_trip, round_trip);
    if (++pongs_ < pings) return ping(now);
    begin_part(ProbePart::there, now);
}

void PairProbe::begin_part(ProbePart part, Time now) {
    part_ = part;
    sent_.reset();
    taken_.reset();
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
    return word;
}

void PairProbe::look_whether_measured(Time now) {
    if (over_ || (sends() && !sent_) || (receives() && !taken_)) return;
    switch (part_) {
        case ProbePart::there:
            figures_.there = sent_.value_or(0);
            if (asks()) begin_part(ProbePart::back, now);
            return;
        case ProbePart::back:
            figures_.back = taken_.value_or(0);
            if (asks()) begin_part(ProbePart::both, now);
            return;
        case ProbePart::both:
            figures_.there_both = sent_.value_or(0);
            figures_.back_both = taken_.value_or(0);
            over_ = true;
    }
}

}  // namespace ako
