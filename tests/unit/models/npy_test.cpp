// The npy reader takes what numpy.save writes of images and labels, and says of everything else
// what it is and what to do in NumPy.
#include "models/npy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "models/dataset.h"
#include "npy_file.h"
#include "refusal.h"
#include "tests/temporary_folder.h"

namespace ako::npy_test {

namespace {

using test::Bytes;
using test::check_refused;
using test::npy_file;

const std::vector<std::uint8_t> twelve{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

void check_images_refused(const Bytes& bytes, const std::vector<std::string>& texts) {
    const test::TemporaryFolder folder;
    test::write_bytes(folder.file("x.npy"), bytes);
    check_refused([&] { read_npy_images(folder.file("x.npy")); }, folder.file("x.npy"), texts);
}

void check_labels_refused(const Bytes& bytes, const std::vector<std::string>& texts) {
    const test::TemporaryFolder folder;
    test::write_bytes(folder.file("y.npy"), bytes);
    check_refused([&] { read_npy_labels(folder.file("y.npy"), 10); }, folder.file("y.npy"), texts);
}

TEST_CASE("npy: images of uint8 and float32, grey and with channels, of every version") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("x.npy");
    for (const int version : {1, 2, 3}) {
        test::write_bytes(path, npy_file("|u1", "(2, 2, 3)", twelve, "False", version));
        const Images grey = read_npy_images(path).images;
        CHECK(grey.count == 2);
        CHECK(grey.shape == Shape{2, 3, 1});
        CHECK(grey.bytes == twelve);
        CHECK(grey.numbers.empty());
    }
    const std::vector<float> numbers{0.5f, -1, 3, 1e9f};
    test::write_bytes(path, npy_file("<f4", "(1, 1, 2, 2)", numbers));
    const Images coloured = read_npy_images(path).images;
    CHECK(coloured.shape == Shape{1, 2, 2});
    CHECK(coloured.numbers == numbers);
    CHECK(coloured.bytes.empty());
}

TEST_CASE("npy: images of other numbers are converted, and a note says so") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("x.npy");
    const auto check = [&](const Bytes& bytes, const std::vector<float>& numbers,
                           const std::string& note) {
        test::write_bytes(path, bytes);
        const NotedImages read = read_npy_images(path);
        CHECK(read.images.numbers == numbers);
        CHECK(read.images.bytes.empty());
        CHECK(read.note == note);
        CHECK(npy_image_bytes(path) == numbers.size() * sizeof(float));
    };
    check(npy_file("<f8", "(1, 1, 2)", std::vector<double>{0.1, -2}), {0.1F, -2},
          "float64 is read as float32 and rounded");
    // 1, the smallest, the largest and -0.5 of binary16.
    check(npy_file("<f2", "(1, 1, 4)", std::vector<std::uint16_t>{0x3c00, 1, 0x7bff, 0xb800}),
          {1, 0x1p-24F, 65504, -0.5F}, "float16 is read as float32");
    check(npy_file("<u2", "(1, 1, 2)", std::vector<std::uint16_t>{0, 65535}), {0, 65535},
          "uint16 is read as float32 as it is (0 to 65535): only uint8 is divided by 255");
    check(npy_file("|i1", "(1, 1, 2)", std::vector<std::int8_t>{-128, 127}), {-128, 127},
          "int8 is read as float32 as it is (-128 to 127): only uint8 is divided by 255");
    check(npy_file(">i4", "(1, 1, 2)", std::vector<std::uint32_t>{0x01000000, 0xffffffff}), {1, -1},
          "big-endian int32 is read as float32 as it is (-1 to 1): only uint8 is divided by 255");
    check(npy_file("<f4", "(1, 2, 3)", std::vector<float>{1, 2, 3, 4, 5, 6}, "True"),
          {1, 3, 5, 2, 4, 6}, "float32 in Fortran order is read as float32");
}

TEST_CASE("npy: truth is 0 and 1, and Fortran order is put into rows") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("x.npy");
    test::write_bytes(path, npy_file("|b1", "(1, 1, 3)", std::vector<std::uint8_t>{0, 1, 1}));
    const NotedImages truth = read_npy_images(path);
    CHECK(truth.images.bytes == std::vector<std::uint8_t>{0, 255, 255});  // divided by 255 later
    CHECK(truth.note == "bool is read as 0 and 1");
    // The place of element [n, y, x] in the file is n + 2 y + 4 x.
    test::write_bytes(path, npy_file("|u1", "(2, 2, 3)", twelve, "True"));
    const NotedImages rows = read_npy_images(path);
    CHECK(rows.images.bytes == std::vector<std::uint8_t>{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11});
    CHECK(rows.note == "uint8 in Fortran order is read into rows");
}

TEST_CASE("npy: labels in a column, as floats or turned round, where they are whole") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("y.npy");
    const auto check = [&](const Bytes& bytes, const Labels& expected, const std::string& note) {
        test::write_bytes(path, bytes);
        const NotedLabels read = read_npy_labels(path, 10);
        CHECK(read.labels == expected);
        CHECK(read.note == note);
        CHECK(npy_label_bytes(path) == expected.size());
    };
    check(npy_file("<i8", "(3, 1)", std::vector<std::int64_t>{3, 0, 9}), {3, 0, 9},
          "[3, 1] of int64 is read as class numbers");
    check(npy_file("<f8", "(2,)", std::vector<double>{7, 0}), {7, 0},
          "[2] of float64 is read as class numbers");
    check(npy_file("|b1", "(2,)", std::vector<std::uint8_t>{1, 0}), {1, 0},
          "[2] of bool is read as class numbers");
    check(npy_file(">u2", "(1,)", std::vector<std::uint16_t>{0x0500}), {5},
          "[1] of big-endian uint16 is read as class numbers");
    check(npy_file("|u1", "(2,)", std::vector<std::uint8_t>{1, 0}), {1, 0}, "");
}

TEST_CASE("npy: labels of every type of integer") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("y.npy");
    const Labels expected{3, 0, 9};
    const auto check = [&](const Bytes& bytes) {
        test::write_bytes(path, bytes);
        CHECK(read_npy_labels(path, 10).labels == expected);
    };
    check(npy_file("|u1", "(3,)", std::vector<std::uint8_t>{3, 0, 9}));
    check(npy_file("|i1", "(3,)", std::vector<std::int8_t>{3, 0, 9}));
    check(npy_file("<u2", "(3,)", std::vector<std::uint16_t>{3, 0, 9}));
    check(npy_file("<i4", "(3,)", std::vector<std::int32_t>{3, 0, 9}));
    check(npy_file("<i8", "(3,)", std::vector<std::int64_t>{3, 0, 9}));
    check(npy_file("<u8", "(3,)", std::vector<std::uint64_t>{3, 0, 9}));
}

TEST_CASE("npy: labels that are none of the network's outputs") {
    check_labels_refused(npy_file("<i4", "(3,)", std::vector<std::int32_t>{3, 10, 1}),
                         {"label 10 of item 1", "0 to 9"});
    check_labels_refused(npy_file("|i1", "(1,)", std::vector<std::int8_t>{-1}),
                         {"label -1 of item 0"});
    check_labels_refused(npy_file("<i2", "(1,)", std::vector<std::int16_t>{-256}),
                         {"label -256 of item 0"});
    check_labels_refused(npy_file("<u8", "(1,)", std::vector<std::uint64_t>{UINT64_MAX}),
                         {"of item 0"});
    for (const char* type : {"<i16", "<u16", "<u9", "<i3"}) {
        CAPTURE(type);
        const std::size_t width = std::strtoul(type + 2, nullptr, 10);
        check_labels_refused(npy_file(type, "(1,)", std::vector<std::uint8_t>(width, 0)),
                             {"numbers of", type, "astype(numpy.uint8)"});
    }
    for (const float label : {1.5F, -0.5F, std::nanf(""), 1e30F}) {
        CAPTURE(label);
        check_labels_refused(npy_file("<f4", "(2,)", std::vector<float>{1, label}),
                             {"of item 1", "whole number", "numpy.unique(labels"});
    }
    check_labels_refused(npy_file("<f8", "(1,)", std::vector<double>{10}), {"label 10 of item 0"});
    check_labels_refused(npy_file("<U3", "(1,)", std::vector<std::uint8_t>(12, 65)),
                         {"'<U3'", "numpy.unique(labels"});
    check_labels_refused(npy_file("|u1", "(1, 3)", std::vector<std::uint8_t>{3, 0, 9}),
                         {"one dimension", "[1, 3]", "reshape(-1)"});
    // One-hot: reshaped it would be as many labels of 0 and 1 as there are images times classes.
    check_labels_refused(npy_file("|u1", "(2, 3)", std::vector<std::uint8_t>{0, 1, 0, 1, 0, 0}),
                         {"one dimension", "[2, 3]", "one-hot", "argmax(axis=1)"});
    check_labels_refused(npy_file("|u1", "(2, 3, 2)", twelve), {"[2, 3, 2]", "class number"});
}

TEST_CASE("npy: other types, orders and dimensions") {
    check_images_refused(npy_file("<f16", "(1, 1, 1)", std::vector<std::uint8_t>(16)),
                         {"uint8", "'<f16'", "astype(numpy.float32)"});
    check_images_refused(npy_file("<c8", "(1, 1, 1)", std::vector<double>{1}), {"'<c8'"});
    check_images_refused(npy_file("<f1", "(1, 1, 1)", std::vector<std::uint8_t>{1}), {"'<f1'"});
    check_images_refused(npy_file("<f8", "(2, 1, 1)", std::vector<double>{1, -1e39}),
                         {"image 1", "beyond what float32 holds", "images / images.max()"});
    check_images_refused(npy_file("<i4", "(1, 1, 2)", std::vector<std::int32_t>{1 << 24, 16777217}),
                         {"image 0 is 16777217", "exactly", "astype(numpy.float32)"});
    check_images_refused(npy_file("|O", "(1, 1, 1)", std::vector<double>{1}), {"'|O'"});
    check_images_refused(npy_file("<U0", "(1, 1, 1)", std::vector<double>{}), {"'<U0'"});
    check_images_refused(npy_file("|u1", "(2, 2, 3)", twelve, "Maybe"), {"fortran_order"});
    check_images_refused(npy_file("|u1", "(12,)", twelve), {"[count, height, width]", "[12]"});
    check_images_refused(npy_file("|u1", "(3, 4)", twelve), {"[3, 4]", "reshape(-1, 2, 2)"});
    check_images_refused(npy_file("|u1", "(4, 3)", twelve), {"[4, 3]", "channels come last"});
    check_images_refused(npy_file("|u1", "(1, 1, 2, 2, 3)", twelve), {"[1, 1, 2, 2, 3]"});
    check_images_refused(npy_file("|u1", "(3, 0, 4)", std::vector<std::uint8_t>{}),
                         {"without pixels"});
    check_images_refused(npy_file("<f4", "(2, 1, 1)", std::vector<float>{1, std::nanf("")}),
                         {"image 1", "not finite", "nan_to_num"});
    check_images_refused(npy_file(">f8", "(1, 1, 1)", std::vector<std::uint64_t>{0xf07f}),
                         {"image 0", "not finite", "nan_to_num"});  // infinite, turned round
}

TEST_CASE("npy: every truncation, bytes too many, and absurd extents") {
    const Bytes good = npy_file("|u1", "(2, 2, 3)", twelve);
    for (std::size_t length = 0; length < good.size(); ++length) {
        CAPTURE(length);
        const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
        if (length < good.size() - twelve.size())
            check_images_refused(cut, {"numpy.save(\"x.npy\""});
        else
            check_images_refused(cut, {"wrong size", "are 12 bytes", "found"});
    }
    Bytes longer = good;
    longer.push_back(0);
    check_images_refused(longer, {"wrong size", "found 13"});
    check_images_refused(npy_file("|u1", "(18446744073709551615, 2, 3)", twelve), {"more than"});
    check_images_refused(npy_file("|u1", "(4294967296, 4294967296, 3)", twelve), {"more than"});
}

TEST_CASE("npy: what is no such file at all") {
    const test::TemporaryFolder folder;
    check_refused([&] { read_npy_images(folder.file("none.npy")); }, folder.file("none.npy"),
                  {"No such file", "train_images.npy", "train.npz"});
    check_refused([&] { read_npy_images(folder.path()); }, folder.path(), {"opened"});
    check_images_refused({'P', 'K', 3, 4, 0, 0, 0, 0, 0},
                         {".npz", "call it train.npz", "numpy.save"});
    check_images_refused(Bytes(200, 7), {"NUMPY"});
    Bytes future = npy_file("|u1", "(2, 2, 3)", twelve);
    future[6] = 9;
    check_images_refused(future, {"version 9"});
    check_images_refused(npy_file("|u1", "[2, 2, 3]", twelve), {"shape"});
    check_images_refused(npy_file("|u1", "(2, two, 3)", twelve), {"shape"});
}

TEST_CASE("npy: four files make a data set") {
    const test::TemporaryFolder folder;
    const DataSettings settings{DataFormat::npy, folder.path(), {0}, {1}, Sharding::disjoint};
    const DataShape wanted{{2, 3, 1}, 5};
    for (const std::string part : {"train", "test"}) {
        test::write_bytes(folder.file(part + "_images.npy"), npy_file("|u1", "(2, 2, 3)", twelve));
        test::write_bytes(folder.file(part + "_labels.npy"),
                          npy_file("|u1", "(2,)", std::vector<std::uint8_t>{4, 1}));
    }
    for (const DataPart part : {DataPart::train, DataPart::test}) {
        const Dataset dataset = load_dataset(settings, part, wanted);
        CHECK(dataset.size() == 2);
        CHECK(dataset.label(0) == 4);
        std::vector<float> image(6);
        dataset.copy_normalised(1, image.data());
        CHECK(image[5] == 11 / 255.0f);
    }
    test::write_bytes(folder.file("test_labels.npy"),
                      npy_file("|u1", "(3,)", std::vector<std::uint8_t>{4, 1, 1}));
    check_refused([&] { load_dataset(settings, DataPart::test, wanted); },
                  folder.file("test_images.npy"), {"2 images", "3 labels"});
    // Channels first, as PyTorch has them: read as 3 rows, 8 columns and 9 channels.
    test::write_bytes(folder.file("test_images.npy"),
                      npy_file("|u1", "(2, 3, 8, 9)", std::vector<std::uint8_t>(432)));
    test::write_bytes(folder.file("test_labels.npy"),
                      npy_file("|u1", "(2,)", std::vector<std::uint8_t>{4, 1}));
    for (const Shape& image : {Shape{8, 9, 3}, Shape{28, 28, 1}})
        check_refused(
            [&] {
                load_dataset(settings, DataPart::test, {image, 5});
            },
            folder.file("test_images.npy"), {"3 x 8 x 9", "transpose(0, 2, 3, 1)"});
}

}  // namespace
}  // namespace ako::npy_test
