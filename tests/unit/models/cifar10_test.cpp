// The reader of CIFAR-10's published files: the order of planes and pixels, and damaged files.
#include "models/cifar10.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "refusal.h"
#include "tests/temporary_folder.h"

namespace ako::cifar10_test {

namespace {

using test::Bytes;
using test::check_refused;

constexpr std::size_t record_bytes = 3073;

/// Records whose pixels tell their plane: 10 times the label and 0, 1 or 2, but for the corners of
/// the image.
Bytes records(const Bytes& labels) {
    Bytes bytes;
    for (const std::uint8_t label : labels) {
        bytes.push_back(label);
        for (int plane = 0; plane < 3; ++plane)
            for (int pixel = 0; pixel < 1024; ++pixel)
                bytes.push_back(static_cast<std::uint8_t>(pixel == 31    ? 200 + plane
                                                          : pixel == 992 ? 210 + plane
                                                                         : 10 * label + plane));
    }
    return bytes;
}

void write_set(const std::string& folder) {
    for (int k = 1; k <= 5; ++k)
        test::write_bytes(folder + "/data_batch_" + std::to_string(k) + ".bin",
                          records({static_cast<std::uint8_t>(k), 0}));
    test::write_bytes(folder + "/test_batch.bin", records({7}));
}

TEST_CASE("cifar10: channels become last, files follow one another") {
    const test::TemporaryFolder folder;
    write_set(folder.path());
    const LabelledImages train = read_cifar10(folder.path(), true, 10);
    CHECK(train.labels == Labels{1, 0, 2, 0, 3, 0, 4, 0, 5, 0});
    CHECK(train.images.count == 10);
    CHECK(train.images.shape == Shape{32, 32, 3});
    const Bytes& bytes = train.images.bytes;
    REQUIRE(bytes.size() == 10 * 3072);
    CHECK(Bytes(bytes.begin(), bytes.begin() + 6) == Bytes{10, 11, 12, 10, 11, 12});
    CHECK(Bytes(bytes.begin() + 31 * 3, bytes.begin() + 32 * 3) == Bytes{200, 201, 202});
    CHECK(Bytes(bytes.begin() + 992 * 3, bytes.begin() + 993 * 3) == Bytes{210, 211, 212});
    CHECK(bytes[8 * 3072] == 50);
    const LabelledImages test = read_cifar10(folder.path(), false, 10);
    CHECK(test.labels == Labels{7});
    CHECK(test.images.bytes[0] == 70);
}

TEST_CASE("cifar10: found in the folder that the archive unpacks to") {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("cifar-10-batches-bin"));
    write_set(folder.file("cifar-10-batches-bin"));
    CHECK(read_cifar10(folder.path(), false, 10).labels == Labels{7});
}

TEST_CASE("cifar10: damaged and missing files, labels that are none") {
    const test::TemporaryFolder folder;
    const auto train = [&] { read_cifar10(folder.path(), true, 10); };
    check_refused(train, folder.path(), {"no test_batch.bin", "cifar-10-batches-bin", "fetch"});
    write_set(folder.path());
    const std::string third = folder.file("data_batch_3.bin");
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, record_bytes - 1,
                                     record_bytes + 1, 2 * record_bytes - 1}) {
        Bytes bytes = records({1, 2});
        bytes.resize(length);
        test::write_bytes(third, bytes);
        check_refused(train, third, {"records of 3073", "found " + std::to_string(length)});
    }
    test::write_bytes(third, records({1, 10}));
    check_refused(train, third, {"label 10 of item 1"});
    std::filesystem::remove(third);
    check_refused(train, third, {"No such file"});
    check_refused([&] { read_cifar10(folder.path(), false, 5); }, folder.file("test_batch.bin"),
                  {"label 7 of item 0", "0 to 4"});
}

}  // namespace
}  // namespace ako::cifar10_test
