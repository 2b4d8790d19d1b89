// Fuzz target: whatever text a cluster file has, it is read or refused with a StartupError; and
// what was read is written as a file that reads back as the same settings. What stands behind a
// zero byte in the input is one `--set`.
#include <cstdint>
#include <string>
#include <vector>

#include "ako/assert.h"
#include "ako/error.h"
#include "src/config/cluster_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ako;
    const std::string input(reinterpret_cast<const char*>(data), size);
    const std::size_t zero = input.find('\0');
    std::vector<std::string> overrides;
    if (zero != std::string::npos) overrides.push_back(input.substr(zero + 1));
    Settings settings;
    try {
        settings = read_cluster_text(input.substr(0, zero), "fuzz.yaml", overrides);
    } catch (const StartupError&) {
        return 0;
    }
    const std::string written = write_cluster_text(settings);
    const Settings again = read_cluster_text(written, settings.file, {});
    AKO_ASSERT(again == settings, written);
    AKO_ASSERT(training_digest_text(again) == training_digest_text(settings), written);
    return 0;
}
