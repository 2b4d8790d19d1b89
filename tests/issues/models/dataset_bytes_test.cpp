// The memory limit was looked at after the data had been read: `memory_mb_max: 200` did not keep a
// folder of 64 GB from being read, and the system ended the process. The plan is made of headers
// and sizes of files now; what they say is what is held once the data is loaded.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "models/dataset.h"
#include "tests/in_source.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/refusal.h"

namespace ako::dataset_bytes_test {

namespace {

void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// An array of NumPy; `elements` may be fewer than its shape says.
std::string npy(const std::string& type, const std::string& shape, const std::string& elements) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    std::string text = "\x93NUMPY\x01";
    text += '\0';
    text += static_cast<char>(header.size());
    text += '\0';
    return text + header + elements;
}

void check_as_loaded(DataSettings settings, const DataShape& wanted) {
    settings.mean = {0};
    settings.deviation = {1};
    for (const DataPart part : {DataPart::train, DataPart::test})
        CHECK(dataset_bytes(settings, part) == load_dataset(settings, part, wanted).bytes());
}

TEST_CASE("issue: MNIST, compressed, takes what its files say") {
    DataSettings settings;
    settings.path = test::in_source("experiments/mnist/data");
    check_as_loaded(settings, {{28, 28, 1}, 10});
}

// The length at the end of a compressed file is not there when its download broke off: by whatever
// stood there instead, the plan asked for gigabytes, and nobody was told that the file is cut.
TEST_CASE("issue: of a compressed file that is cut, its header tells what it takes") {
    namespace fs = std::filesystem;
    const test::TemporaryFolder folder;
    fs::copy(test::in_source("experiments/mnist/data"), folder.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    DataSettings settings;
    settings.path = folder.path();
    const std::size_t whole = dataset_bytes(settings, DataPart::train);
    const std::string images = folder.file("train-images-idx3-ubyte.gz");
    for (const std::size_t tenths : {1, 4, 7, 9}) {
        fs::resize_file(images, fs::file_size(images) * tenths / 10);
        CHECK(dataset_bytes(settings, DataPart::train) == whole);
    }
}

TEST_CASE("issue: arrays take what their headers say") {
    const test::TemporaryFolder folder;
    DataSettings settings;
    settings.format = DataFormat::npy;
    settings.path = folder.path();
    for (const std::string kind : {"train", "test"})
        write(folder.file(kind + "_labels.npy"), npy("<i8", "(3,)", std::string(24, '\0')));
    write(folder.file("train_images.npy"), npy("|u1", "(3, 2, 2)", std::string(12, '\1')));
    write(folder.file("test_images.npy"), npy("<f4", "(3, 2, 2)", std::string(48, '\0')));
    check_as_loaded(settings, {{2, 2, 1}, 2});
    CHECK(dataset_bytes(settings, DataPart::test) == 51);
}

TEST_CASE("issue: CIFAR-10 takes the sizes of its files") {
    const test::TemporaryFolder folder;
    DataSettings settings;
    settings.format = DataFormat::cifar10;
    settings.path = folder.path();
    const std::string record(3073, '\0');
    write(folder.file("test_batch.bin"), record + record);
    for (int k = 1; k <= 5; ++k)
        write(folder.file("data_batch_" + std::to_string(k) + ".bin"), record);
    check_as_loaded(settings, {{32, 32, 3}, 10});
}

TEST_CASE("issue: files that are not there are named before anything is read") {
    const test::TemporaryFolder folder;
    DataSettings settings;
    settings.path = folder.path();
    test::check_refused([&] { dataset_bytes(settings, DataPart::train); },
                        folder.file("train-images-idx3-ubyte"), {"there is no such file"});
}

}  // namespace
}  // namespace ako::dataset_bytes_test
