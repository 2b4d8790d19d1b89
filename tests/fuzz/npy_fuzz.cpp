// Fuzz target: whatever a .npy file holds, the images and labels that are read of it are as many as
// its shape says and within their range, or it is refused with a StartupError.
#include <algorithm>
#include <cstdint>
#include <string>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/npy.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ako;
    static test::MemoryFile file;
    const std::string path = file.holding(data, size);
    try {
        const Images images = read_npy_images(path);
        AKO_ASSERT(images.bytes.size() + images.numbers.size() ==
                       images.count * images.shape.element_count(),
                   "pixels are missing");
    } catch (const StartupError&) {
    }
    try {
        const Labels labels = read_npy_labels(path, 10);
        AKO_ASSERT(std::all_of(labels.begin(), labels.end(), [](auto label) { return label < 10; }),
                   "a label is out of range");
    } catch (const StartupError&) {
    }
    return 0;
}
