// Checkpoints of a pretended run, for the tests of their files.
#pragma once

#include <string>

#include "src/numbers/digest.h"
#include "src/results/checkpoint_folder.h"
#include "tests/temporary_folder.h"

namespace ako::test {

inline CheckpointOwner owner_of(const std::string& peer) {
    return {"mnist",          peer,          {"a", "b", "c"}, sha256("settings\n"),
            sha256("layout"), sha256("one"), "settings\n"};
}

/// A checkpoint of that round and of so many parameters, with numbers that follow from the round.
inline Checkpoint checkpoint_of(Round round, std::size_t parameter_count) {
    Checkpoint made;
    made.id = {0x3f2a000000000001, round};
    made.samples = round * 64;
    made.progress = static_cast<double>(round) / 3000;
    made.numbers = {{"known.rounds_total", round * 3}};
    made.floats["parameters"].assign(parameter_count, static_cast<float>(round) + 0.5F);
    for (std::size_t k = 0; k < parameter_count; ++k)
        made.floats["parameters"][k] += static_cast<float>(k) * 0.25F;
    return made;
}

}  // namespace ako::test
