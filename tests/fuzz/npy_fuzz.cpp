// Fuzz target: whatever a .npy file or an .npz archive holds, the images and labels that are read
// of it are as many as its shape says and within their range, or it is refused with a StartupError.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/npy.h"
#include "models/npz.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace ako;

void read(const ArrayPlace& place) {
    try {
        const Images images = read_npy_images(place).images;
        AKO_ASSERT(images.bytes.size() + images.numbers.size() ==
                       images.count * images.shape.element_count(),
                   "pixels are missing");
        AKO_ASSERT(
            npy_image_bytes(place) == images.bytes.size() + images.numbers.size() * sizeof(float),
            "another size than planned");
    } catch (const StartupError&) {
    }
    try {
        const Labels labels = read_npy_labels(place, 10).labels;
        AKO_ASSERT(std::all_of(labels.begin(), labels.end(), [](auto label) { return label < 10; }),
                   "a label is out of range");
        AKO_ASSERT(npy_label_bytes(place) == labels.size(), "another size than planned");
    } catch (const StartupError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static test::MemoryFile file;
    const std::string path = file.holding(data, size);
    read(path);
    std::vector<NpzMember> members;
    try {
        members = read_npz_directory(path);
    } catch (const StartupError&) {
    }
    for (const NpzMember& member : members) read({path, member.name});
    return 0;
}
