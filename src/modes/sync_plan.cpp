// See sync_plan.h.
#include "src/modes/sync_plan.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "ako/mode_table.h"
#include "ako/payload.h"
#include "src/buckets/buckets.h"
#include "src/buckets/butterfly_steps.h"
#include "src/buckets/slices.h"

namespace ako {

namespace {

using Indices = std::vector<std::uint32_t>;

std::uint32_t next_index(const SyncPlan& plan) {
    return static_cast<std::uint32_t>(plan.messages.size());
}

PeerIndex peer_at(std::size_t place, std::size_t peers) {
    return static_cast<PeerIndex>(place % peers);
}

// Segment s begins at peer s; on its first n - 1 hops it is summed up, on the next n - 1 it is
// whole, and on the last of those it stays.
SyncPlan ring_round(std::size_t peers, Range bucket) {
    SyncPlan plan;
    for (std::size_t segment = 0; segment < peers; ++segment) {
        const std::size_t bytes = payload_bytes_of(part_of(bucket, segment, peers).count);
        if (bytes == 0) continue;
        for (std::size_t hop = 0; hop < 2 * (peers - 1); ++hop) {
            const SyncMessage message{.from = peer_at(segment + hop, peers),
                                      .to = peer_at(segment + hop + 1, peers),
                                      .bytes = bytes,
                                      .of_own = hop < peers};
            plan.add(message, hop == 0 ? Indices{} : Indices{next_index(plan) - 1});
        }
    }
    return plan;
}

// Everybody's part straight to its owner, and its sum to all.
SyncPlan ring_straight(std::size_t peers, Range bucket) {
    SyncPlan plan;
    for (std::size_t owner = 0; owner < peers; ++owner) {
        const std::size_t bytes = payload_bytes_of(part_of(bucket, owner, peers).count);
        if (bytes == 0) continue;
        Indices come;
        for (std::size_t step = 1; step < peers; ++step) {
            come.push_back(next_index(plan));
            plan.add({peer_at(owner + step, peers), peer_at(owner, peers), bytes, true}, {});
        }
        for (std::size_t step = 1; step < peers; ++step)
            plan.add({peer_at(owner, peers), peer_at(owner + step, peers), bytes, true}, come);
    }
    return plan;
}

// In step s a peer gives a partner what that one goes on with, once its own partners of the steps
// before have given; then the same back, from the last step to the first.
SyncPlan butterfly(std::size_t peers, Range bucket) {
    SyncPlan plan;
    std::vector<ButterflySteps> steps;
    for (PeerIndex peer = 0; peer < peers; ++peer) steps.emplace_back(peer, peers);
    std::vector<Indices> taken(peers);  // what has come to a peer so far
    const auto exchange = [&](bool back) {
        std::size_t most = 0;
        for (const ButterflySteps& one : steps) most = std::max(most, one.count());
        for (std::size_t round = 0; round < most; ++round) {
            std::vector<std::pair<PeerIndex, std::uint32_t>> come;
            for (PeerIndex peer = 0; peer < peers; ++peer) {
                // Those with a surplus partner have one step more, which is their first.
                const std::size_t lead = most - steps[peer].count();
                const bool surplus = peer >= ButterflySteps::own_of(peers);
                const std::size_t at = back ? most - 1 - round : round;
                if (surplus ? at != 0 : at < lead) continue;
                const std::size_t step = surplus ? 0 : at - lead;
                const Range range =
                    back ? steps[peer].keeps(step, bucket) : steps[peer].gives(step, bucket);
                if (range.count == 0) continue;
                const PeerIndex to = steps[peer].partner(step);
                come.emplace_back(to, next_index(plan));
                plan.add({peer, to, payload_bytes_of(range.count), true}, taken[peer]);
            }
            for (const auto& [to, index] : come) taken[to].push_back(index);
        }
    };
    exchange(false);
    exchange(true);
    return plan;
}

// Every worker pushes a slice to its server, which answers all once it has everybody's.
SyncPlan push_pull(const ModeSettings& settings, Range bucket) {
    SyncPlan plan;
    const std::vector<PeerIndex> workers = settings.workers();
    const std::vector<PeerIndex> servers = settings.servers();
    const Slices slices(Buckets({{0, bucket.count}}, bucket.count, 0,
                                payload_bytes_of(std::max<std::size_t>(1, bucket.count))),
                        servers.size());
    for (std::size_t k = 0; k < slices.count(); ++k) {
        const std::size_t bytes = payload_bytes_of(slices[k].range.count);
        const PeerIndex server = servers[slices[k].server];
        if (bytes == 0) continue;
        Indices come;
        for (const PeerIndex worker : workers) {
            if (worker == server) continue;
            come.push_back(next_index(plan));
            plan.add({worker, server, bytes, true}, {});
        }
        const bool trains = std::find(workers.begin(), workers.end(), server) != workers.end();
        for (const PeerIndex worker : workers)
            if (worker != server) plan.add({server, worker, bytes, trains}, come);
    }
    return plan;
}

}  // namespace

void SyncPlan::add(SyncMessage message, const std::vector<std::uint32_t>& waits_for) {
    message.after_first = static_cast<std::uint32_t>(after.size());
    message.after_count = static_cast<std::uint32_t>(waits_for.size());
    after.insert(after.end(), waits_for.begin(), waits_for.end());
    messages.push_back(message);
}

bool has_sync_plan(const ExchangeSettings& exchange) {
    const ModeEntry& mode = entry_of(exchange);
    return mode.waits && (!mode.has_servers || exchange.server.clock_gap_max == 0U);
}

std::optional<SyncPlan> sync_plan_of_one(const ModeSettings& settings, Range bucket) {
    const std::size_t peers = settings.peer_count();
    const bool servers = entry_of(settings.exchange).has_servers;
    if (peers < 2) return SyncPlan{};
    if (servers && (settings.servers().size() < peers || settings.workers().size() < peers))
        return std::nullopt;
    if (!servers && settings.exchange.all_reduce == AllReduce::butterfly) return std::nullopt;
    const std::size_t part = payload_bytes_of((bucket.count + peers - 1) / peers);
    const bool straight = servers || payload_bytes_of(bucket.count) <= settings.straight_bytes_max;
    SyncPlan plan;
    Indices come;
    for (std::size_t step = 0; step < 2 * (peers - 1); ++step) {
        const SyncMessage message{.from = 0, .to = 0, .bytes = part, .of_own = step < peers};
        if (!straight) {
            plan.add(message, step == 0 ? Indices{} : Indices{next_index(plan) - 1});
        } else if (step < peers - 1) {
            come.push_back(next_index(plan));
            plan.add(message, {});
        } else {
            plan.add(message, come);
        }
    }
    return plan;
}

SyncPlan sync_plan(const ModeSettings& settings, Range bucket) {
    AKO_ASSERT(has_sync_plan(settings.exchange), "nobody waits in this mode");
    const std::size_t peers = settings.peer_count();
    if (peers < 2) return {};
    if (entry_of(settings.exchange).has_servers) return push_pull(settings, bucket);
    if (settings.exchange.all_reduce == AllReduce::butterfly) return butterfly(peers, bucket);
    return payload_bytes_of(bucket.count) <= settings.straight_bytes_max
               ? ring_straight(peers, bucket)
               : ring_round(peers, bucket);
}

}  // namespace ako
