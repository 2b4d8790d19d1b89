// The codec: every header survives, and nothing that arrives can crash it or pass for sane.
#include "net/codec.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "net/frame_prefix.h"
#include "tests/net/random_headers.h"

namespace ako {
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
    Want want;
    want.runs.resize(version_runs_max);
    CutRow row;
    row.runs.resize(version_runs_max);
    Partial partial;
    partial.checksums.resize(checksums_max);
    Status status;
    status.progress.resize(peers_max);
    status.rows.resize(peers_max);
    status.digest = Digest{};
    status.verdict = Verdict{};
    status.covered = Covered{};
    status.covered->done.resize(covered_words_max, ~std::uint64_t{0});
    status.covered->done_next.resize(covered_words_max);
    status.covered->in_hand = Portion{};
    Hello hello;
    hello.run_name = hello.peer_name = hello.to_peer_name = std::string(text_bytes_max, 'x');
    hello.key_proof = KeyProof{};
    hello.settings_text = std::string(settings_text_bytes_max, 'x');
    for (const Header& header : {Header{want}, Header{row}, Header{partial}, Header{status}}) {
        const auto head = encode_frame_head(header, 0);
        CHECK(head.size() <= header_bytes_max + frame_prefix_bytes);
        const auto decoded = decode_header(header_of(head));
        REQUIRE(decoded.has_value());
        CHECK(*decoded == header);
    }
    CHECK(encode_frame_head(hello, 0).size() <= handshake_header_bytes_max);
}

TEST_CASE("nothing that is said of the data is told from nothing that is covered, at any size") {
    Status status;
    for (std::size_t peers = 0; peers <= peers_max; ++peers) {
        status.progress.resize(peers);
        status.rows.resize(peers);
        status.verdict = peers % 2 == 0 ? std::optional(Verdict{}) : std::nullopt;
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
    status.loss = nan;
    CHECK(names(status, "loss"));
    status.loss = 0;
    status.sent_at = time_max + Time{1};
    CHECK(names(status, "sent_at"));
    status.sent_at = Time{};
    status.echo_held = Time{-5};
    CHECK(names(status, "echo_held"));
    status.echo_held = Time{};
    status.stop = static_cast<StopReason>(9);
    CHECK(names(status, "stop"));
    status.stop = StopReason::none;
    status.decided = {1, peers_max};
    CHECK(names(status, "decided"));
    status.decided = {};
    status.verdict = Verdict{0.5, 1.5F, 0};
    CHECK(names(status, "verdict.accuracy"));
    status.verdict = Verdict{std::nan(""), 0.5F, 0};
    CHECK(names(status, "verdict.progress"));
    status.verdict = Verdict{0.5, 0.5F, nan};
    CHECK(names(status, "verdict.loss"));
    status.verdict.reset();
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

TEST_CASE("truncated headers are errors, never crashes") {
    RandomHeaders headers(2);
    for (std::size_t kind = 0; kind < std::variant_size_v<Header>; ++kind) {
        const auto head = encode_frame_head(headers.make(kind), 0);
        const auto whole = header_of(head);
        for (std::size_t length = 0; length < whole.size(); ++length)
            CHECK_FALSE(decode_header(whole.first(length)).has_value());
    }
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
            // Half of them with a segment table that is honest, to get further.
            if (iteration % 8 == 0 && bytes.size() >= 16) {
                const std::uint32_t table[2] = {0,
                                                static_cast<std::uint32_t>(bytes.size() / 8 - 1)};
                std::memcpy(bytes.data(), table, sizeof table);
            }
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
        // Whatever was read can be said again.
        if (const Status* status = std::get_if<Status>(&*decoded)) {
            REQUIRE(status->progress.size() <= peers_max);
            REQUIRE(std::isfinite(status->loss.value_or(0)));
        }
        const auto again = decode_header(header_of(encode_frame_head(*decoded, 0)));
        REQUIRE(again.has_value());
    }
    CHECK(errors > 10'000);
    CHECK(read > 10'000);
}

}  // namespace
}  // namespace ako
