// The compute half of the modes that exchange buckets, without a network: numbers that overflow.
#include "src/modes/bucket_compute.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/buckets/bucket_rule.h"

namespace ako::bucket_compute_test {

namespace {

/// Nothing but the memory of the sums.
class NoProtocol final : public BucketProtocol {
  public:
    explicit NoProtocol(std::size_t elements) : sums(elements) {}
    void contributed(const Contribution&) override {}
    void consumed(std::size_t, std::uint64_t) override {}
    void finished(PeerIndex, Round) override {}
    void session_over(PeerIndex) override {}
    bool partner(PeerIndex) const override { return true; }
    bool needs(PeerIndex) const override { return true; }
    std::optional<OutFrame> next(PeerIndex, std::size_t) override { return std::nullopt; }
    std::optional<std::string> refuse(PeerIndex, const Chunk&, std::size_t) const override {
        return std::nullopt;
    }
    std::optional<std::span<float>> reserve(PeerIndex, const Chunk&, std::size_t) override {
        return std::nullopt;
    }
    void arrived(PeerIndex, const Chunk&, std::size_t) override {}
    std::span<float> result() override { return sums; }

    std::vector<float> sums;
};

/// The only peer of its run, so that its own contribution is the sum. Every gradient is finite, but
/// a step with it leads beyond what a float can hold.
struct Alone {
    Alone(Mode mode, std::uint64_t rounds) : Alone(settings_of(mode, rounds)) {}
    explicit Alone(ModeSettings of) : settings(std::move(of)) {
        const std::vector<float> initial(elements);
        std::unique_ptr<BucketRule> update;
        const Mode mode = settings.exchange.mode;
        if (mode == Mode::ring)
            update = std::make_unique<MeanGradient>(settings, initial);
        else if (mode == Mode::parameter_server)
            update = std::make_unique<PulledParameters>(protocol.result());
        else if (mode == Mode::sma)
            update = std::make_unique<AverageOfLearners>(initial);
        else
            update = std::make_unique<MeanOfLocalRounds>(settings, initial);
        peer = std::make_unique<BucketCompute>(settings, buckets, mailbox, board, protocol,
                                               std::move(update));
    }

    static constexpr std::size_t elements = 8;
    static ModeSettings settings_of(Mode mode, std::uint64_t rounds) {
        ModeSettings settings;
        settings.peer_names = {"a"};
        settings.exchange.mode = mode;
        settings.exchange.local_sgd.rounds = 2;
        settings.exchange.server.clock_gap_max = std::nullopt;  // async
        settings.training.learning_rate = 10;
        settings.training.batch.local = 1;
        settings.sample_budget = rounds;
        return settings;
    }

    Result<void> round() {
        const std::optional<Next> next = peer->begin_round({});
        REQUIRE(next);
        REQUIRE(next->kind == Next::Kind::train);
        return peer->end_round(Gradient{gradient}, {1, 0.5F}, {});
    }
    /// What the network half does; as if another peer with so many learners had given as much.
    std::size_t exchange(std::uint8_t learners_of_another = 0) {
        const auto contributions = board.take().contributions;
        for (const Contribution& own : contributions) {
            sums.assign(own.vector.begin(), own.vector.end());
            SyncSummary summary{own.wish, 0, 0};
            summary.wish.learners[1] = learners_of_another;
            board.complete(own.bucket, own.sync, summary);
        }
        return contributions.size();
    }

    const ModeSettings settings;
    const Buckets buckets{{}, elements};
    std::vector<float> gradient = std::vector<float>(elements, 3e38F);
    NoProtocol protocol{elements};
    std::vector<float>& sums = protocol.sums;
    Mailbox mailbox{settings.peer_count()};
    BucketBoard board{1, [] {}};
    std::unique_ptr<BucketCompute> peer;
};

}  // namespace

TEST_CASE("in a ring the batch is doubled when the wish has gone round, and all samples count") {
    ModeSettings settings = Alone::settings_of(Mode::ring, 0);
    settings.training.learning_rate = 1e-3;
    settings.training.batch.local = 10;
    settings.training.batch.schedule.kind = BatchScheduleKind::automatic;
    settings.sample_budget = 1'000 * 10;
    Alone alone(std::move(settings));
    alone.gradient.assign(Alone::elements, 1);
    std::vector<std::size_t> of_rounds;
    std::uint64_t samples = 0;
    while (samples < 5'000) {
        const std::optional<Next> next = alone.peer->begin_round({});
        REQUIRE(next);
        of_rounds.push_back(next->samples);
        samples += next->samples;
        REQUIRE(alone.peer->step_await({0, Alone::elements}));
        REQUIRE(alone.peer->end_round(Gradient{alone.gradient}, {next->samples, 0.5F, 1e6}, {}));
        alone.exchange();
        CHECK(alone.peer->standing().samples == samples);
        CHECK(alone.peer->standing().progress ==
              doctest::Approx(static_cast<double>(samples) / 10000));
    }
    // Wished for at the end of a round, it goes out with the next one, whose sum all have in the
    // round after that.
    const auto first = static_cast<std::size_t>(std::find(of_rounds.begin(), of_rounds.end(), 20U) -
                                                of_rounds.begin());
    CHECK(first == BatchGrowth::rounds_min + 2);
    CHECK(of_rounds[first - 1] == 10);
    CHECK(std::find(of_rounds.begin(), of_rounds.end(), 40U) != of_rounds.end());
}

TEST_CASE("a ring that runs ahead waits for a step only where the next one takes its place") {
    ModeSettings settings = Alone::settings_of(Mode::ring, 4);
    settings.exchange.rounds_ahead = 1;
    settings.training.learning_rate = 0.5;
    settings.training.momentum = 0;
    Alone alone(std::move(settings));
    const Range all{0, Alone::elements};
    const auto round = [&](float gradient) {
        alone.gradient.assign(Alone::elements, gradient);  // what travels is a copy
        REQUIRE(alone.peer->begin_round({}).value().kind == Next::Kind::train);
        CHECK(alone.peer->step_await(all));  // the round waits for nothing
        if (!alone.peer->step_make_way(all)) {
            CHECK(alone.exchange() == 1);
            REQUIRE(alone.peer->step_make_way(all));
        }
        REQUIRE(alone.peer->end_round(Gradient{alone.gradient}, {1, 0.5F}, {}));
    };
    round(1);
    round(2);
    CHECK(alone.peer->replica()[0] == -0.5F);  // the step of the first round
    round(4);
    CHECK(alone.peer->replica()[7] == -1.5F);
    std::vector<float> evaluated(Alone::elements);
    alone.peer->copy_parameters(evaluated);
    CHECK(evaluated[0] == -1.5F);  // lacks what is under way
    CHECK_FALSE(alone.peer->step_settle());
    alone.exchange();
    CHECK(alone.peer->step_settle());  // what is saved lacks nothing
    CHECK(alone.peer->replica()[3] == -3.5F);
    round(8);
    CHECK_FALSE(alone.peer->begin_round({}));  // the last step is awaited at the end
    alone.exchange();
    CHECK(alone.peer->begin_round({}).value().kind == Next::Kind::finish);
    CHECK(alone.peer->replica()[3] == -7.5F);
}

TEST_CASE("mode sma: updates move the average, and a gradient is refused") {
    ModeSettings settings = Alone::settings_of(Mode::sma, 12);
    settings.training.learners = 3;
    Alone alone(settings);
    const Result<void> refused = alone.round();
    REQUIRE(!refused);
    CHECK(refused.error().kind == Error::Kind::unsupported);
    CHECK(refused.error().what.find("end the round with an update") != std::string::npos);

    std::vector<float> update(Alone::elements, 0.5F);
    for (int round = 1; round <= 4; ++round) {
        REQUIRE(alone.peer->begin_round({}).value().kind == Next::Kind::train);
        REQUIRE(alone.peer->step_await({0, Alone::elements}));
        REQUIRE(alone.peer->end_round(Update{update}, {3, 0.5F, {}, 3}, {}));
        std::fill(update.begin(), update.end(),
                  0.5F * static_cast<float>(round + 1));  // is its own
        CHECK(alone.peer->replica()[0] == 0.25F * static_cast<float>(round * (round - 1)));
        CHECK(alone.exchange() == 1);
    }
    CHECK(alone.peer->standing().samples == 12);
    CHECK(alone.peer->begin_round({}).value().kind == Next::Kind::finish);  // all have been settled
    CHECK(alone.peer->replica()[7] == 5);
}

TEST_CASE("local rounds that overflow are not averaged") {
    Alone alone(Mode::local_sgd, 4);
    CHECK(alone.round());
    const Result<void> second = alone.round();
    REQUIRE(!second);
    CHECK(second.error().kind == Error::Kind::numbers);
    CHECK(second.error().what.find("of round 2 is not finite") != std::string::npos);
    CHECK(alone.exchange() == 0);
}

TEST_CASE("an update whose numbers are not finite is not averaged") {
    Alone alone(Mode::local_sgd, 4);
    REQUIRE(alone.peer->begin_round({})->kind == Next::Kind::train);
    std::vector<float> update(Alone::elements, 1);
    update[5] = std::numeric_limits<float>::quiet_NaN();
    const Result<void> ended = alone.peer->end_round(Update{update}, {1, 0.5F}, {});
    REQUIRE(!ended);
    CHECK(ended.error().kind == Error::Kind::numbers);
    CHECK(ended.error().what == "the update of round 1 is not finite: no more of it is sent");
    CHECK(alone.exchange() == 0);
}

TEST_CASE("a mode that exchanges gradients refuses an update, and the round goes on") {
    for (const Mode mode : {Mode::ring, Mode::parameter_server}) {
        Alone alone(mode, 4);
        REQUIRE(alone.peer->begin_round({})->kind == Next::Kind::train);
        const std::vector<float> update(Alone::elements, 1);
        const Result<void> refused = alone.peer->end_round(Update{update}, {1, 0.5F}, {});
        REQUIRE(!refused);
        CHECK(refused.error().kind == Error::Kind::unsupported);
        CHECK(refused.error().what.find("exchanges gradients") != std::string::npos);
        CHECK(alone.peer->standing().round == 0);
        CHECK(alone.exchange() == 0);

        CHECK(alone.peer->end_round(Gradient{update}, {1, 0.5F}, {}));
        CHECK(alone.peer->standing().round == 1);
        CHECK(alone.exchange() == 1);
    }
}

TEST_CASE("local rounds that overflow are not averaged after the last round either") {
    Alone alone(Mode::local_sgd, 1);
    CHECK(alone.round());
    const std::optional<Next> next = alone.peer->begin_round({});
    REQUIRE(next);
    CHECK(next->ending == Ending::numbers);
    CHECK(next->why.find("of round 1 is not finite") != std::string::npos);
    CHECK(alone.exchange() == 0);
}

TEST_CASE("who waits for a bucket takes in what would wake it again and again") {
    Alone alone(Mode::ring, 2);
    CHECK(alone.round());
    Status status;
    status.standing.progress.resize(1);
    alone.mailbox.push({0, status, {}, {}});
    CHECK_FALSE(alone.peer->step_await({0, Alone::elements}));
    CHECK(alone.mailbox.take().empty());
}

TEST_CASE("checkpoints lie as far apart as the peer wants that wants them farthest apart") {
    ModeSettings settings = Alone::settings_of(Mode::ring, 2);
    settings.peer_names = {"a", "b", "c"};
    Alone one(settings);
    one.peer->tell_checkpoints({{}, 96});
    CHECK(one.mailbox.take_posted().status->start.marks_apart == 96);
    CHECK(one.peer->standing().marks_apart == 0);
    for (const PeerIndex other : {1, 2}) {
        Status status;
        status.standing.progress.resize(3);
        status.start.marks_apart = other == 1 ? 128 : 6;
        one.mailbox.set_presence(other, Presence::up);
        one.mailbox.push({other, status, {}, {}});
    }
    one.peer->begin_round({});
    CHECK(one.peer->standing().marks_apart == 128);
}

TEST_CASE("a last step that overflows is no model to end with") {
    Alone alone(Mode::ring, 1);
    CHECK(alone.round());
    CHECK(alone.exchange() == 1);
    const std::optional<Next> next = alone.peer->begin_round({});
    REQUIRE(next);
    CHECK(next->ending == Ending::numbers);
    CHECK(next->why == "a parameter of round 1 is not finite: no more of it is sent");
}

TEST_CASE("where a worker may be ahead, what the servers end with is looked at last") {
    Alone alone(Mode::parameter_server, 1);
    CHECK(alone.round());
    CHECK(alone.exchange() == 1);
    CHECK(alone.peer->begin_round({}).value().kind == Next::Kind::finish);
    alone.sums[3] = std::numeric_limits<float>::infinity();
    std::vector<float> parameters(alone.sums.size());
    const FinishReport report = alone.peer->report(parameters, {});
    CHECK(!report.agreed);
    CHECK(report.why_not == "a parameter is not finite: the training diverged");
}

TEST_CASE("asked to stop, it says so at the end, and who was asked") {
    Alone alone(Mode::ring, 10);
    const auto end = [&alone] {
        std::vector<float> parameters(Alone::elements);
        alone.peer->step_finish({});
        return alone.peer->report(parameters, {});
    };
    alone.gradient.assign(Alone::elements, 0.5F);
    SUBCASE("before its first round it gives up") {
        alone.peer->request_stop(StopReason::requested);
        const Next next = alone.peer->begin_round({}).value();
        CHECK(next.kind == Next::Kind::give_up);
        CHECK(next.why == never_began);
    }
    SUBCASE("a wish is in a sum that all have before they stop") {
        CHECK(alone.round());
        alone.peer->request_stop(StopReason::requested);
        std::optional<Next> next;
        for (int more = 0; more < 4 && (!next || next->kind == Next::Kind::train); ++more) {
            if (next) REQUIRE(alone.peer->end_round(Gradient{alone.gradient}, {1, 0.5F}, {}));
            alone.exchange();
            REQUIRE(alone.peer->step_await({0, Alone::elements}));
            next = alone.peer->begin_round({});
        }
        REQUIRE(next->kind == Next::Kind::finish);
        const FinishReport report = end();
        CHECK(report.stopped_early());
        CHECK(report.asked == std::vector<PeerIndex>{0});
        CHECK(report.progress < 0.5);
    }
    SUBCASE("a target that is reached outweighs a wish, whichever comes first") {
        CHECK(alone.round());
        alone.peer->request_stop(StopReason::requested);
        alone.peer->request_stop(StopReason::target_reached);
        alone.peer->request_stop(StopReason::requested);
        const FinishReport report = end();
        CHECK(report.stop == StopReason::target_reached);
        CHECK(report.asked.empty());
        CHECK(!report.stopped_early());
    }
}

TEST_CASE("the view of a link tells a peer that has left from one that was lost") {
    ModeSettings settings = Alone::settings_of(Mode::ring, 1);
    settings.peer_names = {"a", "b", "c"};
    const Buckets buckets{{}, Alone::elements};
    NoProtocol protocol(Alone::elements);
    Mailbox mailbox{3};
    BucketBoard board{1, [] {}};
    BucketCompute peer(settings, buckets, mailbox, board, protocol,
                       std::make_unique<MeanGradient>(settings, protocol.sums));
    const auto known = [&peer](PeerIndex other) { return peer.link(other, {}).presence; };
    CHECK(known(1) == Presence::absent);
    mailbox.set_presence(1, Presence::up);
    mailbox.set_presence(2, Presence::up);
    peer.begin_round({});
    CHECK(known(1) == Presence::up);
    mailbox.push({1, Bye{1}, {}, {}});
    mailbox.set_presence(2, Presence::lost);
    peer.begin_round({});
    CHECK(known(1) == Presence::left);
    CHECK(known(2) == Presence::lost);
    CHECK(!peer.link(1, {}).live);
}

TEST_CASE("only a worker that serves nobody leaves alone; the others stop for all") {
    ModeSettings settings = Alone::settings_of(Mode::parameter_server, 100);
    settings.peer_names = {"a", "b", "c"};
    settings.exchange.server.placement = Placement::co_located;
    std::vector<std::string> lines;
    settings.log = [&lines](const std::string& line) { lines.push_back(line); };
    bool leaves = true;
    SUBCASE("a worker") { settings.self = 1; }
    SUBCASE("a server, which trains too") { leaves = false; }
    SUBCASE("in a ring") {
        settings.exchange.mode = Mode::ring;
        settings.self = 1;
        leaves = false;
    }
    const Buckets buckets{{}, Alone::elements};
    NoProtocol protocol(Alone::elements);
    Mailbox mailbox{3};
    BucketBoard board{1, [] {}};
    BucketCompute peer(settings, buckets, mailbox, board, protocol,
                       std::make_unique<PulledParameters>(protocol.sums));
    for (PeerIndex other = 0; other < 3; ++other) {
        if (other == settings.self) continue;
        mailbox.set_presence(other, Presence::up);
        Status anew;
        anew.standing.progress.resize(3);
        mailbox.push({other, anew, {}, {}});
    }
    REQUIRE(peer.begin_round({})->kind == Next::Kind::train);
    const std::vector<float> gradient(Alone::elements, 1);
    REQUIRE(peer.end_round(Gradient{gradient}, {1, 0.5F}, {}));
    peer.request_leave();
    if (leaves) {
        CHECK(!peer.begin_round({}));  // what it has pushed is not taken in yet
        const std::vector<Contribution> pushed = board.take().contributions;
        REQUIRE(pushed.size() == 1);
        board.complete(pushed[0].bucket, pushed[0].sync, {});
        const std::optional<Next> next = peer.begin_round({});
        REQUIRE(next);
        CHECK(next->kind == Next::Kind::finish);
        CHECK(peer.step_finish({}));
        const Mailbox::Posted posted = mailbox.take_posted();
        CHECK(posted.status->standing.leaving);
        CHECK(posted.status->standing.final_round == 1);
        CHECK(posted.status->standing.stop == StopReason::none);
        std::vector<float> out(Alone::elements);
        const FinishReport report = peer.report(out, {});
        CHECK(report.left);
        CHECK(!report.agreed);
        CHECK(report.handed_to == std::vector<PeerIndex>{0});
        REQUIRE(report.left_early.size() == 1);
        CHECK(report.left_early[0].peer == 1);
    } else {
        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find("it stops for all") != std::string::npos);
        peer.request_leave();
        CHECK(lines.size() == 1);
    }
}

TEST_CASE("a target that was reached before a checkpoint ends the run that goes on from it") {
    std::vector<Checkpoint> made(1);
    /// After which round it stops, that a target is reached after the third.
    const auto stops_after = [&](std::optional<Checkpoint> begin, StopReason reason) {
        ModeSettings settings = Alone::settings_of(Mode::ring, 20);
        settings.log = [](const std::string&) {};
        if (begin) {
            settings.checkpoints = {begin->id};
            settings.read_checkpoint = [&](const CheckpointId&) -> Result<Checkpoint> {
                return *begin;
            };
        }
        Alone alone(settings);
        alone.gradient.assign(Alone::elements, 0.5F);
        for (;;) {
            const std::optional<Next> next = alone.peer->begin_round({});
            REQUIRE(next);
            const Round round = alone.peer->standing().round;
            if (next->kind == Next::Kind::finish) return round;
            REQUIRE(next->kind == Next::Kind::train);
            REQUIRE(alone.peer->step_await({0, Alone::elements}));
            REQUIRE(alone.peer->end_round(Gradient{alone.gradient}, {1, 0.5F}, {}));
            alone.exchange();
            REQUIRE(alone.peer->step_await({0, Alone::elements}));
            if (round + 1 == 3 && !begin) alone.peer->request_stop(reason);
            if (begin) continue;
            made.emplace_back();
            REQUIRE(alone.peer->save(made.back()));
        }
    };
    const Round end = stops_after({}, StopReason::target_reached);
    CHECK(end > 4);
    CHECK(end < 10);
    for (Round round = 3; round < end; ++round)
        CHECK(stops_after(made[round], StopReason::none) == end);
    // A peer that was asked to end is not asked any more when it goes on.
    made.resize(1);
    const Round asked = stops_after({}, StopReason::requested);
    CHECK(asked == end);
    CHECK(stops_after(made[3], StopReason::none) == 20);
}

TEST_CASE("learners weigh what they made by their number, and are counted a round later") {
    Alone bench(Mode::sma, 100);  // samples, one for each learner
    const Range all{0, Alone::elements};
    const std::vector<float> update(Alone::elements, 2);
    std::uint64_t samples = 0;
    const auto round = [&](std::size_t learners, std::uint8_t of_another) {
        const std::optional<Next> next = bench.peer->begin_round({});
        REQUIRE(next);
        REQUIRE(next->kind == Next::Kind::train);
        REQUIRE(bench.peer->step_await(all));
        const float before = bench.peer->replica()[0];
        REQUIRE(bench.peer->end_round(Update{update}, {learners, 0.5F, {}, learners}, {}));
        samples += learners + of_another;
        CHECK(bench.exchange(of_another) == 1);
        REQUIRE(bench.peer->step_await(all));
        return bench.peer->replica()[0] - before;
    };
    const auto foreseen = [&] { return std::lround(100 * bench.peer->standing().progress); };

    CHECK(round(1, 3) == 0.5F);  // 1 x 2 of 4
    CHECK(foreseen() == 1);      // as the settings say: one learner of the one peer
    CHECK(bench.peer->standing().learners_together == 4);
    CHECK(round(3, 3) == 1);     // 3 x 2 of 6
    CHECK(foreseen() == 4 + 4);  // the first made 4, and so will the second
    CHECK(bench.peer->standing().learners_together == 6);
    round(2, 0);
    CHECK(foreseen() == 4 + 6 + 6);
    round(2, 0);
    CHECK(foreseen() == 16);  // it is 4 + 6 + 2 + 2, and progress never falls
    CHECK(samples == 14);
    while (foreseen() < 100) round(43, 0);
    CHECK(samples == 100);
    CHECK(bench.peer->begin_round({})->kind == Next::Kind::finish);
}

}  // namespace ako::bucket_compute_test
