#include "src/native_peer/network_memory.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ako/mode_table.h"
#include "models/catalog.h"
#include "src/numbers/batch_plan.h"
#include "src/training/evaluation.h"
#include "src/training/learners.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {
namespace {

/// OpenBLAS's buffers of one thread.
constexpr std::size_t blas_bytes = 32'000'000;
/// The program and its libraries, those buffers, and the stacks.
constexpr std::size_t program_bytes = 48'000'000 + blas_bytes;

/// The whole batch of one learner; 0 for a model without data.
std::size_t whole_batch_bytes(const Settings& settings) {
    if (!needs_data(settings.model.kind)) return 0;
    const BatchPlan batch(settings.training, place_among_workers(settings, 0).count);
    const std::size_t samples =
        batch.local_only() ? settings.training.batch.local : batch.share_max();
    return samples * data_shape(settings.model).image.element_count() * sizeof(float);
}

/// What the k - 1 learners but the first take.
std::vector<MemoryTerm> terms_of_others(const Settings& settings, std::size_t parameter_count,
                                        std::size_t others) {
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    const TrainingSettings& training = settings.training;
    const std::size_t layers =
        activation_bytes(settings.model, samples_at_once(training.batch), 0) +
        scratch_bytes(settings.model, 1) + blas_bytes;
    std::vector<MemoryTerm> terms = {
        {"other learners: vectors", "3 (k - 1) M", Learners::vectors_each * vector_bytes},
        {"other learners: layers, products", "", layers}};
    if (training.keeps_checkpoints())
        terms.push_back({"other learners: in the checkpoint", "2 (k - 1) M", 2 * vector_bytes});
    if (computes_in_parts(training.batch))
        terms.push_back(
            {"other learners: parts of batches", "", vector_bytes + whole_batch_bytes(settings)});
    for (MemoryTerm& term : terms) term.bytes *= others;
    return terms;
}

std::size_t sum_of(const std::vector<MemoryTerm>& terms) {
    std::size_t sum = 0;
    for (const MemoryTerm& term : terms) sum += term.bytes;
    return sum;
}

/// What the first learner, whose layers are those of the peer, and all others take.
void add_learners(const Settings& settings, std::size_t parameter_count,
                  std::vector<MemoryTerm>& terms) {
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    const LearnersMeet meet = entry_of(settings.exchange).learners;
    const bool alone = meet == LearnersMeet::at_peer ||
                       (meet == LearnersMeet::at_all_peers && settings.peers.size() == 1);
    const std::size_t shared = Learners::vectors_shared(alone);
    const auto vectors = [vector_bytes](const char* name, std::size_t count) {
        return MemoryTerm{name, std::to_string(count) + " M", count * vector_bytes};
    };
    terms.push_back(vectors("first learner, and what all share", Learners::vectors_each + shared));
    if (settings.training.keeps_checkpoints())
        terms.push_back(vectors("the same in the checkpoint", 2 + shared));
    if (settings.training.learners <= 1) return;
    for (MemoryTerm& term :
         terms_of_others(settings, parameter_count, settings.training.learners - 1))
        terms.push_back(std::move(term));
}

}  // namespace

MemoryPlan plan_memory(const Settings& settings, const MemoryOfRun& run) {
    const std::size_t vector_bytes = run.parameter_count * sizeof(float);
    const TrainingSettings& training = settings.training;
    std::vector<MemoryTerm> terms = {
        {"evaluation copy", "M", vector_bytes},
        {"outputs of the layers", "",
         activation_bytes(settings.model, samples_at_once(training.batch),
                          evaluation_slice_default)},
        {"scratch memory of the layers", "", scratch_bytes(settings.model, training.threads)},
        {"data set", "", run.data_bytes},
        {"program and buffers", "", program_bytes}};
    if (computes_in_parts(training.batch)) {
        terms.push_back({"sum over the parts of a batch", "M", vector_bytes});
        terms.push_back({"batch that is computed in parts", "", whole_batch_bytes(settings)});
    }
    if (has_learners(training, settings.exchange))
        add_learners(settings, run.parameter_count, terms);
    else
        terms.insert(terms.begin(), {"gradient", "M", vector_bytes});
    return plan_memory(settings, run.parameter_count, terms);
}

unsigned learners_at_most(const Settings& settings, std::size_t parameter_count,
                          const MemoryPlan& plan) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t allowed = allowed_bytes(settings);
    const std::size_t room = allowed > plan.bytes() ? allowed - plan.bytes() : 0;
    const std::size_t others = room / sum_of(terms_of_others(settings, parameter_count, 1));
    return static_cast<unsigned>(
        std::min<std::size_t>({1 + others, cores, std::size_t{learners_max}}));
}

}  // namespace ako
