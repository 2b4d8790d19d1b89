#include "src/wiring/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "ako/blocks.h"
#include "ako/error.h"
#include "src/config/key_places.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

namespace {

constexpr std::size_t mb = 1'000'000;

}  // namespace

std::size_t MemoryPlan::bytes() const {
    std::size_t sum = 0;
    for (const MemoryTerm& term : terms) sum += term.bytes;
    return sum;
}

std::size_t MemoryPlan::usual_bytes() const {
    std::size_t sum = 0;
    for (const MemoryTerm& term : terms) sum += term.usual ? term.bytes : 0;
    return sum;
}

MemoryPlan plan_memory(const Settings& settings, std::size_t parameter_count,
                       const std::vector<MemoryTerm>& of_program) {
    if (Blocks(parameter_count).count() > block_count_max) {
        throw at_key(
            settings, settings.model.kind == ModelKind::layers ? "model.layers" : "model.name",
            StartupError(fmt::format("{} parameters, at most {} are supported", parameter_count,
                                     block_count_max * block_elements_default),
                         "train a smaller model"));
    }
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    const ModeCosts costs = mode_costs(settings, parameter_count);
    MemoryPlan plan{costs.memory};
    plan.terms.push_back({"initial parameters", "M", vector_bytes});
    if (settings.training.keeps_checkpoints()) {
        plan.terms.push_back({"model being written", "M", vector_bytes});
        if (costs.checkpoint.bytes > 0) plan.terms.push_back(costs.checkpoint);
    }
    plan.terms.insert(plan.terms.end(), of_program.begin(), of_program.end());
    return plan;
}

std::size_t allowed_bytes(const Settings& settings) { return settings.memory_mb_max * mb; }

bool fits(const Settings& settings, const MemoryPlan& plan) {
    return plan.bytes() <= allowed_bytes(settings);
}

void check_memory(const Settings& settings, const MemoryPlan& plan) {
    if (fits(settings, plan)) return;
    std::vector<MemoryTerm> terms = plan.terms;
    std::sort(terms.begin(), terms.end(),
              [](const MemoryTerm& a, const MemoryTerm& b) { return a.bytes > b.bytes; });
    const StartupError error(
        fmt::format("one peer would need {} MB, {} are allowed; most of it: {} ({} "
                    "MB), {} ({} MB)",
                    plan.bytes() / mb, settings.memory_mb_max, terms[0].name, terms[0].bytes / mb,
                    terms[1].name, terms[1].bytes / mb),
        "raise memory_mb_max, or train a smaller model or with fewer peers; `ako check` shows "
        "every term");
    throw at_key(settings, "memory_mb_max", error);
}

}  // namespace ako
