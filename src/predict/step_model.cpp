// See step_model.h.
#include "src/predict/step_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ako/assert.h"
#include "ako/mode_table.h"
#include "ako/payload.h"
#include "src/buckets/buckets.h"
#include "src/modes/make_exchange.h"
#include "src/predict/replay.h"
#include "src/rows/partition_bound.h"

namespace ako {

namespace {

/// Processor time of a message beside its bytes: a frame's header, calls of the system, and a
/// thread that wakes.
constexpr double message_s = 15e-6;

double s_per_byte(double mbit, double goodput) { return mbit > 0 ? 8 / (mbit * 1e6 * goodput) : 0; }

std::size_t parameter_count(const StepQuestion& question) {
    return question.layers.empty() ? 0
                                   : question.layers.back().first + question.layers.back().count;
}

const ExchangeProfile& exchange_of(const StepQuestion& question, const ModelMachine& machine) {
    return machine.profile->exchange_of(std::string(entry_of(question.mode.exchange).word));
}

/// Seconds of a round's gradient and of what is beside it, on this machine.
double compute_of(const StepQuestion& question, const ModelMachine& machine) {
    return machine.profile->gradient_of(question.batch).seconds + machine.profile->round_s;
}

/// Processors that bring something.
double useful_of(const ModelMachine& machine) {
    if (machine.period_s == 0) return machine.cores;
    const double lost = machine.profile->period_lost_s / machine.period_s;
    return std::max(0.1 * machine.cores, machine.cores - lost);
}

/// Threads that make a gradient together. Where they are several the profile has its seconds by
/// the clock, so that one of them takes so many processors.
double threads_of(const StepQuestion& question) {
    return std::max(1U, question.mode.training.threads);
}

/// Of `cores` processors: how fast a gradient gets on, beside how it was measured.
double pace_with(const StepQuestion& question, double cores) {
    return std::min(1.0, cores / threads_of(question));
}
double pace_of(const StepQuestion& question, const ModelMachine& machine) {
    return pace_with(question, useful_of(machine));
}

double sent_at_most(const StepQuestion& question) {
    double most = 0;
    for (const SentBytes& sent : mode_costs(question.mode, parameter_count(question)).sent)
        most = std::max(most, sent.per_round());
    return most;
}

/// How many times as long processors take on this machine while the others are at work, each so
/// many processors.
double crowd(const StepQuestion& question, std::size_t place, const std::vector<double>& busy) {
    if (question.shared_cores <= 1) return 1;
    double others = 0;
    for (std::size_t k = 0; k < busy.size(); ++k)
        if (k != place) others += busy[k];
    const double at_work = std::min(1.0, others / (question.shared_cores - 1));
    return 1 + (question.machines[place].profile->crowded - 1) * at_work;
}

std::vector<double> all_busy(const StepQuestion& question) {
    std::vector<double> busy;
    for (const ModelMachine& machine : question.machines) busy.push_back(machine.cores);
    return busy;
}

std::size_t workers_of(const StepQuestion& question) { return question.mode.workers().size(); }

/// Standard deviations of runs beside what is said of them, as shares (experiments/oracle): of the
/// time that processors take, which other programs and caches change, and of what links take.
constexpr double of_processors = 0.08;
constexpr double of_links = 0.04;
/// So many of them on either side hold four of five.
constexpr double four_of_five = 1.28;

void finish(const StepQuestion& question, StepAnswer& answer) {
    const double links = answer.exposed_s / answer.round_s;
    const double spread = four_of_five * (of_processors * (1 - links) + of_links * links);
    answer.low_s = answer.round_s / (1 + spread);
    answer.high_s = answer.round_s * (1 + spread);
    answer.samples_per_s =
        static_cast<double>(workers_of(question) * question.batch) / answer.round_s;
}

// ---- alone

StepAnswer alone(const StepQuestion& question) {
    StepAnswer answer;
    double rounds_per_s = 0;
    for (std::size_t k = 0; k < question.machines.size(); ++k) {
        const ModelMachine& machine = question.machines[k];
        const double seconds = crowd(question, k, all_busy(question)) *
                               compute_of(question, machine) / pace_of(question, machine);
        rounds_per_s += 1 / seconds;
        answer.compute_s = std::max(answer.compute_s, seconds);
    }
    answer.round_s = static_cast<double>(question.machines.size()) / rounds_per_s;
    answer.naive_s = answer.round_s;
    answer.limit = "compute";
    return answer;
}

// ---- where peers wait for each other

/// The mean of the largest of so many draws, in standard deviations (G. Blom, "Statistical
/// Estimates and Transformed Beta-Variables", 1958), by A. Hastings' approximation of the normal
/// quantile.
double largest_of(std::size_t count) {
    const auto n = static_cast<double>(count);
    const double t = std::sqrt(-2 * std::log(1 - (n - 0.375) / (n + 0.25)));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/// Beyond so many machines that are all alike one of them is played for all.
constexpr std::size_t played_max = 8;

bool stands_for_all(const StepQuestion& question, const Buckets& buckets) {
    const auto& machines = question.machines;
    return machines.size() > played_max &&
           std::all_of(machines.begin(), machines.end(),
                       [&](const ModelMachine& machine) { return machine == machines.front(); }) &&
           sync_plan_of_one(question.mode, buckets[0]).has_value();
}

// A mode that averages seldom is played as one that does so every so many rounds.
constexpr std::size_t rounds_per_sync_played = 64;

std::size_t rounds_per_sync(const StepQuestion& question) {
    const bool every = entry_of(question.mode.exchange).every_round;
    return every ? 1 : question.mode.exchange.local_sgd.rounds;
}

ReplayInput input_of(const StepQuestion& question, const std::vector<double>& busy) {
    const ModeEntry& entry = entry_of(question.mode.exchange);
    const ModelMachine& first = question.machines.front();
    const GradientProfile gradient = first.profile->gradient_of(question.batch);
    const ExchangeProfile& exchange = exchange_of(question, first);
    const Buckets buckets(question.layers, parameter_count(question));
    ReplayInput input;
    input.gradient = gradient.steps;
    // What slows a machine that is shared slows all of it.
    input.spread = question.shared_cores > 0 ? 0 : gradient.spread;
    input.send_s_per_byte = input.take_s_per_byte = exchange.s_per_byte;
    input.send_s = input.take_s = message_s;
    input.latency_s = question.latency_s;
    input.ahead = entry.runs_ahead || entry.learners == LearnersMeet::at_all_peers;
    input.by_end = entry.learners == LearnersMeet::at_all_peers;
    input.rounds_per_sync = std::min(rounds_per_sync(question), rounds_per_sync_played);
    input.round_s =
        first.profile->round_s + exchange.round_s / static_cast<double>(rounds_per_sync(question));
    const bool one_for_all = stands_for_all(question, buckets);
    for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
        input.buckets.push_back(buckets[bucket]);
        input.plans.push_back(one_for_all ? *sync_plan_of_one(question.mode, buckets[bucket])
                                          : sync_plan(question.mode, buckets[bucket]));
    }
    const double usual = compute_of(question, first);
    const std::size_t played = one_for_all ? 1 : question.machines.size();
    for (PeerIndex peer = 0; peer < played; ++peer) {
        const ModelMachine& machine = question.machines[peer];
        ReplayMachine& one = input.machines.emplace_back();
        one.trains = question.mode.role(peer) == Role::worker;
        one.cores = machine.cores / threads_of(question);
        one.period_s = machine.period_s;
        one.period_lost_s = machine.profile->period_lost_s;
        one.compute_scale = crowd(question, peer, busy) * compute_of(question, machine) / usual;
        if (one_for_all) {
            one.compute_scale *= 1 + input.spread * largest_of(question.machines.size());
            input.spread = 0;
        }
        one.egress_s_per_byte = s_per_byte(machine.egress_mbit, question.goodput);
        one.ingress_s_per_byte = s_per_byte(machine.ingress_mbit, question.goodput);
    }
    return input;
}

StepAnswer in_lockstep(const StepQuestion& question) {
    ReplayInput input = input_of(question, all_busy(question));
    ReplayResult round = replay(input);
    // Who waits leaves the processor to the others, which changes how long they take.
    for (int turn = 0; question.shared_cores > 0 && turn < 2; ++turn) {
        std::vector<double> busy = round.busy_s;
        busy.resize(question.machines.size(), busy.front());  // one may stand for all
        for (double& one : busy) one /= round.round_s;
        input = input_of(question, busy);
        round = replay(input);
    }
    StepAnswer answer;
    answer.compute_s = round.round_s - round.wait_s;
    answer.exposed_s = round.wait_s * static_cast<double>(input.rounds_per_sync) /
                       static_cast<double>(rounds_per_sync(question));
    answer.round_s = answer.compute_s + answer.exposed_s;
    answer.bytes = sent_at_most(question);
    for (GradientStep& step : input.gradient) step.seconds = 0;
    input.round_s = 0;
    answer.exchange_s = replay(input).round_s;
    double slowest = 0, link = 0;
    for (const ModelMachine& machine : question.machines) {
        slowest = std::max(slowest, compute_of(question, machine) / pace_of(question, machine));
        link = std::max(link, s_per_byte(machine.egress_mbit, 1));
    }
    answer.naive_s = slowest + answer.bytes * link;
    const bool links = answer.exposed_s > answer.compute_s;
    answer.limit = links ? "links" : "compute";
    return answer;
}

// ---- the mode ako: nobody waits

/// What a machine does in a second: its rounds, and the bytes that it sends and takes.
struct Pace {
    double round_s = 0;
    double out = 0, in = 0;
    double partitions = 1;
};

// Each machine's processor makes rounds and carries what its links, or what is worth it, let
// through; who is slow takes what the others send at their pace. Found by going round until nothing
// changes.
StepAnswer of_rows(const StepQuestion& question) {
    const std::size_t count = question.machines.size();
    const auto others = static_cast<double>(count - 1);
    // A row to all others, as float32.
    const double plain = static_cast<double>(payload_bytes_of(parameter_count(question))) * others;
    std::vector<Pace> paces(count);
    const auto limit_of = [&](double mbit) {
        const double cost = s_per_byte(mbit, question.goodput);
        return cost > 0 ? 1 / cost : std::numeric_limits<double>::infinity();
    };
    constexpr int turns = 60;
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t k = 0; k < count; ++k) {
            const ModelMachine& machine = question.machines[k];
            const ExchangeProfile& exchange = exchange_of(question, machine);
            const double crowded = crowd(question, k, all_busy(question));
            const double compute = crowded * (compute_of(question, machine) + exchange.round_s);
            const double carried = crowded * exchange.s_per_byte * (paces[k].out + paces[k].in);
            const double left = std::max(0.1 * useful_of(machine), useful_of(machine) - carried);
            const double now = compute / pace_with(question, left);
            Pace& pace = paces[k];
            pace.round_s = turn == 0 ? now : (pace.round_s + now) / 2;
            const unsigned fixed = question.mode.exchange.partitions;
            pace.partitions =
                fixed > 0 ? fixed
                          : PartitionBound::worth(plain, exchange.bytes_share * plain, compute);
            const double wanted = plain * exchange.bytes_share / pace.partitions / pace.round_s;
            pace.out = std::min(wanted, limit_of(machine.egress_mbit));
        }
        for (std::size_t k = 0; k < count; ++k) {
            double in = 0;
            for (std::size_t j = 0; j < count; ++j)
                if (j != k) in += paces[j].out / others;
            paces[k].in = std::min(in, limit_of(question.machines[k].ingress_mbit));
        }
    }
    StepAnswer answer;
    double rounds_per_s = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const Pace& pace = paces[k];
        const ExchangeProfile& exchange = exchange_of(question, question.machines[k]);
        rounds_per_s += 1 / pace.round_s;
        answer.bytes = std::max(answer.bytes, pace.out * pace.round_s);
        answer.partitions =
            std::max(answer.partitions, plain * exchange.bytes_share / (pace.out * pace.round_s));
        answer.compute_s = std::max(answer.compute_s, compute_of(question, question.machines[k]) /
                                                          pace_of(question, question.machines[k]));
    }
    answer.round_s = static_cast<double>(count) / rounds_per_s;
    // Nobody waits: what the exchange costs is processor time, and in the round.
    answer.exchange_s = answer.exposed_s = std::max(0.0, answer.round_s - answer.compute_s);
    answer.naive_s = answer.compute_s;
    answer.limit = "compute";
    return answer;
}

}  // namespace

std::optional<StepAnswer> predict_step(const StepQuestion& question) {
    AKO_ASSERT(!question.machines.empty(), "no machines");
    const ModeEntry& entry = entry_of(question.mode.exchange);
    StepAnswer answer;
    if (entry.is_alone() || question.machines.size() == 1)
        answer = alone(question);
    else if (has_sync_plan(question.mode.exchange))
        answer = in_lockstep(question);
    else if (entry.arrivals == Arrivals::into_rows)
        answer = of_rows(question);
    else
        return std::nullopt;
    if (answer.round_s <= 0) return std::nullopt;
    finish(question, answer);
    return answer;
}

}  // namespace ako
