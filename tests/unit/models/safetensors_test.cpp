// Safetensors files: what is written can be read, in the published format; damage is named.
#include "models/safetensors.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "ako/error.h"
#include "tests/temporary_folder.h"

namespace ako::safetensors_test {

namespace {

const std::vector<Tensor> tensors{{"a.weight", {2, 3}, 0}, {"a.bias", {2}, 6}};
const std::vector<float> parameters{1, 2, 3, 4, 5, 6, -7, 0.5f};

std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A file with this header and these data.
std::string assemble(const std::string& header, const std::vector<float>& data) {
    const std::uint64_t header_bytes = header.size();
    std::string bytes(reinterpret_cast<const char*>(&header_bytes), 8);
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float));
    return bytes;
}

void check_refused(const std::string& bytes, const std::string& text) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    std::ofstream(path, std::ios::binary) << bytes;
    try {
        read_safetensors(path, tensors);
        FAIL("accepted: expected " << text);
    } catch (const StartupError& error) {
        const std::string what = error.what();
        CAPTURE(what);
        CAPTURE(text);
        CHECK(what.find(path) == 0);
        CHECK(what.find(text) != std::string::npos);
    }
}

TEST_CASE("safetensors: round trip, over an older file, leaving nothing else behind") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    std::ofstream(path) << "older";
    write_safetensors(path, tensors, parameters, {{"run", "a \"quoted\" name"}});
    CHECK(read_safetensors(path, tensors) == parameters);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        CHECK(entry.path() == path);
        ++files;
    }
    CHECK(files == 1);
}

TEST_CASE("safetensors: the bytes are those of the published format") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    write_safetensors(path, tensors, parameters, {{"k", "v"}});
    std::string header = R"({"__metadata__":{"crc32":"4e344787","k":"v"},)"
                         R"("a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                         R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    CHECK(slurp(path) == assemble(header, parameters));
    CHECK(header.size() % 8 == 0);
}

TEST_CASE("safetensors: tensors in another order than ours are put in their places") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    std::ofstream(path, std::ios::binary)
        << assemble(R"({"a.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                    R"("a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}})",
                    {-7, 0.5f, 1, 2, 3, 4, 5, 6});
    CHECK(read_safetensors(path, tensors) == parameters);
}

TEST_CASE("safetensors: every truncation and a byte too many are refused") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    write_safetensors(path, tensors, parameters, {});
    const std::string bytes = slurp(path);
    for (std::size_t length = 0; length < bytes.size(); ++length)
        check_refused(bytes.substr(0, length), "");
    check_refused(bytes + '\0', "expected 32 bytes of data, found 33");
}

TEST_CASE("safetensors: damage is named") {
    const std::string bias = R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]})";
    const std::string weight = R"("a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})";
    const auto file = [&](const std::string& first, const std::string& second) {
        return assemble("{" + first + "," + second + "}", parameters);
    };
    check_refused(file(weight, R"("b":{"dtype":"F32","shape":[2],"data_offsets":[24,32]})"),
                  "a.bias: expected shape [2], there is no such tensor");
    check_refused(file(weight + "," + bias, R"("c":{})"), "c: found with shape null, the network");
    check_refused(file(weight, R"("a.bias":{"dtype":"F16","shape":[2],"data_offsets":[24,32]})"),
                  R"(expected dtype "F32", found "F16")");
    check_refused(file(weight, R"("a.bias":{"dtype":"F32","shape":[1,2],"data_offsets":[24,32]})"),
                  "expected shape [2], found [1,2]");
    check_refused(file(weight, R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":[28,36]})"),
                  "data_offsets [28,36]");
    check_refused(file(weight, R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":[32,24]})"),
                  "data_offsets [32,24]");
    check_refused(file(weight, R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]})"),
                  "data_offsets [-8,0]");
    check_refused(file(weight, R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":[16,24]})"),
                  "overlap");
    // An end before its begin whose distance, modulo 2^64, is right.
    check_refused(file(weight, R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":)"
                               R"([18446744073709551608,0]})"),
                  "data_offsets [18446744073709551608,0]");
    check_refused(file(weight, R"("a.bias":{"dtype":"F32","shape":[2]})"), "data_offsets null");
    check_refused(file(weight, R"("a.bias":7)"), "there is no such tensor");
    check_refused(file(weight + "," + bias, R"("__metadata__":{"crc32":"00000000"})"),
                  R"(have the checksum "4e344787", it states "00000000")");
    check_refused(file(weight + "," + bias, R"("__metadata__":{"crc32":7})"), "it states 7");
    check_refused(assemble("[1,2]", parameters), "not a JSON object");
    check_refused(assemble("{\"a\":", parameters), "not a JSON object");
    check_refused(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8), "announces a header");
}

TEST_CASE("safetensors: every mismatch is listed, up to a dozen") {
    std::string all = R"("a.weight":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]})";
    check_refused(assemble("{" + all + "}", parameters),
                  "does not fit the network:\n"
                  "       a.weight: expected shape [2,3], found [3,2]\n"
                  "       a.bias: expected shape [2], there is no such tensor");
    for (int k = 0; k < 12; ++k) all += ",\"x" + std::to_string(k) + "\":{\"shape\":[1]}";
    check_refused(assemble("{" + all + "}", parameters),
                  "x7: found with shape [1], the network has no such tensor\n       and 2 more");
}

TEST_CASE("safetensors: every bit of the data that flips is noticed") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    write_safetensors(path, tensors, parameters, {});
    const std::string bytes = slurp(path);
    for (std::size_t bit = (bytes.size() - 32) * 8; bit < bytes.size() * 8; ++bit) {
        std::string damaged = bytes;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        check_refused(damaged, "checksum");
    }
}

TEST_CASE("safetensors: the file before is kept if asked for") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    const std::string kept = folder.file("before.safetensors");
    std::vector<float> values = parameters;
    write_safetensors(path, tensors, values, {}, kept);
    CHECK_FALSE(std::filesystem::exists(kept));
    for (float first = 10; first < 13; ++first) {
        const float before = std::exchange(values[0], first);
        write_safetensors(path, tensors, values, {}, kept);
        CHECK(read_safetensors(path, tensors)[0] == first);
        CHECK(read_safetensors(kept, tensors)[0] == before);
    }
}

TEST_CASE("safetensors: a file that cannot be given its name leaves nothing behind") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    std::filesystem::create_directory(path);
    CHECK_THROWS_WITH_AS(write_safetensors(path, tensors, parameters, {}),
                         doctest::Contains("model.safetensors: cannot be written"), StartupError);
    std::filesystem::remove(path);
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("safetensors: a missing file and a folder that cannot be written are named") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("no/model.safetensors");
    CHECK_THROWS_WITH_AS(read_safetensors(path, tensors),
                         doctest::Contains("model.safetensors: cannot be opened"), StartupError);
    CHECK_THROWS_WITH_AS(write_safetensors(path, tensors, parameters, {}),
                         doctest::Contains("cannot be written: No such file"), StartupError);
}

}  // namespace
}  // namespace ako::safetensors_test
