// The npz reader takes what numpy.savez and numpy.savez_compressed write, finds the arrays of a
// part by their names, and believes nothing that an archive says of itself.
#include "models/npz.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/dataset.h"
#include "models/npy_part.h"
#include "npy_file.h"
#include "refusal.h"
#include "tests/temporary_folder.h"

namespace ako::npz_test {

namespace {

using test::Bytes;
using test::check_refused;
using test::npy_file;

void append(Bytes& bytes, std::uint64_t number, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k)
        bytes.push_back(static_cast<std::uint8_t>(number >> (8 * k)));
}

Bytes deflated(const Bytes& plain) {
    z_stream stream = {};
    REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    Bytes packed(plain.size() + 1024);
    stream.next_in = const_cast<Bytef*>(plain.data());
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

/// An array of an archive, and what the archive says of it if that is not true.
struct Member {
    std::string name;
    Bytes plain;
    bool packed = false;
    std::uint64_t bytes_said = 0;  ///< 0: as many as there are
    std::uint16_t method_said = 0;
    std::uint16_t flags = 0;
    bool wrong_checksum = false;
    bool long_sizes = false;  ///< as NumPy writes arrays of more than 4 GB
};

Bytes archive_of(const std::vector<Member>& members) {
    Bytes file, directory;
    for (const Member& member : members) {
        const Bytes body = member.packed ? deflated(member.plain) : member.plain;
        const std::uint64_t said = member.bytes_said > 0 ? member.bytes_said : member.plain.size();
        const std::uint64_t method =
            member.method_said > 0 ? member.method_said : (member.packed ? 8 : 0);
        const std::uint64_t checksum =
            crc32(0, member.plain.data(), static_cast<uInt>(member.plain.size())) +
            (member.wrong_checksum ? 1 : 0);
        const std::size_t at = file.size();
        const std::uint64_t hidden = std::numeric_limits<std::uint32_t>::max();
        const auto append_entry = [&](Bytes& bytes) {
            append(bytes, member.flags, 2);
            append(bytes, method, 2);
            append(bytes, 0, 4);  // time and date
            append(bytes, checksum, 4);
            append(bytes, member.long_sizes ? hidden : body.size(), 4);
            append(bytes, member.long_sizes ? hidden : said, 4);
            append(bytes, member.name.size(), 2);
        };
        append(file, 0x04034b50, 4);
        append(file, 45, 2);
        append_entry(file);
        append(file, 0, 2);
        file.insert(file.end(), member.name.begin(), member.name.end());
        file.insert(file.end(), body.begin(), body.end());
        append(directory, 0x02014b50, 4);
        append(directory, 45, 2);
        append(directory, 45, 2);
        append_entry(directory);
        append(directory, member.long_sizes ? 20 : 0, 2);
        append(directory, 0, 2);  // comment
        append(directory, 0, 8);  // disk and attributes
        append(directory, at, 4);
        directory.insert(directory.end(), member.name.begin(), member.name.end());
        if (!member.long_sizes) continue;
        append(directory, 1, 2);
        append(directory, 16, 2);
        append(directory, said, 8);
        append(directory, body.size(), 8);
    }
    const std::size_t directory_at = file.size();
    file.insert(file.end(), directory.begin(), directory.end());
    append(file, 0x06054b50, 4);
    append(file, 0, 4);
    append(file, members.size(), 2);
    append(file, members.size(), 2);
    append(file, directory.size(), 4);
    append(file, directory_at, 4);
    append(file, 0, 2);
    return file;
}

const std::vector<std::uint8_t> twelve{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
const Bytes images = npy_file("|u1", "(2, 2, 3)", twelve);
const Bytes labels = npy_file("<i8", "(2,)", std::vector<std::int64_t>{4, 1});

/// Reading the images of this member is refused with these texts.
void check_member_refused(const Member& member, const std::vector<std::string>& texts) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("train.npz");
    test::write_bytes(path, archive_of({member}));
    check_refused([&] { read_npy_images({path, "images"}); }, path, texts);
}

TEST_CASE("npz: members that are stored or deflated, with short and long sizes") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("train.npz");
    for (const bool packed : {false, true}) {
        for (const bool long_sizes : {false, true}) {
            CAPTURE(packed);
            CAPTURE(long_sizes);
            Member one{.name = "images.npy", .plain = images, .packed = packed};
            one.long_sizes = long_sizes;
            test::write_bytes(path, archive_of({one,
                                                {.name = "labels.npy", .plain = labels},
                                                {.name = "notes.txt", .plain = {1, 2}}}));
            CHECK(read_npz_directory(path).size() == 2);
            CHECK(read_npy_images({path, "images"}).images.bytes == twelve);
            CHECK(read_npy_labels({path, "labels"}, 5).labels == Labels{4, 1});
            CHECK(npy_image_bytes({path, "images"}) == 12);
        }
    }
}

TEST_CASE("npz: a large member comes whole, piece by piece") {
    const test::TemporaryFolder folder;
    std::vector<double> many(3 * 70'000);
    for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<double>(k % 1'000'003) / 8;
    const std::string path = folder.file("train.npz");
    test::write_bytes(path, archive_of({{.name = "images.npy",
                                         .plain = npy_file("<f8", "(70000, 1, 3)", many),
                                         .packed = true}}));
    const NotedImages read = read_npy_images({path, "images"});
    REQUIRE(read.images.numbers.size() == many.size());
    bool same = true;
    for (std::size_t k = 0; k < many.size(); ++k)
        same = same && read.images.numbers[k] == static_cast<float>(many[k]);
    CHECK(same);
}

TEST_CASE("npz: what an archive says of itself is not believed") {
    const Member good{.name = "images.npy", .plain = images, .packed = true};
    Member bad = good;
    bad.wrong_checksum = true;
    check_member_refused(bad, {"images: damaged: wrong checksum", "numpy.savez"});
    bad = good;
    bad.bytes_said = std::uint64_t{1} << 31;  // a bomb would need as many bytes of the archive
    check_member_refused(bad, {"compressed bytes cannot hold 2147483648"});
    bad = good;
    bad.bytes_said = images.size() + 1;
    check_member_refused(bad, {"wrong size"});
    bad = {.name = "images.npy", .plain = images};
    bad.bytes_said = images.size() + 1;
    check_member_refused(bad, {"two sizes"});
    bad = good;
    bad.flags = 1;
    check_member_refused(bad, {"images: encrypted"});
    bad = good;
    bad.method_said = 12;
    check_member_refused(bad, {"a method that NumPy does not write (12)"});
    bad = {.name = "images.npy", .plain = images};
    bad.method_said = 8;  // though it is stored
    check_member_refused(bad, {"damaged"});
}

TEST_CASE("npz: every truncation is refused") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("train.npz");
    const Bytes good = archive_of({{.name = "images.npy", .plain = images, .packed = true}});
    for (std::size_t length = 0; length < good.size(); ++length) {
        CAPTURE(length);
        test::write_bytes(path, Bytes(good.begin(), good.begin() + std::ptrdiff_t(length)));
        check_refused([&] { read_npy_images({path, "images"}); }, path, {"npz"});
    }
}

TEST_CASE("npz: any byte that is another is refused or changes nothing that matters") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("train.npz");
    const Bytes good = archive_of({{.name = "images.npy", .plain = images, .packed = true}});
    std::size_t refused = 0;
    for (std::size_t at = 0; at < good.size(); ++at) {
        CAPTURE(at);
        Bytes other = good;
        other[at] ^= 0x55;
        test::write_bytes(path, other);
        try {
            const NotedImages read = read_npy_images({path, "images"});
            CHECK(read.images.bytes == twelve);
        } catch (const StartupError&) {
            ++refused;
        }
    }
    CHECK(refused > images.size() / 8);
}

DataSettings settings_of(const test::TemporaryFolder& folder) {
    return {DataFormat::npy, folder.path(), {0}, {1}, Sharding::disjoint};
}

TEST_CASE("npz: the arrays of a part are found by their names") {
    const DataShape wanted{{2, 3, 1}, 5};
    const std::vector<std::pair<std::string, std::string>> names = {
        {"images", "labels"}, {"x", "y"}, {"train_images", "train_labels"}, {"x_train", "y_train"}};
    for (const auto& [x, y] : names) {
        CAPTURE(x);
        const test::TemporaryFolder folder;
        test::write_bytes(folder.file("train.npz"),
                          archive_of({{.name = x + ".npy", .plain = images},
                                      {.name = y + ".npy", .plain = labels, .packed = true}}));
        const Dataset dataset = load_dataset(settings_of(folder), DataPart::train, wanted);
        CHECK(dataset.size() == 2);
        CHECK(dataset.label(0) == 4);
        CHECK(dataset.notes().empty());
        CHECK(dataset_bytes(settings_of(folder), DataPart::train) == dataset.bytes());
    }
    const test::TemporaryFolder folder;
    const Bytes column = npy_file("<i8", "(2, 1)", std::vector<std::int64_t>{4, 1});
    test::write_bytes(folder.file("mnist.npz"),
                      archive_of({{.name = "x_train.npy", .plain = images},
                                  {.name = "y_train.npy", .plain = labels},
                                  {.name = "x_test.npy", .plain = images},
                                  {.name = "y_test.npy", .plain = column}}));
    const Dataset dataset = load_dataset(settings_of(folder), DataPart::test, wanted);
    CHECK(dataset.notes() == std::vector{folder.file("mnist.npz") +
                                         ": y_test: [2, 1] of int64 is read as class numbers"});
}

TEST_CASE("npz: files of which several could be meant, or none") {
    const test::TemporaryFolder folder;
    const auto refused = [&](const std::vector<std::string>& texts) {
        check_refused([&] { find_npy_part(folder.path(), true); }, folder.path(), texts);
    };
    const Bytes unnamed = archive_of(
        {{.name = "arr_0.npy", .plain = images}, {.name = "arr_1.npy", .plain = labels}});
    test::write_bytes(folder.file("data.npz"), unnamed);
    refused({"expected the arrays train_images and train_labels, or x_train and y_train",
             "found arr_0, arr_1"});
    test::write_bytes(folder.file("more.npz"), unnamed);
    refused({"has data.npz and more.npz, and no train_images.npy or train.npz"});
    test::write_bytes(folder.file("train.npz"), unnamed);
    refused({"expected the arrays images and labels, or x and y", "numpy.savez(\"train.npz\""});
    test::write_bytes(folder.file("train_images.npy"), images);
    refused({"there is train.npz beside it"});
    test::write_bytes(folder.file("train.npz"), archive_of({}));
    check_refused([&] { read_npz_directory(folder.file("train.npz")); }, folder.path(),
                  {"without arrays"});
}

}  // namespace
}  // namespace ako::npz_test
