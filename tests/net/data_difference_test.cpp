// Which data differ: named with both values and the place when a Hello is refused, by both ends;
// and what is not of the sizes that it announces is no Hello.
#include "net/data_difference.h"

#include <doctest/doctest.h>

#include "net/codec.h"
#include "net/frame_prefix.h"
#include "net/hello_check.h"
#include "tests/contains.h"
#include "tests/net/fake_peer.h"

namespace ako::data_difference_test {

namespace {

using test::contains;
using test::make_settings;
using test::Pair;

const std::string start = "other data, all peers need the same (";

DataPartDescription part(std::uint64_t count) {
    DataPartDescription part;
    part.count = count;
    part.first_labels.assign(labels_told(count), 4);
    part.labels.assign(data_pieces(count), 0x1a2b3c4d);
    part.images.assign(data_pieces(count), 0x11111111);
    return part;
}

DataDescription data() { return {part(3000), part(1000), ""}; }

/// As the peer that refuses says it, or the one that is refused.
std::string said(const DataDescription& theirs, bool by_us = true,
                 const DataDescription& ours = data()) {
    const auto reject = reject_for_data(ours, theirs);
    if (!reject) return "";
    CHECK(reject->expected.size() <= text_bytes_max);
    CHECK(reject->got.size() <= text_bytes_max);
    return reject_text(*reject, by_us, "at b");
}

TEST_CASE("the first difference is named with both values, as each side sees them") {
    CHECK(said(data()) == "");
    DataDescription theirs = data();
    theirs.train.first_labels[0] = 5;
    theirs.train.labels[0] = 1;
    CHECK(said(theirs) ==
          start + "data.train_labels differ: 3,000 labels, first at item 0: 4 here, 5 at b)");
    CHECK(said(theirs, false) ==
          start + "data.train_labels differ: 3,000 labels, first at item 0: 5 here, 4 at b)");
    theirs = data();
    theirs.train.labels[1] = 1;
    theirs.train.labels[9] = 1;
    CHECK(said(theirs) == start +
                              "data.train_labels differ: 3,000 labels in 2 of 64 pieces, first in "
                              "items 46 to 92: checksum 1a2b3c4d here, checksum "
                              "00000001 at b)");
    theirs = data();
    theirs.test.images[63] = 1;
    CHECK(said(theirs) == start +
                              "data.test_images differ: 1,000 images in 1 of 64 pieces, first in "
                              "items 984 to 999: checksum 11111111 here, checksum "
                              "00000001 at b)");
    CHECK(said({part(2000), part(1000), ""}) ==
          start + "data.train_count differs: 3,000 items here, 2,000 items at b)");
    CHECK(said({part(3000), {}, ""}) ==
          start + "data.test_count differs: 1,000 items here, 0 items at b)");
}

TEST_CASE("a program's digest counts, and pieces that nobody says do not") {
    const DataDescription ours{{3000, {}, {}, {}}, {}, "0f: 1"};
    CHECK(said(ours, true, ours) == "");
    DataDescription theirs = ours;
    theirs.digest = "0f: 2";
    CHECK(said(theirs, true, ours) == start + "data.digest differs: 0f: 1 here, 0f: 2 at b)");
    theirs.digest.clear();
    CHECK(said(theirs, true, ours) == start + "data.digest differs: 0f: 1 here, nothing at b)");
    CHECK(said({part(3000), {}, "0f: 1"}, true, ours) == "");
}

TEST_CASE("the pieces cover all items once, whatever their number") {
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{47}, std::uint64_t{64},
                                      std::uint64_t{65}, std::uint64_t{60000}, ~std::uint64_t{0}}) {
        CAPTURE(count);
        std::uint64_t end = 0;
        for (std::size_t k = 0; k < data_pieces(count); ++k) {
            const DataPiece piece = data_piece(count, k);
            CHECK(piece.first == end);
            CHECK(piece.end > piece.first);
            end = piece.end;
        }
        CHECK(end == count);
    }
}

TEST_CASE("the words of a stranger are shown as they are") {
    const Reject odd{"data.train_labels", "3 labels: 1", "x"};
    CHECK(contains(reject_text(odd, true, "there"), "3 labels: 1 here, x there"));
    CHECK(contains(reject_text(odd, false, "there"), "x here, 3 labels: 1 there"));
    CHECK(contains(reject_text({"data.", "", ""}, true, "there"), "other data"));
}

std::string complaint(const Hello& hello) {
    const auto head = encode_frame_head(hello, 0);
    const auto decoded = decode_header(std::span(head).subspan(frame_prefix_bytes));
    if (decoded) CHECK(*decoded == Header{hello});
    return decoded ? "" : decoded.error().what;
}

TEST_CASE("a Hello with other numbers of pieces than its items have is malformed") {
    Hello hello;
    hello.data = {part(3000), part(3), std::string(data_digest_bytes_max, 'x')};
    CHECK(complaint(hello) == "");
    hello.data.train.labels.clear();
    CHECK(complaint(hello) == "");
    hello.data.train.labels.assign(63, 1);
    CHECK(contains(complaint(hello), "train.labels has 63 entries, expected 64"));
    hello.data.train = part(3000);
    hello.data.test.images.pop_back();
    CHECK(contains(complaint(hello), "test.images has 2 entries, expected 3"));
    hello.data.test = part(3);
    hello.data.test.first_labels.pop_back();
    CHECK(contains(complaint(hello), "test.first_labels has 2 entries, expected 3"));
    hello.data.test = part(3);
    hello.data.digest = "a\nb";
    CHECK(contains(complaint(hello), "data.digest"));
}

TEST_CASE("what is said of the data is under the key's proof") {
    const ClusterKey key("the key of these tests");
    Hello hello = make_settings(1).hello;
    hello.key_proof = KeyProof{};
    hello.data = data();
    const Digest mac = key.mac(ClusterKey::Step::greeting, hello, nullptr);
    CHECK(key.proves(mac, ClusterKey::Step::greeting, hello, nullptr));
    hello.data.test.images[3] ^= 1U;
    CHECK_FALSE(key.proves(mac, ClusterKey::Step::greeting, hello, nullptr));
}

TEST_CASE("two transports with other data tell each other which") {
    auto a = make_settings(0), b = make_settings(1);
    a.hello.data = b.hello.data = data();
    b.hello.data.train.first_labels[0] = 5;
    Pair pair(a, b);
    pair.a.start();
    pair.b.start();
    CHECK(pair.a.wait([&] { return pair.a.logged("first at item 0: 4 here, 5 at p1)"); }));
    CHECK(pair.b.wait([&] { return pair.b.logged("first at item 0: 5 here, 4 at p0)"); }));
    CHECK(pair.a.seen().ups.empty());
    CHECK(pair.b.seen().ups.empty());
}

}  // namespace
}  // namespace ako::data_difference_test
