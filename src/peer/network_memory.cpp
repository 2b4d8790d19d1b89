#include "src/peer/network_memory.h"

#include "models/catalog.h"
#include "src/training/evaluation.h"

namespace ako {
namespace {

/// The program and its libraries, OpenBLAS's buffers of one thread (32 MB), and the stacks.
constexpr std::size_t program_bytes = 80'000'000;

}  // namespace

MemoryPlan plan_memory(const Settings& settings, const MemoryOfRun& run) {
    const std::size_t vector_bytes = run.parameter_count * sizeof(float);
    return plan_memory(
        settings, run.parameter_count,
        {{"gradient", "M", vector_bytes},
         {"evaluation copy", "M", vector_bytes},
         {"outputs of the layers", "",
          activation_bytes(settings.model, settings.training.batch_per_peer,
                           evaluation_slice_default)},
         {"scratch memory of the layers", "",
          scratch_bytes(settings.model, settings.training.threads)},
         {"data set", "", run.data_bytes},
         {"program and buffers", "", program_bytes}});
}

}  // namespace ako
