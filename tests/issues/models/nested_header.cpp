// A safetensors file whose header has lists within lists, 200 kB of '[', ended `ako check` with a
// segmentation fault: what writes JSON for a message calls itself for each level. A header was also
// taken up to 100 MB, of which a list of numbers becomes 16 times as much in memory. Now a header
// has three levels and at most 4 MiB, and a message repeats little of it.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "models/safetensors.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/refusal.h"

namespace ako::nested_header {

namespace {

const std::vector<Tensor> tensors{{"a", {2}, 0}};

void check_refused(const std::string& header, const std::string& text) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    const std::uint64_t header_bytes = header.size();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(&header_bytes), sizeof header_bytes)
        .write(header.data(), static_cast<std::streamsize>(header.size()))
        .write("12345678", 8);
    test::check_refused([&] { read_safetensors(path, tensors); }, path, {text});
}

std::string nested(const std::string& open, const std::string& close, std::size_t levels) {
    std::string text;
    for (std::size_t k = 0; k < levels; ++k) text += open;
    text += "1";
    for (std::size_t k = 0; k < levels; ++k) text += close;
    return text;
}

TEST_CASE("issue: a header of deep lists or objects is refused") {
    for (const std::size_t levels : {2, 200'000}) {
        CAPTURE(levels);
        const std::string list = nested("[", "]", levels);
        const std::string object = nested("{\"a\":", "}", levels);
        const std::string text = "not a JSON object of tensors";
        check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":" + list + "}}", text);
        check_refused("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":" + list + "}}", text);
        check_refused("{\"a\":{\"dtype\":" + object + "}}", text);
        check_refused("{\"__metadata__\":{\"crc32\":" + object + "}}", text);
        check_refused("{\"b\":{\"shape\":" + list + "}}", text);
    }
    check_refused("{" + std::string(300'000, '['), "not a JSON object");
    check_refused(nested("[", "]", 300'000), "not a JSON object");
}

TEST_CASE("issue: a long header is refused before it is read, a long value is not repeated") {
    const std::string blanks(std::size_t{4} << 20, ' ');
    check_refused("{}" + blanks, "announces a header of 4194306 bytes");
    const std::string numbers = nested("1,", "", 1'000'000);
    check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[" + numbers + "]}}", "[1,1,1,1,");
    check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[" + numbers + "]}}", "1,1..");
}

}  // namespace
}  // namespace ako::nested_header
