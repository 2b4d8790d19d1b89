// The codec: every header survives, and nothing that arrives can crash it or pass for sane.
#include "net/codec.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "net/frame_prefix.h"
#include "tests/net/random_headers.h"

namespace ako::codec_test {

namespace {

using test::RandomHeaders;

std::span<const std::byte> header_of(const std::vector<std::byte>& head) {
    return std::span(head).subspan(frame_prefix_bytes);
}

std::span<const std::byte, frame_prefix_bytes> prefix_of(const std::vector<std::byte>& head) {
    return std::span(head).first<frame_prefix_bytes>();
}

TEST_CASE("every header survives the wire") {
    RandomHeaders headers(1);
    for (int repetition = 0; repetition < 200; ++repetition)
        for (std::size_t kind = 0; kind < std::variant_size_v<Header>; ++kind) {
            const Header header = headers.make(kind);
            REQUIRE(header.index() == kind);
            const auto head = encode_frame_head(header, 4 * kind);
            const auto prefix = decode_prefix(prefix_of(head));
            REQUIRE(prefix.has_value());
            CHECK(prefix->header_bytes == head.size() - frame_prefix_bytes);
            CHECK(prefix->payload_bytes == 4 * kind);
            const auto decoded = decode_header(header_of(head));
            REQUIRE_MESSAGE(decoded.has_value(), decoded.error().what);
            CHECK(*decoded == header);
        }
}

TEST_CASE("the largest headers fit into the limit") {
    RandomHeaders headers(4);
    for (std::size_t kind = 0; kind < std::variant_size_v<Header>; ++kind) {
        const Header header = headers.fullest(kind);
        const auto head = encode_frame_head(header, 0);
        const bool first =
            std::holds_alternative<Hello>(header) || std::holds_alternative<Reject>(header);
        CHECK(header_of(head).size() <= (first ? handshake_header_bytes_max : header_bytes_max));
        CHECK(decode_header(header_of(head)) == header);
    }
    const auto hello = std::get<Hello>(headers.fullest(0));
    CHECK(hello.run_name.size() == text_bytes_max);
    CHECK(hello.settings_text.size() == settings_text_bytes_max);
    CHECK(hello.data.test.images.size() == data_pieces_max);
    CHECK(std::get<Want>(headers.fullest(4)).runs.size() == version_runs_max);
    CHECK(std::get<Partial>(headers.fullest(2)).checksums.size() == checksums_max);
}

/// How many members a struct has that is made by its members in braces.
struct Anything {
    template <class Value>
    operator Value() const;  // NOLINT: to whatever the member is
};
template <class Value, class... Members>
constexpr std::size_t member_count() {
    // An optional could be made of Anything in two ways, and a RowIndex in none.
    if constexpr (requires { Value{std::declval<Members>()..., std::declval<Anything>()}; })
        return member_count<Value, Members..., Anything>();
    else if constexpr (requires { Value{std::declval<Members>()..., std::nullopt}; })
        return member_count<Value, Members..., std::nullopt_t>();
    else if constexpr (requires { Value{std::declval<Members>()..., std::declval<RowIndex>()}; })
        return member_count<Value, Members..., RowIndex>();
    else
        return sizeof...(Members);
}

/// Counts the fields that a struct lists, and looks into those of its members.
struct CountsFields {
    std::size_t count = 0;

    void operator()(const char* name, auto& value, auto...) {
        INFO(std::string(name));
        ++count;
        look_into(value);
    }
    static void look_into(auto&) {}
    template <class Item>
    static void look_into(std::optional<Item>& value) {
        look_into(value.emplace());
    }
    template <class Item>
    static void look_into(std::vector<Item>&) {
        Item item{};
        look_into(item);
    }
    template <class Item>
    static void look_into(PerRow<Item>&) {
        Item item{};
        look_into(item);
    }
    template <class Value>
    requires requires(Value& value, CountsFields& each) { Value::fields(value, each); }
    static void look_into(Value& value) {
        CountsFields listed;
        Value::fields(value, listed);
        CHECK(listed.count == member_count<Value>());
    }
};

TEST_CASE("every member of every message is in its list") {
    static_assert(member_count<Verdict>() == 3);
    for (std::size_t kind = 0; kind < std::variant_size_v<Header>; ++kind) {
        Header header = empty_header(kind);
        CAPTURE(std::string(header_name(header)));
        std::visit([](auto& it) { CountsFields::look_into(it); }, header);
    }
}

TEST_CASE("nothing that is said of the data is told from nothing that is covered, at any size") {
    Status status;
    for (std::size_t peers = 0; peers <= peers_max; ++peers) {
        status.standing.progress.resize(peers);
        status.rows.resize(peers);
        status.standing.verdict = peers % 2 == 0 ? std::optional(Verdict{}) : std::nullopt;
        for (const std::size_t words : {std::size_t{0}, std::size_t{1}, covered_words_max}) {
            status.covered.reset();
            const std::vector<std::byte> bare = encode_frame_head(status, 0);
            const auto without = decode_header(header_of(bare));
            REQUIRE_MESSAGE(without.has_value(), without.error().what);
            CHECK(!std::get<Status>(*without).covered);
            status.covered = Covered{7, std::vector<std::uint64_t>(words, 5), {}, {}, 3};
            const std::vector<std::byte> head = encode_frame_head(status, 0);
            const auto with = decode_header(header_of(head));
            REQUIRE_MESSAGE(with.has_value(), with.error().what);
            CHECK(std::get<Status>(*with) == status);
        }
    }
}

TEST_CASE("a prefix is refused by the reason") {
    const auto what = [](std::array<std::byte, frame_prefix_bytes> bytes,
                         std::size_t limit = header_bytes_max) {
        const auto prefix = decode_prefix(bytes, limit);
        return prefix ? std::string{} : prefix.error().what;
    };
    CHECK(what(encode_prefix({8, 4})) == "");
    CHECK(what(encode_prefix({header_bytes_max, payload_bytes_limit})) == "");
    auto wrong = encode_prefix({8, 4});
    wrong[0] = std::byte{'B'};
    CHECK(what(wrong).find("does not begin with") != std::string::npos);
    wrong = encode_prefix({8, 4});
    wrong[3] = std::byte{'1'};
    CHECK(what(wrong).find("use the same version of ako on all peers") != std::string::npos);
    CHECK(what(encode_prefix({header_bytes_max + 8, 0})).find("oversized") == 0);
    CHECK(what(encode_prefix({4096, 0}), 4088).find("oversized") == 0);
    CHECK(what(encode_prefix({0xffffffff, 0})).find("oversized") == 0);
    CHECK(what(encode_prefix({8, payload_bytes_limit + 4})).find("oversized") == 0);
    CHECK(what(encode_prefix({0, 0})).find("malformed") == 0);
    CHECK(what(encode_prefix({12, 0})).find("malformed") == 0);
    CHECK(what(encode_prefix({8, 6})).find("malformed") == 0);
}

TEST_CASE("values that cannot be meant are refused by name") {
    const auto complaint = [](const Header& header) {
        const auto decoded = decode_header(header_of(encode_frame_head(header, 0)));
        return decoded ? std::string{} : decoded.error().what;
    };
    const auto names = [&](const Header& header, const char* field) {
        const std::string what = complaint(header);
        INFO(what);
        return what.find(std::string("malformed header: ") + field) == 0;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr RowIndex no_row = RowIndex::at(initial_row.place() + 1);
    Partial partial;
    partial.origin = no_row;
    CHECK(names(partial, "origin"));
    partial.origin = initial_row;
    CHECK(complaint(partial) == "");
    partial.origin = 0;
    partial.sealed_at = Time{-1};
    CHECK(names(partial, "sealed_at"));
    partial.sealed_at = Time{0};
    partial.bound_at = Time{-1};
    CHECK(names(partial, "bound_at"));
    Status status;
    status.standing.loss = nan;
    CHECK(names(status, "standing.loss"));
    status.standing.loss = 0;
    status.heartbeat.sent_at = time_max + Time{1};
    CHECK(names(status, "heartbeat.sent_at"));
    status.heartbeat.sent_at = Time{};
    status.heartbeat.echo_held = Time{-5};
    CHECK(names(status, "heartbeat.echo_held"));
    status.heartbeat.echo_held = Time{};
    status.standing.stop = static_cast<StopReason>(9);
    CHECK(names(status, "standing.stop"));
    status.standing.stop = StopReason::none;
    status.vote.decided = {1, peers_max};
    CHECK(names(status, "vote.decided.proposer"));
    status.vote.decided = {};
    status.standing.verdict = Verdict{0.5, 1.5F, 0};
    CHECK(names(status, "standing.verdict.accuracy"));
    status.standing.verdict = Verdict{std::nan(""), 0.5F, 0};
    CHECK(names(status, "standing.verdict.progress"));
    status.standing.verdict = Verdict{0.5, 0.5F, nan};
    CHECK(names(status, "standing.verdict.loss"));
    status.standing.verdict.reset();
    CHECK(complaint(status) == "");
    CHECK(complaint(Want{initial_row, true, {}}) == "");
    CHECK(names(Want{no_row, false, {}}, "row"));
    CHECK(complaint(Lack{initial_row, {}}) == "");
    CHECK(names(Lack{no_row, {}}, "row"));
    CHECK(names(CutRow{{}, initial_row, {}}, "row"));
    CHECK(names(Prepare{{1, 99}}, "ballot"));
    CHECK(names(Reject{"a\nb", "", ""}, "field"));
    Hello hello;
    hello.peer_name = "\x1b[2J";
    CHECK(names(hello, "peer_name"));
    hello.peer_name = "b";
    hello.settings_text = "seed: 1\ntraining:\n  epochs: 2\n";
    CHECK(complaint(hello) == "");
    hello.settings_text += "\x1b[2J";
    CHECK(names(hello, "settings_text"));
}

TEST_CASE("texts that a terminal would obey, or that are no text, are refused by their field") {
    for (const char* text : {"a\x1b[2J", "a\nb", "\xc2\x9b[31m", "\xff", "\xe2\x80\xae"}) {
        Hello hello;
        hello.peer_name = text;
        const auto decoded = decode_header(header_of(encode_frame_head(hello, 0)));
        REQUIRE(!decoded.has_value());
        CHECK(decoded.error().what ==
              "malformed header: peer_name with what a terminal would obey, or bytes that are not "
              "UTF-8");
    }
    Hello hello;
    hello.peer_name = "b\xc3\xa4r";
    CHECK(decode_header(header_of(encode_frame_head(hello, 0))).has_value());
}

TEST_CASE("a hello of another protocol is read as far as its number") {
    Hello hello;
    hello.protocol = protocol_version + 1;
    hello.process_id = 7;
    const auto decoded = decode_header(header_of(encode_frame_head(hello, 0)));
    REQUIRE(decoded.has_value());
    CHECK(std::get<Hello>(*decoded).protocol == protocol_version + 1);
}

/// Bytes of a header, from its first; what comes after those given is 0.
std::vector<std::byte> bytes_of(std::initializer_list<int> first, std::size_t count) {
    std::vector<std::byte> bytes(count);
    std::transform(first.begin(), first.end(), bytes.begin(),
                   [](int value) { return static_cast<std::byte>(value); });
    return bytes;
}

// The bytes are as peers of protocol 10 said them, in Cap'n Proto.
TEST_CASE("a peer of an older protocol is told by its number, and reads ours") {
    // A Hello of one segment, and one of three.
    const auto one = bytes_of({0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 1, 0,  1, 0, 0,
                               0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 2, 0, 11, 0, 10},
                              328);
    const auto three =
        bytes_of({2, 0, 0, 0, 120, 0, 0, 0, 189, 0, 0, 0, 66, 0, 0, 0, 0, 0,  0, 0, 1,
                  0, 1, 0, 0, 0,   0, 0, 0, 0,   0, 0, 0, 0,  0, 0, 2, 0, 11, 0, 10},
                 3016);
    for (const auto& older : {one, three}) {
        const auto decoded = decode_header(older);
        REQUIRE(decoded.has_value());
        CHECK(std::get<Hello>(*decoded).protocol == older_protocol);
    }
    const auto reject = decode_header(bytes_of({0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0,
                                                1, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 4},
                                               96));
    REQUIRE(reject.has_value());
    CHECK(std::get<Reject>(*reject).field == "protocol");
    CHECK(std::get<Reject>(*reject).expected == "10 or before");

    const auto ours = encode_header(Hello{});
    const auto opening = std::as_bytes(std::span(hello_opening));
    CHECK(std::equal(opening.begin(), opening.end(), ours.begin()));
    CHECK(ours[32] == static_cast<std::byte>(protocol_version));
}

TEST_CASE("headers that are cut off, or longer than their fields, are errors that say where") {
    RandomHeaders headers(2);
    for (std::size_t kind = 0; kind < std::variant_size_v<Header>; ++kind) {
        const auto whole = encode_header(headers.make(kind));
        for (std::size_t length = 0; length < whole.size(); ++length)
            CHECK_FALSE(decode_header(std::span(whole).first(length)).has_value());
        auto longer = whole;
        longer.resize(whole.size() + 8);
        CHECK_FALSE(decode_header(longer).has_value());
    }
    const auto complaint = [](const std::vector<std::byte>& bytes) {
        const auto decoded = decode_header(bytes);
        return decoded ? std::string{} : decoded.error().what;
    };
    auto bytes = encode_header(Bye{7});
    CHECK(complaint(bytes) == "");
    bytes.resize(16);
    CHECK(complaint(bytes) ==
          "malformed header: farewell.since is cut off: it needs 8 bytes, 4 are left");
    bytes = encode_header(Prepare{});
    bytes.back() = std::byte{1};
    CHECK(complaint(bytes) == "malformed header: 6 bytes after the last field");
    bytes = encode_header(Prepare{});
    bytes[17] = std::byte{2};
    CHECK(complaint(bytes) == "malformed header: regains is 2, neither 0 nor 1");
    bytes = encode_header(Want{});
    bytes[9] = std::byte{1};
    CHECK(complaint(bytes) == "malformed header: runs has 16777216 entries, limit 32768");
    bytes[8] = std::byte{0};
    bytes[9] = std::byte{0};
    bytes[6] = std::byte{9};
    CHECK(complaint(bytes) == "malformed header: runs is cut off: it needs 9 bytes, 6 are left");
    CHECK(complaint(bytes_of({64}, 8)) == "malformed header: message 64 is not known");
    CHECK(complaint(bytes_of({64 + 19}, 8)) == "malformed header: message 83 is not known");
    CHECK(complaint(bytes_of({255}, 8)) == "malformed header: message 255 is not known");
    CHECK(complaint({}) == "malformed header: 0 bytes");
}

TEST_CASE("flipped bits and random bytes never crash, and what is read is sane") {
    RandomHeaders headers(3);
    int errors = 0;
    int read = 0;
    for (int iteration = 0; iteration < 100'000; ++iteration) {
        std::vector<std::byte> bytes;
        if (iteration % 4 == 0) {
            bytes.resize(8 * headers.below(40));
            for (auto& byte : bytes) byte = static_cast<std::byte>(headers.u32());
            // Half of them of a kind that there is, to get further.
            if (iteration % 8 == 0 && !bytes.empty())
                bytes[0] = static_cast<std::byte>(65 + headers.below(17));
        } else {
            const auto head =
                encode_frame_head(headers.make(headers.below(std::variant_size_v<Header>)), 0);
            bytes.assign(head.begin() + frame_prefix_bytes, head.end());
            for (std::size_t flips = 1 + headers.below(4); flips > 0; --flips) {
                // The first words hold the structure; there flips hurt most.
                const std::size_t range =
                    headers.below(2) == 0 ? std::min<std::size_t>(64, bytes.size()) : bytes.size();
                bytes[headers.below(range)] ^= static_cast<std::byte>(1U << headers.below(8));
            }
        }
        const auto decoded = decode_header(bytes);
        if (!decoded) {
            ++errors;
            REQUIRE(decoded.error().what.find("malformed header") == 0);
            continue;
        }
        ++read;
        // Whatever was read can be said again, in the same bytes.
        if (const Status* status = std::get_if<Status>(&*decoded)) {
            REQUIRE(status->standing.progress.size() <= peers_max);
            REQUIRE(std::isfinite(status->standing.loss.value_or(0)));
        }
        const Hello* hello = std::get_if<Hello>(&*decoded);
        const bool ours =
            hello == nullptr ? bytes[0] != std::byte{0} : hello->protocol == protocol_version;
        REQUIRE((encode_header(*decoded) == bytes || !ours));
    }
    CHECK(errors > 10'000);
    CHECK(read > 10'000);
}

}  // namespace
}  // namespace ako::codec_test
