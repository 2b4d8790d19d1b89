// The idx reader takes good files, plain and compressed, and names what is wrong with others; the
// data set finds, checks and normalises the files of a folder.
#include "models/dataset.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "models/idx.h"
#include "refusal.h"
#include "tests/in_source.h"
#include "tests/temporary_folder.h"

namespace ako::dataset_test {

namespace {

using test::Bytes;
using test::check_refused;

void put(Bytes& bytes, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

Bytes image_file(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
    Bytes bytes;
    for (const std::uint32_t word : {0x803u, count, rows, columns}) put(bytes, word);
    for (std::uint32_t k = 0; k < count * rows * columns; ++k)
        bytes.push_back(static_cast<std::uint8_t>(k));
    return bytes;
}

Bytes label_file(const Bytes& labels) {
    Bytes bytes;
    put(bytes, 0x801);
    put(bytes, static_cast<std::uint32_t>(labels.size()));
    bytes.insert(bytes.end(), labels.begin(), labels.end());
    return bytes;
}

void write(const std::string& path, const Bytes& bytes) { test::write_bytes(path, bytes); }

Bytes read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

void write_gzip(const std::string& path, const Bytes& bytes) {
    const gzFile file = gzopen(path.c_str(), "wb");
    REQUIRE(file != nullptr);
    REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    REQUIRE(gzclose(file) == Z_OK);
}

void check_images_refused(const Bytes& bytes, const std::vector<std::string>& texts) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("images");
    write(path, bytes);
    check_refused([&] { read_idx_images(path); }, path, texts);
    // The same damage inside a good gzip file.
    write_gzip(path, bytes);
    check_refused([&] { read_idx_images(path); }, path, texts);
}

TEST_CASE("idx: good files, plain and compressed, of any number and size") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("file");
    for (const auto& [count, rows, columns] :
         {std::array{1u, 1u, 1u}, std::array{3u, 4u, 5u}, std::array{0u, 28u, 28u}}) {
        const Bytes bytes = image_file(count, rows, columns);
        for (const auto& writer : {write, write_gzip}) {
            writer(path, bytes);
            const Images images = read_idx_images(path);
            CHECK(images.count == count);
            CHECK(images.shape == Shape{rows, columns, 1});
            CHECK(images.bytes == Bytes(bytes.begin() + 16, bytes.end()));
        }
    }
    const Bytes labels{9, 0, 3};
    for (const auto& writer : {write, write_gzip}) {
        writer(path, label_file(labels));
        CHECK(read_idx_labels(path, 10) == labels);
    }
}

TEST_CASE("idx: larger than one chunk of the reader") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("file");
    const Bytes bytes = image_file(700, 40, 75);  // 2.1 MB
    for (const auto& writer : {write, write_gzip}) {
        writer(path, bytes);
        CHECK(read_idx_images(path).bytes == Bytes(bytes.begin() + 16, bytes.end()));
    }
}

TEST_CASE("idx: wrong magic numbers") {
    Bytes bytes = image_file(2, 3, 3);
    bytes[3] = 1;
    check_images_refused(bytes, {"magic", "expected 2051", "found 2049"});
    bytes[3] = 3;
    bytes[2] = 0x0d;  // floats
    check_images_refused(bytes, {"magic", "expected 2051", "found 3331"});
    const test::TemporaryFolder folder;
    write(folder.file("labels"), image_file(2, 3, 3));
    check_refused([&] { read_idx_labels(folder.file("labels"), 10); }, folder.file("labels"),
                  {"magic", "expected 2049", "found 2051"});
}

TEST_CASE("idx: every truncation, and bytes too many") {
    const Bytes bytes = image_file(2, 2, 2);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        CAPTURE(length);
        const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
        if (length < 16)
            check_images_refused(cut, {"header", "16 bytes", "found " + std::to_string(length)});
        else
            check_images_refused(cut, {"size", "8 bytes", "found " + std::to_string(length - 16)});
    }
    Bytes longer = bytes;
    longer.push_back(0);
    check_images_refused(longer, {"size", "8 bytes", "found 9"});
}

TEST_CASE("idx: extents that do not match, and absurd ones") {
    Bytes bytes = image_file(2, 3, 4);
    bytes[7] = 3;
    check_images_refused(bytes, {"size", "36 bytes", "found 24"});
    std::fill(bytes.begin() + 4, bytes.begin() + 16, std::uint8_t{0xff});  // (2^32 - 1)^3 pixels
    check_images_refused(bytes, {"announces more than"});
    check_images_refused(image_file(2, 0, 4), {"0 x 4"});
}

TEST_CASE("idx: damaged compression") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("file.gz");
    write_gzip(path, image_file(40, 9, 9));
    const Bytes good = read(path);
    const auto reading = [&] { read_idx_images(path); };
    for (std::size_t length = 2; length < good.size(); ++length) {
        CAPTURE(length);
        write(path, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)));
        check_refused(reading, path, {"ends too early"});
    }
    Bytes wrong = good;
    wrong[wrong.size() - 6] ^= 1;  // of the checksum
    write(path, wrong);
    check_refused(reading, path, {"damaged", "incorrect data check"});
    wrong = good;
    wrong.push_back(7);
    write(path, wrong);
    check_refused(reading, path, {"1 bytes follow"});
}

TEST_CASE("idx: labels out of range, missing files, folders") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("labels");
    write(path, label_file({1, 9, 10, 3}));
    check_refused([&] { read_idx_labels(path, 10); }, path, {"label 10 of item 2", "0 to 9"});
    CHECK(read_idx_labels(path, 11).size() == 4);
    check_refused([&] { read_idx_labels(folder.file("none"), 10); }, folder.file("none"),
                  {"No such file"});
    check_refused([&] { read_idx_labels(folder.path(), 10); }, folder.path(), {"folder"});
}

DataSettings mnist_in(const std::string& folder) {
    return {DataFormat::idx, folder, {0.1307}, {0.3081}, Sharding::disjoint};
}

TEST_CASE("dataset: finds, checks and normalises the files of a folder") {
    const test::TemporaryFolder folder;
    const DataShape wanted{{2, 50, 1}, 10};
    const auto train = [&] {
        return load_dataset(mnist_in(folder.path()), DataPart::train, wanted);
    };
    const auto test = [&] { return load_dataset(mnist_in(folder.path()), DataPart::test, wanted); };
    check_refused(train, folder.file("train-images-idx3-ubyte"), {"no such file", ".gz"});
    write(folder.file("train-images-idx3-ubyte"), image_file(3, 2, 50));
    check_refused(train, folder.file("train-labels-idx1-ubyte"), {"no such file"});
    write_gzip(folder.file("train-labels-idx1-ubyte.gz"), label_file({1, 2}));
    check_refused(train, folder.file("train-images-idx3-ubyte"), {"2 labels", "3 images"});
    write_gzip(folder.file("train-labels-idx1-ubyte.gz"), label_file({1, 2, 9}));

    const Dataset dataset = train();
    CHECK(dataset.size() == 3);
    CHECK(dataset.image_elements() == 100);
    CHECK(dataset.bytes() == 303);
    CHECK(dataset.label(2) == 9);
    std::vector<float> image(100);
    dataset.copy_normalised(2, image.data());
    CHECK(image[55] == doctest::Approx((1.0 - 0.1307) / 0.3081));  // pixel 255
    CHECK(image[56] == doctest::Approx(-0.1307 / 0.3081));         // pixel 0

    check_refused(test, folder.file("t10k-images-idx3-ubyte"), {"no such file"});
    write(folder.file("t10k-images-idx3-ubyte"), image_file(0, 28, 28));
    write(folder.file("t10k-labels-idx1-ubyte"), label_file({}));
    check_refused(test, folder.file("t10k-images-idx3-ubyte"), {"no images"});
}

TEST_CASE("dataset: images and labels that the network does not take") {
    const test::TemporaryFolder folder;
    write(folder.file("train-images-idx3-ubyte"), image_file(3, 4, 5));
    write(folder.file("train-labels-idx1-ubyte"), label_file({1, 2, 3}));
    DataSettings settings = mnist_in(folder.path());
    const auto load = [&](const DataShape& wanted) {
        return [=] { load_dataset(settings, DataPart::train, wanted); };
    };
    check_refused(load({{28, 28, 1}, 10}), folder.file("train-images-idx3-ubyte"),
                  {"4 x 5 x 1", "takes 28 x 28 x 1", "model.input"});
    check_refused(load({{4, 5, 1}, 3}), folder.file("train-labels-idx1-ubyte"),
                  {"label 3 of item 2", "0 to 2", "3 outputs", "last layer"});
    CHECK_NOTHROW(load({{4, 5, 1}, 4})());
    settings.mean = {0.1, 0.2, 0.3};
    check_refused(load({{4, 5, 1}, 4}), "data.normalisation.mean", {"3 numbers", "1 channels"});
    settings.mean = {0.1};
    settings.augmentation.crop = 4;
    check_refused(load({{4, 5, 1}, 4}), "data.augmentation.crop", {"4 x 5 x 1", "below 4"});
    settings.augmentation.crop = 3;
    CHECK_NOTHROW(load({{4, 5, 1}, 4})());
}

TEST_CASE("dataset: every channel has its own normalisation, bytes and floats alike") {
    const Normalisation normalisation{{0.5, 0.25}, {2}};
    const Dataset bytes({1, {1, 2, 2}, {51, 102, 0, 255}, {}}, {0}, normalisation);
    const Dataset floats({1, {1, 2, 2}, {}, {0.2f, 0.4f, 0, 1}}, {0}, normalisation);
    for (const Dataset* dataset : {&bytes, &floats}) {
        std::vector<float> out(4);
        dataset->copy_normalised(0, out.data());
        CHECK(out[0] == doctest::Approx((0.2 - 0.5) / 2));
        CHECK(out[1] == doctest::Approx((0.4 - 0.25) / 2));
        CHECK(out[2] == doctest::Approx(-0.25));
        CHECK(out[3] == doctest::Approx(0.375));
    }
}

TEST_CASE("sequential batches: slices in the set's order, cut off at its end") {
    const Dataset dataset({5, {1, 1, 1}, {0, 51, 102, 153, 204}, {}}, {4, 3, 2, 1, 0});
    SequentialBatches batches(dataset);
    const Batch first = batches.slice(0, 3);
    CHECK(first.count == 3);
    CHECK(first.images[1] == doctest::Approx(0.2));
    CHECK(std::vector<std::uint8_t>(first.labels.begin(), first.labels.end()) == Bytes{4, 3, 2});
    const Batch last = batches.slice(3, 3);
    CHECK(last.count == 2);
    REQUIRE(last.images.size() == 2);
    CHECK(last.images[1] == doctest::Approx(0.8));
    CHECK(last.labels[1] == 0);
}

TEST_CASE("dataset: MNIST as it ships with the repository") {
    const Dataset test = load_dataset(mnist_in(test::in_source("experiments/mnist/data")),
                                      DataPart::test, {{28, 28, 1}, 10});
    CHECK(test.size() == 10'000);
    CHECK(test.label(0) == 7);
    std::vector<int> counts(10);
    for (std::size_t k = 0; k < test.size(); ++k) ++counts[test.label(k)];
    CHECK(counts == std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
}

}  // namespace
}  // namespace ako::dataset_test
