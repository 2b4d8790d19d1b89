// Rounds that end with an update which the caller's own optimizer made. The settings' optimizer
// must have no part in them, so it is set to steps that nobody could miss.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "src/modes/local_compute.h"
#include "src/modes/make_exchange.h"
#include "src/numbers/optimizer.h"
#include "tests/unit/modes/faultless_peers.h"

namespace ako::own_optimizer_test {

using sim::ms;

namespace {

constexpr std::size_t elements = 40;
constexpr std::size_t peer_count = 3;
/// Not a multiple of the rounds between two averagings: the rest is averaged at the end.
constexpr std::uint64_t rounds = 13;

TrainingSettings sound_steps() {
    TrainingSettings training;
    training.learning_rate = 0.2;
    training.momentum = 0.9;
    training.batch.local = 1;
    return training;
}

TrainingSettings wild_steps() {
    TrainingSettings training = sound_steps();
    training.learning_rate = 1000;
    training.momentum = 0;
    return training;
}

ModeSettings settings_of(Mode mode, const TrainingSettings& training) {
    ModeSettings settings;
    settings.peer_names = {"a", "b", "c"};
    settings.exchange.mode = mode;
    settings.exchange.staleness_rounds_max = 0;
    settings.exchange.local_sgd.rounds = 3;
    settings.training = training;
    settings.block_elements = 8;
    settings.layers = {{0, 16}, {16, elements - 16}};
    settings.sample_budget = rounds * peer_count;
    settings.log = [](const std::string&) {};
    return settings;
}

/// Every peer wants all parameters to be its own number, from 1.
void write_gradient(PeerIndex self, std::span<const float> replica, std::span<float> gradient) {
    for (std::size_t k = 0; k < elements; ++k) {
        gradient[k] = 0.1F * (replica[k] - static_cast<float>(self + 1));
    }
}

/// Three peers without faults in virtual time.
class Run final : sim::Work, sim::Observer {
    static constexpr sim::Pace pace{ms(20), ms(1), ms(2000)};

  public:
    /// `own`: they step by optimizers of their own.
    Run(Mode mode, bool own)
        : own_(own), cluster_(1, peer_count, std::chrono::seconds(2), pace, *this, *this) {
        test::add_faultless_peers(cluster_, settings_of(mode, own ? wild_steps() : sound_steps()),
                                  elements, 1e8);
        cluster_.run(std::chrono::minutes(10));
    }

    const FinishReport& report(PeerIndex peer) const { return cluster_[peer].report.value(); }
    const std::vector<float>& parameters(PeerIndex peer) const { return cluster_[peer].parameters; }

  private:
    float gradient(sim::SimPeer& peer) override {
        write_gradient(peer.settings.self, peer.exchange.replica(), peer.gradient);
        return 0.5F;
    }
    Learned learned(sim::SimPeer& peer) override {
        if (!own_) return Gradient{peer.gradient};
        const PeerIndex self = peer.settings.self;
        updates_[self].resize(elements);
        optimizers_[self].step({0, elements}, peer.gradient, peer.exchange.replica(),
                               sound_steps().learning_rate, updates_[self]);
        return Update{updates_[self]};
    }
    Time backward_time(const sim::SimPeer&) override { return ms(5); }

    const bool own_;
    std::vector<Sgd> optimizers_ = std::vector<Sgd>(peer_count, Sgd(elements, sound_steps(), {}));
    std::vector<std::vector<float>> updates_ = std::vector<std::vector<float>>(peer_count);
    sim::SimCluster cluster_;
};

}  // namespace

TEST_CASE("with the same optimizer on the caller's side a run comes to the same") {
    for (const Mode mode : {Mode::ako, Mode::local_sgd}) {
        const Run by_gradients(mode, false);
        const Run by_updates(mode, true);
        for (PeerIndex peer = 0; peer < peer_count; ++peer) {
            CHECK(by_updates.report(peer).identical);
            CHECK(by_updates.report(peer).rounds == by_gradients.report(peer).rounds);
            for (std::size_t k = 0; k < elements; ++k) {
                const float value = by_updates.parameters(peer)[k];
                CHECK(value == doctest::Approx(by_gradients.parameters(peer)[k]).epsilon(1e-5));
                CHECK(value > 0.5F);  // it has learned: from 0 towards 2
            }
        }
    }
}

TEST_CASE("mode local adds an update to its parameters, and refuses one that is not finite") {
    LocalCompute local(settings_of(Mode::local, wild_steps()), std::vector<float>(elements, 1));
    std::vector<float> update(elements, 0.25F);
    REQUIRE(local.begin_round({})->kind == Next::Kind::train);
    REQUIRE(local.end_round(Update{update}, {1, 0.5F}, {}));
    CHECK(local.replica()[0] == 1.25F);
    CHECK(local.standing().round == 1);

    update[elements - 1] = INFINITY;
    REQUIRE(local.begin_round({})->kind == Next::Kind::train);
    const Result<void> refused = local.end_round(Update{update}, {1, 0.5F}, {});
    REQUIRE(!refused);
    CHECK(refused.error().kind == Error::Kind::numbers);
    CHECK(refused.error().what == "the update of round 2 is not finite");
    CHECK(local.replica()[0] == 1.25F);
}

}  // namespace ako::own_optimizer_test
