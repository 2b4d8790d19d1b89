// See bucket_mode.h.
#include "src/modes/bucket_mode.h"

#include <cmath>
#include <string>

#include "ako/assert.h"
#include "ako/mode_table.h"
#include "ako/payload.h"
#include "src/buckets/butterfly.h"
#include "src/buckets/butterfly_steps.h"
#include "src/buckets/push_pull.h"
#include "src/buckets/ring.h"
#include "src/numbers/printed_number.h"

namespace ako {

namespace {

bool by_butterfly(const ModeSettings& settings) {
    return settings.exchange.all_reduce == AllReduce::butterfly;
}

/// What an all-reduce of that many parameters sends, once in so many rounds; the peers with the
/// most first.
std::vector<SentBytes> all_reduce_sent(const ModeSettings& settings, std::size_t parameter_count,
                                       unsigned rounds) {
    using Way = SentBytes::Way;
    const std::size_t peers = settings.peer_count();
    const std::size_t vector_bytes = payload_bytes_of(parameter_count);
    if (!by_butterfly(settings))
        return {{.way = Way::to_successor,
                 .bytes = all_reduce_bytes(peers, vector_bytes),
                 .rounds = rounds}};
    const auto of = [&](Way way, std::size_t peer) {
        const ButterflySteps steps(static_cast<PeerIndex>(peer), peers);
        return SentBytes{.way = way,
                         .bytes = steps.sent() * static_cast<double>(vector_bytes),
                         .rounds = rounds,
                         .link_share = peers > 1 ? 1 / steps.sent() : 1};  // of a whole vector
    };
    const std::size_t own = ButterflySteps::own_of(peers);
    if (own == peers) return {of(Way::to_partners, 0)};
    return {of(Way::of_partner, 0), of(Way::to_partners, own - 1), of(Way::of_surplus, peers - 1)};
}

/// The sums of an all-reduce and what it keeps of others, beside so many vectors more. A ring keeps
/// small layers of others; in a butterfly the first peer keeps the most.
MemoryTerm all_reduce_memory(const ModeSettings& settings, const std::string& name, double vectors,
                             std::size_t vector_bytes) {
    const bool butterfly = by_butterfly(settings);
    vectors += butterfly ? 1 + ButterflySteps(0, settings.peer_count()).kept_aside() : 2;
    return {name + (butterfly ? "parts of others" : "small layers"), printed("%.4g M", vectors),
            static_cast<std::size_t>(std::ceil(vectors * static_cast<double>(vector_bytes)))};
}

}  // namespace

std::unique_ptr<BucketProtocol> make_protocol(const ModeSettings& settings, const Buckets& buckets,
                                              std::span<const float> initial, BucketBoard& board,
                                              Transport& transport) {
    if (entry_of(settings.exchange).has_servers)
        return std::make_unique<PushPull>(settings, buckets, initial, board, transport);
    if (by_butterfly(settings))
        return std::make_unique<Butterfly>(buckets, settings.self, settings.peer_count(), board,
                                           transport);
    return std::make_unique<Ring>(buckets, settings.self, settings.peer_count(),
                                  settings.straight_bytes_max, board, transport);
}

std::unique_ptr<BucketRule> make_rule(const ModeSettings& settings, std::span<const float> initial,
                                      BucketProtocol& protocol) {
    std::vector<float> start(initial.begin(), initial.end());
    switch (settings.exchange.mode) {
        case Mode::ring:
            return std::make_unique<MeanGradient>(settings, std::move(start));
        case Mode::local_sgd:
            return std::make_unique<MeanOfLocalRounds>(settings, std::move(start));
        case Mode::sma:
            return std::make_unique<AverageOfLearners>(std::move(start));
        case Mode::parameter_server:
            if (settings.role(settings.self) == Role::server) return nullptr;
            return std::make_unique<PulledParameters>(protocol.result());
        case Mode::ako:
        case Mode::local:
            break;
    }
    AKO_BUG("a mode without buckets");
}

ModeCosts ring_costs(const ModeSettings& settings, std::size_t parameter_count) {
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    ModeCosts costs;
    costs.memory = {{"replica", "M", vector_bytes},
                    all_reduce_memory(settings, "sums, ", 0, vector_bytes),
                    {"momentum", "M", vector_bytes}};
    if (entry_of(settings.exchange).runs_ahead)
        costs.memory.push_back({"gradient under way", "M", vector_bytes});
    costs.checkpoint = {"checkpoint being written", "2 M", 2 * vector_bytes};
    costs.sent = all_reduce_sent(settings, parameter_count, 1);
    return costs;
}

ModeCosts local_sgd_costs(const ModeSettings& settings, std::size_t parameter_count) {
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    ModeCosts costs;
    costs.memory = {{"replica and average", "2 M", 2 * vector_bytes},
                    all_reduce_memory(settings, "distances, sums, ", 1, vector_bytes),
                    {"momentum, inner and outer", "2 M", 2 * vector_bytes}};
    costs.checkpoint = {"checkpoint being written", "4 M", 4 * vector_bytes};
    costs.sent = all_reduce_sent(settings, parameter_count, settings.exchange.local_sgd.rounds);
    return costs;
}

ModeCosts sma_costs(const ModeSettings& settings, std::size_t parameter_count) {
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    ModeCosts costs;
    costs.memory = {{"average of the learners", "M", vector_bytes},
                    all_reduce_memory(settings, "updates, sums, ", 1, vector_bytes)};
    costs.checkpoint = {"checkpoint being written", "M", vector_bytes};
    costs.sent = all_reduce_sent(settings, parameter_count, 1);
    return costs;
}

// The peer with the most memory is a server, that trains too if servers are co-located.
ModeCosts server_costs(const ModeSettings& settings, std::size_t parameter_count) {
    using Way = SentBytes::Way;
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    const std::size_t servers = settings.servers().size();
    const std::size_t workers = settings.workers().size();
    const std::size_t part = (vector_bytes + servers - 1) / servers;
    ModeCosts costs;
    costs.memory = {{"parameters of the worker", "M", vector_bytes},
                    {"served: parameters and momentum", "2 M / servers", 2 * part},
                    {"pushes of the workers", "n M / servers", workers * part}};
    if (entry_of(settings.exchange).keeps_checkpoints())
        costs.checkpoint = {"checkpoint being written", "M + 2 M / servers",
                            vector_bytes + 2 * part};
    // A worker pushes all but what it serves itself; a server answers all workers but itself.
    const auto pushed = static_cast<double>(payload_bytes_of(parameter_count));
    const double served = pushed / static_cast<double>(servers);
    const double answered = static_cast<double>(workers) * served;
    if (settings.exchange.server.placement == Placement::dedicated) {
        costs.sent = {{.way = Way::of_worker, .bytes = pushed},
                      {.way = Way::of_server, .bytes = answered}};
        return costs;
    }
    costs.sent = {{.way = Way::of_both, .bytes = pushed + answered - 2 * served}};
    if (servers < workers) costs.sent.push_back({.way = Way::of_worker, .bytes = pushed});
    return costs;
}

}  // namespace ako
