// See liveness_check.h.
#include "tests/sim/liveness_check.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "src/agreement/finish.h"
#include "src/exchange/departures.h"
#include "src/rows/joining.h"
#include "tests/sim/sim_times.h"

namespace ako::sim {
namespace {

/// For what takes a few frames, sessions that come up again and looks every now and then.
constexpr Time slack = std::chrono::seconds(2);

std::size_t block_count(const Scenario& scenario) {
    return (scenario.element_count + scenario.block_elements - 1) / scenario.block_elements;
}

/// All rows on the slowest of links, block for block.
Time rows_time(const Scenario& scenario) {
    double slowest = scenario.bytes_per_second;
    for (const Fault& fault : scenario.faults) {
        if (fault.kind == FaultKind::slow) slowest = std::min(slowest, fault.amount * 1e6 / 8);
        if (fault.kind == FaultKind::rates) slowest = std::min(slowest, 5e3);
    }
    const double bytes =
        static_cast<double>(scenario.block_elements * sizeof(float) + scenario.header_bytes);
    const auto blocks = static_cast<double>(scenario.peers.size() * block_count(scenario));
    return from_seconds(blocks * bytes / slowest);
}

/// Clocks that go slow make every time-out so much longer.
double slowest_clock(const Scenario& scenario) {
    double slowest = 1;
    for (const Fault& fault : scenario.faults) {
        if (fault.kind == FaultKind::drift) slowest = std::min(slowest, fault.amount);
    }
    return slowest;
}

Time stretched(const Scenario& scenario, Time time) {
    return from_seconds(seconds_of(time) / slowest_clock(scenario));
}

/// One holder after the other says nothing, is found silent after four answers' time, and rests for
/// eight at most (src/rows/puller.cpp). Where answers are observed this begins with a time that is
/// long beside the time-outs of this simulator.
Time silences_time(const Scenario& scenario) {
    if (!scenario.observes_answers) return Time{0};
    return (4 + 8) * scenario.answer_time() * static_cast<std::int64_t>(scenario.peers.size() - 1);
}

/// The longest time that a peer may take to join. It goes on once those that it reaches had time to
/// come, and nothing comes any more, or all rows have. Where sessions break, the first ones with
/// each peer put that off.
Time joining_time(const Scenario& scenario) {
    const auto sources = static_cast<std::int64_t>(scenario.peers.size() - 1);
    const std::int64_t put_off = !scenario.faultless() ? Joining::sessions_counted * sources : 0;
    const Time meet = 2 * life_timeout + Departures::redial + put_off * finish_timeout;
    return stretched(scenario,
                     finish_timeout + 2 * rows_time(scenario) + meet + silences_time(scenario)) +
           slack + 3 * wait_step + 2 * poll_interval;
}

/// The longest time that a final exchange may take, whether nothing moves any more in it or all
/// rows do: nobody waits for longer than the time-out, nor lingers for longer than the linger.
Time finish_time(const Scenario& scenario) {
    const Time gone = 2 * life_timeout + Departures::redial;
    return stretched(scenario, finish_timeout + from_seconds(scenario.linger_s) + gone +
                                   scenario.finish_exchange + 4 * rows_time(scenario) +
                                   silences_time(scenario)) +
           goodbye + slack;
}

}  // namespace

Time deadline_of(const Scenario& scenario) {
    const auto peers = static_cast<std::int64_t>(scenario.peers.size());
    Time latest{0};
    Time held_up{0};
    std::int64_t begins = 1;
    for (PeerIndex peer = 0; peer < scenario.peers.size(); ++peer) {
        latest = std::max(latest, scenario.starts_at(peer));
    }
    for (const Fault& fault : scenario.faults) {
        held_up += fault.lasts;
        if (fault.trigger == Trigger::begin) latest = std::max(latest, fault.at);
        begins += fault.kind == FaultKind::restart || fault.kind == FaultKind::reboot ||
                  fault.kind == FaultKind::second || fault.kind == FaultKind::late;
    }
    const Time alone = from_seconds(seconds_of(scenario.slowest_round()) * scenario.rounds) * peers;
    const Time trickle = scenario.answer_time() * Finish::asks_per_block * peers *
                         static_cast<std::int64_t>(block_count(scenario));
    const Time leave = scenario.has(FaultKind::leave) ? leave_timeout + slack : Time{0};
    const Time start = from_seconds(scenario.start_wait_s) + joining_time(scenario);
    return latest + held_up + stretched(scenario, alone + begins * (start + leave) + trickle) +
           finish_time(scenario);
}

void LivenessCheck::stepped(const AkoPeer& peer) {
    Times& times = times_[&peer];
    if (!peer.joining()) {
        times.joining_since.reset();
    } else if (!times.joining_since) {
        times.joining_since = cluster_.world().now();
    } else {
        check_joining(peer, *times.joining_since);
    }
}

void LivenessCheck::stopped(const AkoPeer& peer) {
    times_[&peer].stopped_at = cluster_.world().now();
}

Time LivenessCheck::quiet_since(Time until) const {
    Time since{0};
    for (const Strike& strike : faults_.struck()) {
        if (strike.from <= until) since = std::max(since, strike.until);
    }
    for (const auto& [peer, times] : times_) {
        if (times.stopped_at && *times.stopped_at <= until) {
            since = std::max(since, *times.stopped_at);
        }
    }
    return since;
}

void LivenessCheck::check_joining(const AkoPeer& peer, Time since) const {
    const Time now = cluster_.world().now();
    const Time took = now - std::max(since, quiet_since(now));
    if (took <= joining_time(scenario_)) return;
    throw Violation("peer " + std::to_string(peer.settings.self) + " joins for " +
                    std::to_string(seconds_of(took)) + " s, allowed " +
                    std::to_string(seconds_of(joining_time(scenario_))));
}

void LivenessCheck::left(const AkoPeer& peer) const {
    const Time now = cluster_.world().now();
    const Time allowed = stretched(scenario_, leave_timeout + scenario_.slowest_round()) + slack;
    const Time took = now - quiet_since(now);
    if (took <= allowed) return;
    throw Violation("peer " + std::to_string(peer.settings.self) + " takes " +
                    std::to_string(seconds_of(took)) + " s to leave, allowed " +
                    std::to_string(seconds_of(allowed)));
}

void LivenessCheck::ended() const {
    for (const auto& process : cluster_.processes()) {
        if (process->state != SimPeer::State::ended) continue;
        const Time took = process->ended_at - quiet_since(process->ended_at);
        if (took <= finish_time(scenario_)) continue;
        throw Violation("peer " + std::to_string(process->settings.self) + " ended " +
                        std::to_string(seconds_of(took)) + " s after all was quiet, allowed " +
                        std::to_string(seconds_of(finish_time(scenario_))));
    }
}

}  // namespace ako::sim
