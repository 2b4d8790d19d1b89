#include "src/peer/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "ako/blocks.h"
#include "ako/error.h"
#include "models/catalog.h"
#include "src/rows/outbox.h"
#include "src/training/evaluation.h"

namespace ako {

namespace {

constexpr std::size_t mb = 1'000'000;

/// The program and its libraries, OpenBLAS's buffers of one thread (32 MB), and the stacks.
constexpr std::size_t program_bytes = 80 * mb;

std::vector<MemoryTerm> ako_terms(const Settings& settings, std::size_t vector_bytes) {
    const std::size_t others = settings.peers.size() - 1;
    // The pool never holds less than one largest frame of every other peer.
    const std::size_t pool_bytes = others * std::max(vector_bytes, payload_bytes_limit);
    return {{"rows of the others", "(n - 1) M", others * vector_bytes},
            {"marks of their stand-ins", "(n - 1) M", others * vector_bytes},
            {"pool for one round's ingress", "(n - 1) max(M, 1 MiB)", pool_bytes},
            {"own row: four snapshots, carry", "5 M", 5 * vector_bytes},
            {"momentum", "M", vector_bytes},
            {"replica", "M", vector_bytes},
            {"own row and anchor of the cut", "2 M", 2 * vector_bytes},
            {"blocks of the cut beside the rows", "(n - 1) M", others * vector_bytes},
            {"relays under way, at most", "n x 4 MiB",
             settings.peers.size() * Outbox::relay_bytes_max}};
}

/// Of the peer with the most: a server, that trains too if servers are co-located.
std::vector<MemoryTerm> server_terms(const Settings& settings, std::size_t vector_bytes) {
    const ServerSettings& server = settings.exchange.server;
    const std::size_t part_bytes = (vector_bytes + server.count - 1) / server.count;
    const std::size_t workers =
        settings.peers.size() - (server.placement == Placement::dedicated ? server.count : 0);
    return {{"parameters of the worker", "M", vector_bytes},
            {"served: parameters and momentum", "2 M / servers", 2 * part_bytes},
            {"pushes of the workers", "n M / servers", workers * part_bytes}};
}

/// What the exchange needs.
std::vector<MemoryTerm> mode_terms(const Settings& settings, std::size_t vector_bytes) {
    switch (settings.exchange.mode) {
        case Mode::ako:
            return ako_terms(settings, vector_bytes);
        case Mode::ring:
            return {{"replica", "M", vector_bytes},
                    {"sums, and small layers of others", "2 M", 2 * vector_bytes},
                    {"momentum", "M", vector_bytes}};
        case Mode::local_sgd:
            return {{"replica and average", "2 M", 2 * vector_bytes},
                    {"distances, sums, small layers", "3 M", 3 * vector_bytes},
                    {"momentum, inner and outer", "2 M", 2 * vector_bytes}};
        case Mode::parameter_server:
            return server_terms(settings, vector_bytes);
        case Mode::local:
            return {{"replica", "M", vector_bytes}, {"momentum", "M", vector_bytes}};
    }
    return {};
}

}  // namespace

std::size_t MemoryPlan::bytes() const {
    std::size_t sum = 0;
    for (const MemoryTerm& term : terms) sum += term.bytes;
    return sum;
}

MemoryPlan plan_memory(const Settings& settings, const MemoryOfRun& run) {
    if (Blocks(run.parameter_count).count() > block_count_max) {
        throw StartupError(
            fmt::format("model: {} parameters, at most {} are supported", run.parameter_count,
                        block_count_max * block_elements_default),
            "train a smaller model");
    }
    const std::size_t vector_bytes = run.parameter_count * sizeof(float);
    MemoryPlan plan{mode_terms(settings, vector_bytes)};
    plan.terms.insert(plan.terms.end(),
                      {{"gradient", "M", vector_bytes},
                       {"initial parameters", "M", vector_bytes},
                       {"evaluation copy", "M", vector_bytes},
                       {"outputs of the layers", "",
                        activation_bytes(settings.model, settings.training.batch_per_peer,
                                         evaluation_slice_default)},
                       {"scratch memory of the layers", "", scratch_bytes(settings.model)},
                       {"data set", "", run.data_bytes},
                       {"program and buffers", "", program_bytes}});
    if (settings.training.checkpoint_every > 0)
        plan.terms.insert(plan.terms.end() - 2, {"checkpoint being written", "M", vector_bytes});
    return plan;
}

bool fits(const Settings& settings, const MemoryPlan& plan) {
    return plan.bytes() <= settings.memory_mb_max * mb;
}

void check_memory(const Settings& settings, const MemoryPlan& plan) {
    if (fits(settings, plan)) return;
    std::vector<MemoryTerm> terms = plan.terms;
    std::sort(terms.begin(), terms.end(),
              [](const MemoryTerm& a, const MemoryTerm& b) { return a.bytes > b.bytes; });
    throw StartupError(
        fmt::format("memory_mb_max: one peer would need {} MB, {} are allowed; most of it: {} ({} "
                    "MB), {} ({} MB)",
                    plan.bytes() / mb, settings.memory_mb_max, terms[0].name, terms[0].bytes / mb,
                    terms[1].name, terms[1].bytes / mb),
        "raise memory_mb_max, or train a smaller model or with fewer peers; `ako check` shows "
        "every term");
}

}  // namespace ako
