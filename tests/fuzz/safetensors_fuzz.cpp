// Fuzz target: whatever a safetensors file holds, its tensors are read, all of them, or it is
// refused with a StartupError.
#include <cstdint>
#include <vector>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/safetensors.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ako;
    static test::MemoryFile file;
    static const std::vector<Tensor> tensors = {{"a.weight", {2, 3}, 0}, {"a.bias", {2}, 6}};
    try {
        const std::vector<float> read = read_safetensors(file.holding(data, size), tensors);
        AKO_ASSERT(read.size() == 8, "parameters are missing");
    } catch (const StartupError&) {
    }
    return 0;
}
