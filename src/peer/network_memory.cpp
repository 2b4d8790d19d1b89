#include "src/peer/network_memory.h"

#include "models/catalog.h"
#include "src/member/mode_settings.h"
#include "src/numbers/batch_plan.h"
#include "src/training/evaluation.h"

namespace ako {
namespace {

/// The program and its libraries, OpenBLAS's buffers of one thread (32 MB), and the stacks.
constexpr std::size_t program_bytes = 80'000'000;

}  // namespace

MemoryPlan plan_memory(const Settings& settings, const MemoryOfRun& run) {
    const std::size_t vector_bytes = run.parameter_count * sizeof(float);
    const TrainingSettings& training = settings.training;
    const BatchPlan batch(training, place_among_workers(settings, 0).count);
    std::vector<MemoryTerm> terms = {
        {"gradient", "M", vector_bytes},
        {"evaluation copy", "M", vector_bytes},
        {"outputs of the layers", "",
         activation_bytes(settings.model, images_at_once(training.batch),
                          evaluation_slice_default)},
        {"scratch memory of the layers", "", scratch_bytes(settings.model, training.threads)},
        {"data set", "", run.data_bytes},
        {"program and buffers", "", program_bytes}};
    if (computes_in_parts(training.batch)) {
        terms.push_back({"sum over the parts of a batch", "M", vector_bytes});
        terms.push_back(
            {"batch that is computed in parts", "",
             batch.share_max() * data_shape(settings.model).image.element_count() * sizeof(float)});
    }
    return plan_memory(settings, run.parameter_count, terms);
}

}  // namespace ako
