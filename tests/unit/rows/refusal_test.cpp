// Every wrong field of a header is refused by its name.
#include "src/rows/refusal.h"

#include <doctest/doctest.h>

#include <functional>

#include "ako/payload.h"
#include "src/exchange/incarnation.h"
#include "src/rows/initial_values.h"
#include "tests/contains.h"

namespace ako::refusal_test {

using ako::test::contains;

namespace {

const Blocks blocks(10, 4);  // of 4, 4 and 2 elements
constexpr std::size_t peer_count = 3;
constexpr PeerIndex from = 1;
constexpr RunBounds bounds{8, 100};

std::string complaint(const Header& header, std::size_t payload_bytes = 0) {
    return refusal(header, payload_bytes, from, peer_count, blocks, bounds).value_or("");
}

Partial good_partial() {
    Partial partial;
    partial.origin = row_of(from);
    partial.version = {1, 4};
    partial.run = {1, 2};
    partial.checksums = {1, 2};
    return partial;
}

Status good_status() {
    Status status;
    status.standing.progress.resize(peer_count);
    status.rows.resize(peer_count);
    return status;
}

Want good_want() { return {2, true, {{{0, 1}, {1, 3}}, {{2, 1}, {}}}}; }

CutRow good_row() { return {{1, 2}, 2, {{1, {1, 3}}, {2, {}}}}; }

/// What is said of `good` after `spoil` has changed it.
template <class Message>
std::string spoilt(Message good, const std::function<void(Message&)>& spoil,
                   std::size_t payload_bytes = 0) {
    spoil(good);
    return complaint(good, payload_bytes);
}

}  // namespace

TEST_CASE("of the initial parameters there is one version, which is asked for exactly") {
    Partial partial = good_partial();
    partial.origin = initial_row;
    partial.relayed = true;
    partial.version = InitialValues::version;
    CHECK(complaint(partial, 24) == "");
    partial.version = {1, 4};
    CHECK(contains(complaint(partial, 24), "Partial.version"));
    Want want{initial_row, true, {{{0, 1}, InitialValues::version}}};
    CHECK(complaint(want) == "");
    want.exact = false;
    CHECK(contains(complaint(want), "Want.exact"));
    CHECK(complaint(Lack{initial_row, {{0, 1}}}) == "");
    CHECK(contains(complaint(Versions{initial_row, {{3, {}}}}), "is no row"));
    CHECK(contains(complaint(CutRow{{1, 2}, initial_row, {{3, {}}}}), "is no row"));
}

TEST_CASE("good messages are not complained about") {
    CHECK(complaint(good_partial(), 24) == "");
    Partial relayed = good_partial();
    relayed.relayed = true;
    relayed.origin = 2;
    CHECK(complaint(relayed, 24) == "");
    relayed.version = {next_incarnation(1, 7).value(), 4};  // of a process that goes on with it
    CHECK(complaint(relayed, 24) == "");
    relayed.version = {};  // the zero row that everybody starts with is nobody's
    CHECK(complaint(relayed, 24) == "");
    CHECK(complaint(good_status()) == "");
    CHECK(complaint(good_want()) == "");
    CHECK(complaint(good_row()) == "");
    CHECK(complaint(Lack{2, {{0, 1}, {2, 1}}}) == "");
    CHECK(complaint(WantCut{{1, 2}}) == "");
    CHECK(complaint(WantVersions{}) == "");
    CHECK(complaint(Versions{2, {{1, {1, 3}}, {2, {}}}}) == "");
    CHECK(complaint(Prepare{{1, from}, true}) == "");
    CHECK(complaint(Promise{{1, 0}, {}, {}}) == "");
    CHECK(complaint(Promise{{2, 0}, {1, 1}, {1, 1}}) == "");
    CHECK(complaint(Promise{{2, 0}, {}, {}, false, {{}, {1, 1}, {2, 2}}}) == "");
    CHECK(complaint(Accept{{2, from}, {1, 1}}) == "");
    CHECK(complaint(Accepted{{2, 0}, {1, 1}}) == "");
    CHECK(complaint(Bye{7}) == "");
}

TEST_CASE("a coded Partial has fewer bytes than its blocks, and no initial parameters") {
    Partial partial = good_partial();
    partial.coded = true;
    const std::size_t plain = payload_bytes_of(blocks.range(partial.run).count);
    CHECK(complaint(partial, plain - 4) == "");
    CHECK(contains(complaint(partial, plain), "bytes of payload"));
    CHECK(contains(complaint(partial, 8), "bytes of payload"));
    partial.origin = initial_row;
    partial.relayed = true;
    partial.version = InitialValues::version;
    CHECK(contains(complaint(partial, plain - 4), "Partial.coded"));
}

TEST_CASE("Partial: every field that is wrong is named") {
    using Spoil = std::function<void(Partial&)>;
    const auto with = [](const Spoil& spoil, std::size_t bytes = 24) {
        return spoilt<Partial>(good_partial(), spoil, bytes);
    };
    CHECK(contains(with([](Partial& p) { p.origin = 3; }), "Partial.origin 3"));
    CHECK(contains(with([](Partial& p) { p.origin = 2; }), "Partial.origin"));
    CHECK(contains(with([](Partial& p) { p.run = {3, 1}; }), "Partial.run 1 blocks from 3"));
    CHECK(contains(with([](Partial& p) { p.run = {2, 2}; }), "Partial.run"));
    CHECK(contains(with([](Partial& p) { p.run = {1, 0}; }), "Partial.run"));
    CHECK(contains(with([](Partial& p) { p.run = {1, ~BlockIndex{0}}; }), "Partial.run"));
    CHECK(contains(with([](Partial&) {}, 28), "28 bytes of payload for 24"));
    CHECK(contains(with([](Partial&) {}, 0), "0 bytes of payload"));
    CHECK(contains(with([](Partial& p) { p.checksums.pop_back(); }), "Partial.checksums has 1"));
    CHECK(contains(with([](Partial& p) { p.checksums.push_back(0); }), "Partial.checksums has 3"));
    CHECK(contains(with([](Partial& p) { p.version = {0, 4}; }), "Partial.version {0, 4}"));
    CHECK(contains(with([](Partial& p) { p.version = {1, 0}; }), "Partial.version {1, 0}"));
    CHECK(contains(with([](Partial& p) { p.version.incarnation = Incarnation{3} << process_bits; }),
                   "of no process"));
}

TEST_CASE("a run of more blocks than one frame may have is refused") {
    const Blocks many(10'000 * 4, 4);
    Partial partial = good_partial();
    partial.run = {0, 10'000};
    partial.checksums.resize(10'000);
    CHECK(!refusal(partial, 160'000, from, peer_count, many, bounds));
    const Blocks large(100 * 4096, 4096);
    partial.run = {0, 65};
    partial.checksums.resize(65);
    CHECK(contains(*refusal(partial, 65 * 16'384, from, peer_count, large, bounds), "Partial.run"));
}

TEST_CASE("Status: of all peers, with ballots of this cluster") {
    using Spoil = std::function<void(Status&)>;
    const auto with = [](const Spoil& spoil) { return spoilt<Status>(good_status(), spoil); };
    CHECK(contains(with([](Status& s) { s.standing.progress.pop_back(); }),
                   "Status of 2 peers and 3 rows"));
    CHECK(contains(with([](Status& s) { s.rows.resize(4); }), "Status of 3 peers and 4 rows"));
    CHECK(contains(with([](Status& s) { s.vote.accepted = {1, 3}; }), "Status.accepted {1, 3}"));
    CHECK(contains(with([](Status& s) { s.vote.decided = {4, 9}; }), "Status.decided {4, 9}"));
    CHECK(with([](Status& s) { s.standing.asked = 0b111; }) == "");
    CHECK(contains(with([](Status& s) { s.standing.asked = 0b1001; }),
                   "Status.asked names peer 3 in a cluster of 3"));
    CHECK(contains(with([](Status& s) { s.standing.asked = ~PeerSet{0}; }),
                   "Status.asked names peer 63"));
    CHECK(contains(with([](Status& s) { s.waits.number = Waits::number_max + 1; }),
                   "Status.waits 281474976710657"));
    CHECK(contains(with([](Status& s) { s.waits.left_out = peer_bit(3); }),
                   "Status.waits.left_out names a peer beyond"));
    CHECK(contains(with([](Status& s) {
                       s.waits.starts = {1, 2};
                   }),
                   "Status.waits.starts has 2 entries"));
    CHECK(contains(with([](Status& s) {
                       s.waits.starts = {1, 2, Round{1} << 60};
                   }),
                   "Status.waits.starts"));
}

TEST_CASE("Lack: inside the model, and no more than all of it") {
    CHECK(contains(complaint(Lack{3, {{0, 1}}}), "Lack.row 3"));
    CHECK(contains(complaint(Lack{0, {{3, 1}}}), "Lack.runs"));
    CHECK(contains(complaint(Lack{0, {{0, 0}}}), "Lack.runs"));
    CHECK(contains(complaint(Lack{0, {{1, ~BlockIndex{0}}}}), "Lack.runs"));
    CHECK(contains(complaint(Lack{0, {{0, 3}, {0, 1}}}), "more blocks"));
}

TEST_CASE("Want: inside the model, and no more than all of it") {
    using Spoil = std::function<void(Want&)>;
    const auto with = [](const Spoil& spoil) { return spoilt<Want>(good_want(), spoil); };
    CHECK(contains(with([](Want& w) { w.row = 3; }), "Want.row 3"));
    CHECK(contains(with([](Want& w) { w.runs[0].blocks = {3, 1}; }), "Want.runs"));
    CHECK(contains(with([](Want& w) { w.runs[0].blocks = {2, 2}; }), "Want.runs"));
    CHECK(contains(with([](Want& w) { w.runs[0].blocks = {0, 0}; }), "Want.runs"));
    CHECK(contains(with([](Want& w) { w.runs[0].blocks = {1, ~BlockIndex{0}}; }), "Want.runs"));
    CHECK(contains(with([](Want& w) {
                       w.runs.assign(4, {{0, 1}, {}});
                   }),
                   "more blocks than the model"));
}

TEST_CASE("CutRow: covers the row exactly, even where the counts would overflow") {
    using Spoil = std::function<void(CutRow&)>;
    const auto with = [](const Spoil& spoil) { return spoilt<CutRow>(good_row(), spoil); };
    CHECK(contains(with([](CutRow& r) { r.row = 3; }), "CutRow.row 3"));
    CHECK(contains(with([](CutRow& r) { r.runs.pop_back(); }), "CutRow.runs cover 1 of 3"));
    CHECK(contains(with([](CutRow& r) { r.runs.push_back({1, {}}); }), "CutRow.runs cover 4 of 3"));
    CHECK(contains(with([](CutRow& r) {
                       r.runs = {{~BlockIndex{0}, {}}, {4, {}}};
                   }),
                   "CutRow.runs"));
    CHECK(contains(with([](CutRow& r) { r.cut = {}; }), "CutRow.cut {0, 0}"));
}

TEST_CASE("Versions: of a row, which they cover exactly") {
    CHECK(contains(complaint(Versions{3, {{3, {}}}}), "Versions.row 3"));
    CHECK(contains(complaint(Versions{0, {{2, {}}}}), "Versions.runs cover 2 of 3"));
    CHECK(contains(complaint(Versions{0, {{0, {}}, {3, {}}}}), "Versions.runs has a run of no"));
    CHECK(contains(complaint(Versions{0, {{3, {0, 4}}}}), "Versions.runs {0, 4}"));
}

TEST_CASE("the agreement: no ballot without a number or of nobody") {
    const Ballot nobody{1, 3};
    const Ballot none{};
    for (const Ballot bad : {nobody, none}) {
        CHECK(contains(complaint(WantCut{bad}), "WantCut.cut"));
        CHECK(contains(complaint(Prepare{bad}), "Prepare.ballot"));
        CHECK(contains(complaint(Promise{bad, {}, {}}), "Promise.ballot"));
        CHECK(contains(complaint(Accept{bad, {1, 1}}), "Accept.ballot"));
        CHECK(contains(complaint(Accept{{1, 1}, bad}), "Accept.cut"));
        CHECK(contains(complaint(Accepted{bad, {1, 1}}), "Accepted.ballot"));
        CHECK(contains(complaint(Accepted{{1, 1}, bad}), "Accepted.cut"));
    }
    CHECK(contains(complaint(Promise{{1, 1}, nobody, {}}), "Promise.accepted_ballot"));
    CHECK(contains(complaint(Promise{{1, 1}, {}, nobody}), "Promise.accepted_cut"));
    CHECK(contains(complaint(Prepare{{1, 2}}), "Prepare.ballot is one of peer 2"));
    CHECK(contains(complaint(Accept{{1, 2}, {1, 1}}), "Accept.ballot is one of peer 2"));
    const auto with_votes = [](std::vector<Ballot> votes) {
        return complaint(Promise{{1, 1}, {}, {}, true, std::move(votes)});
    };
    CHECK(contains(with_votes({{}, {}}), "Promise.votes of 2 peers"));
    CHECK(contains(with_votes({{}, {1, 3}, {}}), "Promise.votes {1, 3}"));
    CHECK(contains(with_votes({{}, {1, 2}, {}}), "one of peer 2 in the place of peer 1"));
}

TEST_CASE("what does not belong into a session that stands is refused by its name") {
    CHECK(contains(complaint(Hello{}), "Hello"));
    CHECK(contains(complaint(Reject{}), "Reject"));
}

TEST_CASE("only a Partial has a payload") {
    CHECK(contains(complaint(good_status(), 4), "Status with 4 bytes"));
    CHECK(contains(complaint(Bye{}, 1), "Bye with 1 bytes"));
    CHECK(contains(complaint(good_want(), 16), "Want with 16 bytes"));
}

}  // namespace ako::refusal_test
