// See replay.h.
#include "src/predict/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "ako/assert.h"
#include "src/predict/replay_processor.h"
#include "src/predict/replay_syncs.h"

namespace ako {

namespace {

constexpr std::size_t warm_rounds = 2;
constexpr std::size_t counted_rounds = 8;
/// Some seconds of this machine; what is asked then is far from what anybody would run.
constexpr std::size_t events_max = 20'000'000;
constexpr double never = std::numeric_limits<double>::infinity();

class Replay {
  public:
    explicit Replay(const ReplayInput& input);
    ReplayResult run();

  private:
    enum class What { processor, wire, arrival };
    struct Event {
        double at = 0;
        std::uint64_t order = 0;
        What what = What::processor;
        std::size_t where = 0;  ///< machine; or link
        std::uint64_t stamp = 0;
        Sending sending;
        bool operator>(const Event& other) const {
            return std::tie(at, order) > std::tie(other.at, other.order);
        }
    };
    /// What the network thread of a machine has to do next.
    struct Job {
        Sending sending;
        bool takes = false;
        double seconds = 0;
    };
    struct Machine {
        ReplayProcessor processor;
        // The thread that trains.
        std::size_t round = 0;
        std::size_t step = 0;
        bool in_round = false;
        bool computing = false;
        bool awaiting = false;
        double awaiting_since = 0;
        double waited = 0;
        double factor = 1;               ///< of this round's times
        std::vector<double> ends;        ///< of rounds
        std::vector<double> waits;       ///< until then
        std::vector<std::size_t> given;  ///< [bucket] syncs it has given to
        std::vector<std::size_t> whole;  ///< [bucket] syncs it holds
        std::vector<std::size_t> ready;  ///< [bucket] elements whose gradient is ready
        // The network thread.
        std::deque<Job> jobs;
    };
    struct Link {
        PeerIndex from = 0;
        PeerIndex to = 0;
        std::set<std::tuple<std::size_t, std::size_t, std::uint64_t, std::uint32_t>> waiting;
        bool preparing = false;  ///< the processor is at it
        std::optional<Sending> prepared;
        bool on_wire = false;
        Sending carried;
        double left = 0;  ///< bytes
        double rate = 0;
        double since = 0;
        std::uint64_t stamp = 0;
    };
    void push(double at, What what, std::size_t where, std::uint64_t stamp, Sending sending = {});
    void touch(std::size_t machine);
    void run_processor(std::size_t machine);
    void advance(std::size_t machine);
    void give(std::size_t machine, std::size_t bucket);
    void enqueue(const Sending& sending);
    void feed(std::size_t link);
    void job_done(std::size_t machine);
    void add_job(std::size_t machine, Job job);
    void wire_done(std::size_t link);
    ReplayResult result() const;
    void start_wire(std::size_t link, const Sending& sending);
    void share_wires(PeerIndex from, PeerIndex to);
    void arrived(const Sending& sending);
    void look_whole(std::size_t machine, std::size_t bucket, std::size_t sync);
    void compute(std::size_t machine, double seconds);
    bool awaits(const Machine& machine) const;
    bool holds(const Machine& machine, Range range, std::size_t syncs) const;
    void give_ready(std::size_t machine);
    void end_round(std::size_t machine);
    bool syncs_after(std::size_t round) const { return (round + 1) % input_.rounds_per_sync == 0; }
    std::size_t link_of(PeerIndex from, PeerIndex to) const { return from * machines_.size() + to; }
    double bytes_of(const Sending& sending) const {
        return static_cast<double>(syncs_.message(sending).bytes);
    }

    const ReplayInput& input_;
    const std::size_t rounds_;
    double now_ = 0;
    std::uint64_t order_ = 0;
    std::size_t events_done_ = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<Machine> machines_;
    std::vector<Link> links_;
    std::vector<std::vector<std::size_t>> wires_out_, wires_in_;  ///< [machine] links on the wire
    ReplaySyncs syncs_;
    std::mt19937_64 chance_{1};
};

std::size_t elements_of_both(Range one, Range other) {
    const std::size_t first = std::max(one.first, other.first);
    const std::size_t end = std::min(one.first + one.count, other.first + other.count);
    return end > first ? end - first : 0;
}

/// Rounds that do not count: as many syncs as it takes to become steady.
std::size_t warm_up(const ReplayInput& input) {
    const std::size_t k = input.rounds_per_sync;
    return (warm_rounds + k - 1) / k * k;
}

std::size_t rounds_played(const ReplayInput& input) {
    const std::size_t k = input.rounds_per_sync;
    return warm_up(input) + (counted_rounds + k - 1) / k * k;
}

Replay::Replay(const ReplayInput& input)
    : input_(input),
      rounds_(rounds_played(input)),
      machines_(input.machines.size()),
      links_(input.machines.size() * input.machines.size()),
      wires_out_(input.machines.size()),
      wires_in_(input.machines.size()),
      syncs_(input) {
    const std::size_t count = machines_.size();
    for (std::size_t k = 0; k < count; ++k) {
        const ReplayMachine& one = input.machines[k];
        // Periods of different machines do not begin together.
        const double phase = one.period_s * static_cast<double>(k) / static_cast<double>(count);
        machines_[k].processor = ReplayProcessor(one.cores, one.period_s, phase, one.period_lost_s);
        machines_[k].given.resize(input.buckets.size());
        machines_[k].whole.resize(input.buckets.size());
        machines_[k].ready.resize(input.buckets.size());
    }
    for (PeerIndex from = 0; from < count; ++from)
        for (PeerIndex to = 0; to < count; ++to) {
            links_[link_of(from, to)].from = from;
            links_[link_of(from, to)].to = to;
        }
}

void Replay::push(double at, What what, std::size_t where, std::uint64_t stamp, Sending sending) {
    events_.push({at, order_++, what, where, stamp, sending});
}

// ---- processors

// What runs on the machine has changed: when is the next of it done?
void Replay::touch(std::size_t machine) {
    ReplayProcessor& processor = machines_[machine].processor;
    const double next = processor.next_change(now_);
    if (next < never) push(next, What::processor, machine, processor.stamp());
}

void Replay::run_processor(std::size_t machine) {
    ReplayProcessor& processor = machines_[machine].processor;
    processor.pass(now_);
    for (bool again = true; again;) {
        again = false;
        if (processor.take_done(ReplayProcessor::network)) {
            job_done(machine);
            again = true;
        }
        if (processor.take_done(ReplayProcessor::compute)) {
            machines_[machine].computing = false;
            advance(machine);
            again = true;
        }
    }
    touch(machine);
}

// ---- the thread that trains

bool Replay::holds(const Machine& machine, Range range, std::size_t syncs) const {
    for (std::size_t bucket = 0; bucket < input_.buckets.size(); ++bucket)
        if (machine.whole[bucket] < syncs && elements_of_both(input_.buckets[bucket], range) > 0)
            return false;
    return true;
}

// Goes on with what the thread is at, as far as it waits for nobody. A step's time comes before
// what it awaits or is ready with.
void Replay::advance(std::size_t index) {
    Machine& machine = machines_[index];
    if (!input_.machines[index].trains || machine.computing || machine.round >= rounds_) return;
    if (!machine.in_round) {
        machine.in_round = true;
        machine.step = 0;
        std::fill(machine.ready.begin(), machine.ready.end(), 0);
        std::normal_distribution<double> normal;
        machine.factor = std::max(0.5, 1 + input_.spread * normal(chance_));
        return compute(index, input_.round_s);
    }
    if (awaits(machine)) {
        if (!machine.awaiting) machine.awaiting_since = now_;
        machine.awaiting = true;
        return;
    }
    if (machine.awaiting) machine.waited += now_ - machine.awaiting_since;
    machine.awaiting = false;
    give_ready(index);
    if (machine.step == input_.gradient.size()) return end_round(index);
    compute(index, input_.gradient[machine.step++].seconds);
}

void Replay::compute(std::size_t index, double seconds) {
    Machine& machine = machines_[index];
    machine.computing = true;
    machine.processor.start(ReplayProcessor::compute, now_,
                            seconds * input_.machines[index].compute_scale * machine.factor);
}

// Does the step that is done wait for what syncs before this round give?
bool Replay::awaits(const Machine& machine) const {
    if (machine.step == 0) return false;
    const GradientStep& done = input_.gradient[machine.step - 1];
    const std::size_t syncs = machine.round / input_.rounds_per_sync;
    switch (done.kind) {
        case GradientStep::Kind::await:
            return !input_.ahead && !holds(machine, done.range, syncs);
        case GradientStep::Kind::ready:
            return input_.ahead && !input_.by_end && !holds(machine, done.range, syncs);
        case GradientStep::Kind::end:
            break;
    }
    return input_.by_end && syncs_after(machine.round) &&
           std::any_of(machine.whole.begin(), machine.whole.end(),
                       [syncs](std::size_t whole) { return whole < syncs; });
}

// Gives the buckets that are whole with what the step that is done has made ready.
void Replay::give_ready(std::size_t index) {
    Machine& machine = machines_[index];
    if (machine.step == 0 || input_.by_end || !syncs_after(machine.round)) return;
    const GradientStep& done = input_.gradient[machine.step - 1];
    if (done.kind != GradientStep::Kind::ready) return;
    for (std::size_t bucket = 0; bucket < input_.buckets.size(); ++bucket) {
        const std::size_t count = elements_of_both(input_.buckets[bucket], done.range);
        if (count == 0) continue;
        machine.ready[bucket] += count;
        if (machine.ready[bucket] >= input_.buckets[bucket].count) give(index, bucket);
    }
}

void Replay::end_round(std::size_t index) {
    Machine& machine = machines_[index];
    if (input_.by_end && syncs_after(machine.round))
        for (std::size_t bucket = 0; bucket < input_.buckets.size(); ++bucket) give(index, bucket);
    machine.ends.push_back(now_);
    machine.waits.push_back(machine.waited);
    machine.in_round = false;
    ++machine.round;
    advance(index);
}

// ---- syncs

void Replay::give(std::size_t machine, std::size_t bucket) {
    const std::size_t number = machines_[machine].given[bucket]++;
    syncs_.give(machine, bucket, number, [this](const Sending& next) { enqueue(next); });
    look_whole(machine, bucket, number);
}

void Replay::look_whole(std::size_t machine, std::size_t bucket, std::size_t number) {
    if (!input_.machines[machine].trains || !syncs_.is_whole(machine, bucket, number)) return;
    machines_[machine].whole[bucket] = number + 1;
    if (machines_[machine].awaiting) advance(machine);
}

void Replay::arrived(const Sending& sending) {
    syncs_.arrived(sending, [this](const Sending& next) { enqueue(next); });
    look_whole(syncs_.message(sending).to, sending.bucket, sending.sync);
}

// ---- links

void Replay::enqueue(const Sending& sending) {
    const SyncMessage& one = syncs_.message(sending);
    const std::size_t link = link_of(one.from, one.to);
    links_[link].waiting.insert({sending.sync, sending.bucket, order_++, sending.index});
    feed(link);
}

// The link's next message, if the processor may prepare one.
void Replay::feed(std::size_t index) {
    Link& link = links_[index];
    if (link.preparing || link.prepared || link.waiting.empty()) return;
    const auto [sync, bucket, order, number] = *link.waiting.begin();
    link.waiting.erase(link.waiting.begin());
    link.preparing = true;
    const Sending sending{sync, bucket, number};
    const double bytes = bytes_of(sending);
    add_job(link.from, {sending, false, input_.send_s + input_.send_s_per_byte * bytes});
}

void Replay::add_job(std::size_t index, Job job) {
    Machine& machine = machines_[index];
    job.seconds *= input_.machines[index].compute_scale;
    machine.jobs.push_back(job);
    if (machine.jobs.size() == 1)
        machine.processor.start(ReplayProcessor::network, now_, job.seconds);
    touch(index);
}

void Replay::job_done(std::size_t index) {
    Machine& machine = machines_[index];
    const Job job = machine.jobs.front();
    machine.jobs.pop_front();
    if (!machine.jobs.empty())
        machine.processor.start(ReplayProcessor::network, now_, machine.jobs.front().seconds);
    if (job.takes) return arrived(job.sending);
    const SyncMessage& one = syncs_.message(job.sending);
    const std::size_t number = link_of(one.from, one.to);
    Link& link = links_[number];
    link.preparing = false;
    if (link.on_wire) {
        link.prepared = job.sending;
    } else {
        start_wire(number, job.sending);
        feed(number);
    }
}

void Replay::start_wire(std::size_t index, const Sending& sending) {
    Link& link = links_[index];
    link.on_wire = true;
    link.carried = sending;
    link.left = bytes_of(sending);
    link.since = now_;
    link.rate = 0;
    wires_out_[link.from].push_back(index);
    wires_in_[link.to].push_back(index);
    share_wires(link.from, link.to);
}

// The next one follows at once, and shares the link as this one did.
void Replay::wire_done(std::size_t index) {
    Link& link = links_[index];
    push(now_ + input_.latency_s, What::arrival, link.to, 0, link.carried);
    if (link.prepared) {
        link.carried = *std::exchange(link.prepared, std::nullopt);
        link.left = bytes_of(link.carried);
        link.since = now_;
        push(now_ + link.left / link.rate, What::wire, index, ++link.stamp);
        return feed(index);
    }
    link.on_wire = false;
    std::erase(wires_out_[link.from], index);
    std::erase(wires_in_[link.to], index);
    share_wires(link.from, link.to);
}

// Each machine's link is shared equally by what is on it; the slower end decides.
void Replay::share_wires(PeerIndex from, PeerIndex to) {
    const auto update = [&](std::size_t index) {
        Link& link = links_[index];
        const double out = input_.machines[link.from].egress_s_per_byte *
                           static_cast<double>(wires_out_[link.from].size());
        const double in = input_.machines[link.to].ingress_s_per_byte *
                          static_cast<double>(wires_in_[link.to].size());
        const double cost = std::max(out, in);
        const double rate = cost > 0 ? 1 / cost : never;
        if (rate == link.rate) return;
        if (link.rate > 0) link.left -= (now_ - link.since) * link.rate;
        link.left = std::max(0.0, link.left);
        link.since = now_;
        link.rate = rate;
        push(now_ + (rate == never ? 0 : link.left / rate), What::wire, index, ++link.stamp);
    };
    for (const std::size_t index : wires_out_[from]) update(index);
    for (const std::size_t index : wires_in_[to]) update(index);
}

// ---- all of it

ReplayResult Replay::run() {
    for (std::size_t k = 0; k < machines_.size(); ++k) {
        advance(k);
        touch(k);
    }
    while (!events_.empty()) {
        if (events_done_ > events_max) return {};
        const Event event = events_.top();
        events_.pop();
        ++events_done_;
        now_ = event.at;
        if (event.what == What::processor) {
            if (event.stamp == machines_[event.where].processor.stamp()) run_processor(event.where);
        } else if (event.what == What::wire) {
            if (links_[event.where].on_wire && event.stamp == links_[event.where].stamp)
                wire_done(event.where);
        } else {
            const double bytes = bytes_of(event.sending);
            add_job(event.where,
                    {event.sending, true, input_.take_s + input_.take_s_per_byte * bytes});
        }
    }
    return result();
}

ReplayResult Replay::result() const {
    ReplayResult result;
    result.events = events_done_;
    for (const Machine& machine : machines_)
        result.busy_s.push_back(machine.processor.ran() / static_cast<double>(rounds_));
    const std::size_t warm = warm_up(input_);
    const auto counted = static_cast<double>(rounds_ - warm);
    for (std::size_t index = 0; index < machines_.size(); ++index) {
        if (!input_.machines[index].trains) continue;
        const Machine& machine = machines_[index];
        AKO_ASSERT(machine.round == rounds_, "a round that never ends");
        const double round = (machine.ends.back() - machine.ends[warm - 1]) / counted;
        const double waits = (machine.waits.back() - machine.waits[warm - 1]) / counted;
        if (round - waits < result.compute_s) continue;
        result.round_s = round;
        result.compute_s = round - waits;
        result.wait_s = waits;
    }
    return result;
}

}  // namespace

ReplayResult replay(const ReplayInput& input) {
    AKO_ASSERT(!input.gradient.empty() && input.gradient.back().kind == GradientStep::Kind::end,
               "a gradient without an end");
    AKO_ASSERT(input.buckets.size() == input.plans.size(), "a plan for each bucket");
    return Replay(input).run();
}

}  // namespace ako
