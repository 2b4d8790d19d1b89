// Learners in the mode ako, three peers in virtual time: rows travel while they train, and all come
// to one model. Their threads are std::thread, so that this is compiled for ThreadSanitizer too.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "src/modes/make_exchange.h"
#include "src/training/learners.h"
#include "tests/unit/modes/faultless_peers.h"

namespace ako::learners_in_ako_test {

using sim::ms;

namespace {

constexpr std::size_t elements = 40;
constexpr std::size_t peer_count = 3;
constexpr std::uint64_t rounds = 300;

/// Every learner of a peer wants all parameters to be a number of its own, in the middle of which
/// lies the peer's: 1, 2, 3.
class FakeNetwork final : public Network {
  public:
    explicit FakeNetwork(float wanted) : wanted_(wanted) {}

    std::size_t parameter_count() const override { return elements; }
    const std::vector<Tensor>& tensors() const override { return tensors_; }
    void initialize(std::uint64_t, std::span<float>) const override {}
    float gradient(const Batch&, std::span<const float> parameters, std::span<float> gradient,
                   const AwaitRange&, const RangeReady&) override {
        for (std::size_t k = 0; k < elements; ++k) gradient[k] = 0.5F * (parameters[k] - wanted_);
        return std::abs(gradient[0]);
    }
    Evaluation evaluate(const Batch&, std::span<const float>) override { return {}; }

  private:
    const float wanted_;
    const std::vector<Tensor> tensors_;
};

ModeSettings settings_with(unsigned learners) {
    ModeSettings settings;
    settings.peer_names = {"a", "b", "c"};
    settings.training.learners = learners;
    settings.training.batch.local = 1;
    settings.training.learning_rate = 0.02;
    settings.exchange.mode = Mode::ako;
    settings.block_elements = 8;
    settings.sample_budget = rounds * peer_count * learners;
    settings.log = [](const std::string&) {};
    return settings;
}

class Run final : sim::Work, sim::Observer {
    static constexpr sim::Pace pace{ms(20), ms(1), ms(2000)};

  public:
    explicit Run(unsigned learners)
        : learners_of_peer_(learners),
          cluster_(1, peer_count, std::chrono::seconds(2), pace, *this, *this) {
        const ModeSettings settings = settings_with(learners);
        for (PeerIndex self = 0; self < peer_count; ++self)
            learners_.push_back(make_learners(self, settings.training));
        test::add_faultless_peers(cluster_, settings, elements, 1e5);
        cluster_.run(std::chrono::minutes(10));
    }

    const sim::SimPeer& operator[](PeerIndex peer) { return cluster_[peer]; }

  private:
    std::unique_ptr<Learners> make_learners(PeerIndex self, const TrainingSettings& training) {
        const auto network = [this, self](std::size_t number) {
            const double off = static_cast<double>(number) - (learners_of_peer_ - 1) / 2.0;
            return std::make_unique<FakeNetwork>(static_cast<float>(self + 1 + off));
        };
        networks_.push_back(network(0));
        LearnerOptions options;
        options.follows = true;
        return std::make_unique<Learners>(*networks_.back(), network, training, options, clock_);
    }

    float gradient(sim::SimPeer&) override { return 0.5F; }
    Learned learned(sim::SimPeer& peer) override {
        Learners& learners = *learners_[peer.settings.self];
        learners.learn({{}, {}, learners.samples_per_round()}, peer.exchange.replica(),
                       peer.exchange.standing().progress);
        return Update{learners.correct(peer.exchange.replica())};
    }
    Time backward_time(const sim::SimPeer& peer) override { return ms(5 + peer.settings.self); }

    const unsigned learners_of_peer_;
    const SteadyClock clock_;
    std::vector<std::unique_ptr<Network>> networks_;
    std::vector<std::unique_ptr<Learners>> learners_;
    sim::SimCluster cluster_;
};

}  // namespace

TEST_CASE("mode ako with learners: all end with the same bits, in the middle of what they want") {
    for (const unsigned learners : {2U, 4U}) {
        Run run(learners);
        for (PeerIndex peer = 0; peer < peer_count; ++peer) {
            const FinishReport& report = run[peer].report.value();
            CHECK(report.identical);
            CHECK(report.digest == run[0].report->digest);
            for (const float element : run[peer].parameters)
                REQUIRE(element == doctest::Approx(2).epsilon(0.1));
        }
    }
}

}  // namespace ako::learners_in_ako_test
