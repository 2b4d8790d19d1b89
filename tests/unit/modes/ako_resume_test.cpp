// Peers of the mode `ako` that go on from checkpoints, in virtual time: with all that they had, and
// with what others had of them; and not with another run's.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "ako/error.h"
#include "src/exchange/incarnation.h"
#include "tests/contains.h"
#include "tests/fakes/virtual_cluster.h"
#include "tests/sim/distance.h"

namespace ako::ako_resume_test {

using namespace ako::test;

namespace {

constexpr Time long_enough = std::chrono::seconds(600);
constexpr Round rounds_each = 12;

/// A run of three small peers, each of which keeps a checkpoint after a round of its own.
class Run {
  public:
    explicit Run(std::size_t count = 3, std::uint64_t first_process = 1)
        : cluster(count, 3), kept(count), keeps_after(count) {
        cluster.settings.sample_budget = rounds_each * count;
        // A rate whose steps leave something to carry: all elements are alike here.
        cluster.settings.training.learning_rate = 0.013;
        cluster.settings.training.schedule.kind = RateScheduleKind::cosine;
        cluster.settings.log = [this](const std::string& line) { said.push_back(line); };
        cluster.first_process = first_process;
        cluster.trains = [this](PeerIndex peer) { keep(peer); };
    }
    void require_to_end() {
        const bool ended = cluster.run(long_enough);
        REQUIRE_MESSAGE(ended, cluster.violation);
        for (PeerIndex peer = 0; peer < kept.size(); ++peer) {
            const auto& report = cluster[peer].report;
            REQUIRE(report);
            CHECK(report->agreed);
            CHECK(report->identical);
            CHECK(report->finished_with.size() == kept.size());
            CHECK(report->digest == cluster[0].report->digest);
            CHECK(report->samples_total >= cluster.settings.sample_budget);
        }
    }
    bool says(const std::string& part) const {
        return std::any_of(said.begin(), said.end(),
                           [&part](const std::string& line) { return contains(line, part); });
    }

    VirtualCluster cluster;
    std::vector<std::optional<Checkpoint>> kept;  ///< [peer]
    std::vector<std::optional<Round>> keeps_after;
    std::vector<std::vector<float>> anchors;  ///< when they were kept
    std::vector<Round> first_rounds;          ///< of those that begin
    std::vector<std::string> said;

  private:
    void keep(PeerIndex peer) {
        ModeExchange& exchange = cluster[peer].exchange;
        const Round round = exchange.standing().round;
        first_rounds.push_back(round);
        if (keeps_after[peer] != round || kept[peer]) return;
        Checkpoint made;
        REQUIRE(exchange.save(made));
        CHECK(made.id.round == round);
        CHECK(made.samples == round);
        kept[peer] = std::move(made);
    }
};

/// The checkpoints of a whole run, of which each peer keeps one after these rounds. [peer]
std::vector<std::optional<Checkpoint>> kept_after(std::vector<std::optional<Round>> rounds) {
    Run whole(rounds.size());
    whole.keeps_after = std::move(rounds);
    whole.require_to_end();
    return whole.kept;
}

/// The newest round of a row that is in any of these.
Round newest_kept(const std::vector<std::optional<Checkpoint>>& kept, RowIndex row) {
    Round newest = 0;
    for (const std::optional<Checkpoint>& it : kept) {
        if (!it) continue;
        const auto runs = it->words.at("row." + std::to_string(row.place()) + ".versions");
        for (std::size_t k = 2; k < runs.size(); k += 3) newest = std::max(newest, runs[k]);
    }
    return newest;
}

}  // namespace

TEST_CASE("a peer alone goes on as if nothing had been") {
    Run whole(1);
    whole.keeps_after = {5};
    whole.require_to_end();
    Run again(1, 100);
    again.cluster.goes_on_from = whole.kept;
    again.require_to_end();
    CHECK(again.first_rounds.front() == 5);
    CHECK(again.cluster[0].report->rounds == rounds_each);
    // But for the rounding of the replica, which is computed afresh.
    CHECK(sim::relative_distance(again.cluster[0].parameters, whole.cluster[0].parameters) < 1e-6);
    // The carry is far below that; but there is one.
    const std::vector<float>& carry = whole.kept[0]->floats.at("carry");
    CHECK(std::count(carry.begin(), carry.end(), 0.0F) < 100);
    // And it would not be so without what the optimizer remembers.
    Run without(1, 200);
    without.cluster.goes_on_from = whole.kept;
    std::vector<float>& velocity = without.cluster.goes_on_from[0]->floats.at("velocity");
    std::fill(velocity.begin(), velocity.end(), 0.0F);
    without.require_to_end();
    CHECK(sim::relative_distance(without.cluster[0].parameters, whole.cluster[0].parameters) >
          1e-3);
}

TEST_CASE("all go on together, each with the newest that anybody has of its row") {
    Run whole;
    whole.keeps_after = {4, 6, 5};
    whole.require_to_end();
    Run again(3, 100);
    again.cluster.goes_on_from = whole.kept;
    again.require_to_end();
    Round least = rounds_each;
    for (const Round round : again.first_rounds) least = std::min(least, round);
    CHECK(least >= 4);
    CHECK(again.says("has its rows from a checkpoint of round 6"));
    CHECK(again.says("goes on with a run that is at "));
    for (PeerIndex peer = 0; peer < 3; ++peer) {
        const AkoCompute& half = again.cluster[peer].half;
        CHECK(half.agreement().has_vote());
        CHECK(half.round() > whole.kept[peer]->id.round);
        const Incarnation life = half.rows().ledger().held(row_of(peer)).highest.incarnation;
        CHECK(lives_before(life) == 1);
        CHECK(process_of(life) == 100 + peer);
    }
    // Once more, from checkpoints of the second start.
    CHECK(again.cluster[0].report->samples_total >= again.cluster.settings.sample_budget);
}

TEST_CASE("who comes late joins those that have gone on") {
    const auto kept = kept_after({4, 4, 4});
    Run again(3, 100);
    again.cluster.goes_on_from = kept;
    again.cluster.settings.exchange.start_wait_s = 2;
    again.cluster.round_time = ms(1500);
    again.cluster.starts_at = {ms(0), ms(0), ms(6000)};
    again.require_to_end();
    CHECK(again.says("joins a run that is at "));
    CHECK(again.cluster[2].half.round() > 4);
}

TEST_CASE("who has lost its disk has its row from the others") {
    const auto kept = kept_after({6, 6, 6});
    Run again(3, 100);
    again.cluster.goes_on_from = {kept[0], kept[1], std::nullopt};
    again.require_to_end();
    const std::vector<VersionRun> runs = again.cluster[0].half.rows().ledger().versions(row_of(2));
    for (const VersionRun& run : runs) CHECK(lives_before(run.version.incarnation) == 1);
    CHECK(again.cluster[2].half.round() > 4);
}

TEST_CASE("any minority of disks may be lost: every row is on those that are left") {
    constexpr std::size_t count = 5;
    const auto kept = kept_after({6, 6, 6, 6, 6});
    for (PeerIndex one = 0; one < count; ++one) {
        const PeerIndex other = (one + 1 + one % 2) % count;
        Run again(count, 100);
        again.cluster.goes_on_from = kept;
        again.cluster.goes_on_from[one] = again.cluster.goes_on_from[other] = std::nullopt;
        again.require_to_end();
        Round least = rounds_each;
        for (const RowIndex row : AllRows(count)) {
            least = std::min(least, newest_kept(again.cluster.goes_on_from, row));
            // None of its blocks was begun again at zero.
            for (const VersionRun& run : again.cluster[0].half.rows().ledger().versions(row))
                CHECK(lives_before(run.version.incarnation) == 1);
        }
        CHECK(least > 0);
        CHECK(std::ranges::min(again.first_rounds) >= least);
    }
}

TEST_CASE("who has lost its disk does not begin with a part of its row") {
    const auto kept = kept_after({6, 6, 6});
    Run again(3, 100);
    again.cluster.goes_on_from = {kept[0], kept[1], std::nullopt};
    again.cluster.settings.exchange.start_wait_s = 2;
    again.cluster.starts_at = {ms(0), ms(60'000), ms(0)};
    CHECK_FALSE(again.cluster.run(long_enough));
    CHECK(contains(again.cluster.violation,
                   "of what c has learned only a part is on the disks of "
                   "those who are here: start it again once b can be reached"));
}

TEST_CASE("all go on if anybody does: one has lost its disk, and the others keep their votes") {
    const auto kept = kept_after({6, 6, 6});
    Run again(3, 100);
    again.cluster.settings.resumes_if_any = true;
    again.cluster.goes_on_from = kept;
    again.cluster.begins_anew = peer_bit(2);
    again.cluster.starts_at = {ms(0), ms(900), ms(400)};
    again.require_to_end();
    for (PeerIndex peer = 0; peer < 3; ++peer) {
        if (peer < 2) CHECK(again.cluster[peer].half.agreement().has_vote());
        CHECK(again.cluster[peer].half.round() > 4);
    }
}

TEST_CASE("checkpoints of two runs are not gone on from together") {
    Run one, other(3, 50);
    one.keeps_after = other.keeps_after = {5, 5, 5};
    one.require_to_end();
    other.require_to_end();
    Run mixed(3, 100);
    mixed.cluster.goes_on_from = {one.kept[0], other.kept[1], one.kept[2]};
    CHECK_FALSE(mixed.cluster.run(long_enough));
    CHECK(contains(mixed.cluster.violation, "a peer cannot train: peer "));
    CHECK(contains(mixed.cluster.violation, "of another run than this peer's checkpoint"));
    // Nor are those of later starts, whose rows nobody has begun at zero.
    Run one_more(3, 200), other_more(3, 250);
    one_more.cluster.goes_on_from = one.kept;
    other_more.cluster.goes_on_from = other.kept;
    one_more.keeps_after = other_more.keeps_after = {8, 8, 8};
    one_more.require_to_end();
    other_more.require_to_end();
    Run mixed_more(3, 300);
    mixed_more.cluster.goes_on_from = {one_more.kept[0], other_more.kept[1], one_more.kept[2]};
    CHECK_FALSE(mixed_more.cluster.run(long_enough));
    CHECK(contains(mixed_more.cluster.violation, "of another run than this peer's checkpoint"));
    // Those of two starts of one run are, the older one with what others have beyond it.
    Run starts(3, 400);
    starts.cluster.goes_on_from = {one_more.kept[0], one.kept[1], one_more.kept[2]};
    starts.require_to_end();
}

TEST_CASE("some who go on and some who begin anew are refused, all of them") {
    Run whole;
    whole.keeps_after = {5, 5, 5};
    whole.require_to_end();
    Run mixed(3, 100);
    mixed.cluster.goes_on_from = whole.kept;
    mixed.cluster.begins_anew = peer_bit(1);
    CHECK_FALSE(mixed.cluster.run(long_enough));
    CHECK(contains(mixed.cluster.violation,
                   "a and c go on from a checkpoint, b begins anew: start all of them with "
                   "--resume, or none"));
    Run without(3, 200);
    without.cluster.goes_on_from.resize(3);
    CHECK_FALSE(without.cluster.run(long_enough));
    CHECK(contains(without.cluster.violation, "none of a, b, c has a checkpoint to go on from"));
}

TEST_CASE("a checkpoint whose blocks are not their owners' is no start") {
    Run whole(1);
    whole.keeps_after = {5};
    whole.require_to_end();
    const auto complaint = [&](const auto& change) -> std::string {
        Run again(1, 100);
        again.cluster.goes_on_from = whole.kept;
        change(*again.cluster.goes_on_from[0]);
        try {
            again.cluster.run(long_enough);
        } catch (const StartupError& error) {
            CHECK(contains(error.what(), "state-a-5.safetensors: "));
            CHECK(contains(error.hint(), "remove it"));
            return error.what();
        }
        return "";
    };
    whole.kept[0]->path = "state-a-5.safetensors";
    CHECK(contains(complaint([](Checkpoint& it) { it.floats.at("row.0")[4100] += 1; }),
                   "a block 1 of row.0 that is not as its owner made it"));
    CHECK(contains(complaint([](Checkpoint& it) { it.floats.erase("carry"); }),
                   "lacks the 12288 values of carry"));
    CHECK(contains(complaint([](Checkpoint& it) { it.words.at("row.0.versions")[0] = 1; }),
                   "lacks versions of row.0"));
}

}  // namespace ako::ako_resume_test
