// See engine_table.h.
#include "src/engines/engine_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ako/error.h"
#include "src/config/nearest_word.h"
#include "src/engines/kubernetes.h"
#include "src/engines/slurm.h"
#include "src/engines/swarm.h"

namespace ako {

const std::vector<const Engine*>& engines() {
    static const SlurmEngine slurm;
    static const SwarmEngine swarm;
    static const KubernetesEngine kubernetes;
    static const std::vector<const Engine*> all = {&slurm, &swarm, &kubernetes};
    return all;
}

const Engine& engine_named(const std::string& word) {
    for (const Engine* engine : engines())
        if (engine->word() == word) return *engine;
    std::vector<std::string> words;
    for (const Engine* engine : engines()) words.emplace_back(engine->word());
    throw StartupError(
        fmt::format("there is no engine {}: they are {}", word, fmt::join(words, ", ")),
        did_you_mean(word, words));
}

}  // namespace ako
