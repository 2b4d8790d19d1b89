// The keys of the modes: words, roles of peers, and what does not go together.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ako/mode_table.h"
#include "complaint.h"
#include "src/config/cluster_file.h"

namespace ako::modes_test {

namespace {

constexpr const char* file = "/etc/ako/c.yaml";
const std::string text = R"(run: small
model: mlp
data: {path: data}
exchange: {mode: parameter-server, rule: plain, local_rounds: 4}
peers:
  - {name: a, address: "127.0.0.1:7701"}
  - {name: b, address: "127.0.0.1:7702"}
  - {name: c, address: "127.0.0.1:7703"}
)";

Settings read(const std::vector<std::string>& overrides) {
    return read_cluster_text(text, file, overrides);
}
std::string complaint(const std::vector<std::string>& overrides) {
    return test::complaint(text, file, overrides);
}

}  // namespace

TEST_CASE("every mode has its word, and keys of others may stand beside it") {
    const std::vector<std::pair<std::string, Mode>> words = {
        {"ako", Mode::ako},
        {"ring", Mode::ring},
        {"parameter-server", Mode::parameter_server},
        {"local-sgd", Mode::local_sgd},
        {"sma", Mode::sma},
        {"local", Mode::local}};
    for (const auto& [word, mode] : words) {
        const Settings settings = read({"exchange.mode=" + word});
        CHECK(settings.exchange.mode == mode);
        CHECK(settings.exchange.local_sgd.rounds == 4);
        CHECK(read_cluster_text(write_cluster_text(settings), file, {}).exchange ==
              settings.exchange);
    }
    CHECK(complaint({"exchange.mode=horovod"}).find("exchange.mode: expected ako, ring") !=
          std::string::npos);
}

TEST_CASE("a silent peer is waited for longer where all wait for each other, unless told") {
    const auto life = [](const std::vector<std::string>& overrides) {
        return read(overrides).exchange.life_timeout_ms;
    };
    const std::string servers = "exchange.mode=parameter-server";
    CHECK(life({"exchange.mode=ako"}) == 2000);
    CHECK(life({"exchange.mode=ring"}) == 30'000);
    CHECK(life({"exchange.mode=local-sgd"}) == 30'000);
    CHECK(life({"exchange.mode=sma"}) == 30'000);
    CHECK(life({servers}) == 30'000);
    CHECK(life({servers, "exchange.consistency={ssp: 3}"}) == 30'000);
    CHECK(life({servers, "exchange.consistency=async"}) == 2000);
    CHECK(life({"exchange.mode=ring", "exchange.life_timeout_ms=4000"}) == 4000);
    // The loss of a peer is soon made good in an elastic ring.
    CHECK(life({"exchange.mode=ring", "exchange.elastic=true"}) == 2000);
    CHECK(life({"exchange.mode=local-sgd", "exchange.elastic=true"}) == 30'000);
    CHECK(life({"exchange.mode=ako", "exchange.life_timeout_ms=30000"}) == 30'000);
}

TEST_CASE("consistency is a word or a number of rounds") {
    const auto gap = [](const std::string& value) {
        return read({"exchange.consistency=" + value}).exchange.server.clock_gap_max;
    };
    CHECK(gap("bsp") == 0U);
    CHECK(gap("{ssp: 0}") == 0U);
    CHECK(gap("{ssp: 3}") == 3U);
    CHECK(gap("async") == std::nullopt);
    for (const char* wrong : {"ssp", "3", "{ssp: -1}", "{ssp: 3, bsp: 1}", "{gap: 3}", "[bsp]"}) {
        CAPTURE(wrong);
        CHECK(complaint({std::string("exchange.consistency=") + wrong})
                  .find("expected bsp, async or {ssp: ") != std::string::npos);
    }
    const Settings settings = read({"exchange.consistency={ssp: 3}"});
    CHECK(read_cluster_text(write_cluster_text(settings), file, {}).exchange == settings.exchange);
}

TEST_CASE("servers have a role where they are dedicated, and only there") {
    const Settings settings =
        read({"exchange.placement=dedicated", "peers.2.role=server", "exchange.servers=1"});
    CHECK(settings.peers[2].role == Role::server);
    CHECK(settings.peers[0].role == Role::worker);
    CHECK(read_cluster_text(write_cluster_text(settings), file, {}).peers == settings.peers);
    CHECK(complaint({"peers.2.role=server"}).find("no peer with role: server") !=
          std::string::npos);
    CHECK(complaint({"exchange.mode=ring", "peers.2.role=server"}).find("role: server") !=
          std::string::npos);
    CHECK(complaint({"exchange.placement=dedicated"})
              .find("as many as peers with role: server (0)") != std::string::npos);
    CHECK(complaint({"exchange.placement=dedicated", "exchange.servers=3", "peers.0.role=server",
                     "peers.1.role=server", "peers.2.role=server"})
              .find("at least one worker") != std::string::npos);
    CHECK(complaint({"exchange.servers=4"}).find("at most the 3 peers") != std::string::npos);
    CHECK(complaint({"peers.1.role=boss"}).find("expected worker or server") != std::string::npos);
}

TEST_CASE("modes that need all peers wait for them") {
    CHECK(complaint({"exchange.start_wait_s=0"}).find("when all peers are there") !=
          std::string::npos);
    CHECK_NOTHROW(read({"exchange.mode=ako", "exchange.start_wait_s=0"}));
}

TEST_CASE("how often checkpoints are kept is shared where all go on from the same one") {
    const auto differs = [](std::vector<std::string> mode) {
        const std::string digest = training_digest_text(read(mode));
        const std::string of_checkpoints = checkpoint_digest_text(read(mode));
        mode.emplace_back("training.checkpoint_every=0.5");
        CHECK(checkpoint_digest_text(read(mode)) == of_checkpoints);
        return training_digest_text(read(mode)) != digest;
    };
    CHECK(differs({"exchange.mode=ring"}));
    CHECK(differs({"exchange.mode=local-sgd"}));
    CHECK(differs({"exchange.mode=parameter-server", "exchange.consistency=bsp"}));
    CHECK_FALSE(differs({"exchange.mode=parameter-server", "exchange.consistency=async"}));
    // Where a server is no worker there are only models.
    CHECK_FALSE(differs({"exchange.mode=parameter-server", "exchange.consistency=bsp",
                         "exchange.placement=dedicated", "peers.2.role=server"}));
    CHECK_FALSE(differs({"exchange.mode=ring", "exchange.elastic=true"}));
    CHECK_FALSE(differs({"exchange.mode=ako"}));
    CHECK_FALSE(differs({"exchange.mode=local"}));
}

TEST_CASE("the training digest tells modes and roles apart") {
    const std::string digest = training_digest_text(read({}));
    for (const char* shared : {"exchange.mode=ring", "exchange.elastic=true", "exchange.servers=2",
                               "exchange.all_reduce=butterfly", "exchange.rounds_ahead=1",
                               "exchange.consistency=async", "exchange.local_rounds=5",
                               "exchange.outer_learning_rate=0.7", "exchange.outer_momentum=0.9"}) {
        CAPTURE(shared);
        CHECK(training_digest_text(read({shared})) != digest);
    }
    CHECK(training_digest_text(read({"exchange.placement=dedicated", "peers.2.role=server"})) !=
          training_digest_text(read({"exchange.placement=dedicated", "peers.1.role=server"})));
}

TEST_CASE("learners: a number or auto, in the modes that take what they learned") {
    const Settings settings = read({"exchange.mode=sma", "training.learners=4"});
    CHECK(settings.training.learners == 4);
    CHECK(settings.training.samples_per_round() == 4 * settings.training.batch.local);
    CHECK(settings.training.samples_per_round_max() == settings.training.samples_per_round());
    CHECK(has_learners(settings.training, settings.exchange));
    CHECK(has_learners(read({"exchange.mode=sma"}).training,
                       read({"exchange.mode=sma"}).exchange));  // with one at each peer
    const Settings adapts = read({"exchange.mode=ako", "training.learners=auto"});
    CHECK(adapts.training.learners == 0);
    CHECK(adapts.training.samples_per_round() == adapts.training.batch.local);
    CHECK(adapts.training.samples_per_round_max() == 64 * adapts.training.batch.local);
    CHECK(write_cluster_text(adapts).find("learners: auto") != std::string::npos);
    for (const std::string mode : {"ako", "local", "ring"}) {
        const Settings one = read({"exchange.mode=" + mode});
        CHECK(!has_learners(one.training, one.exchange));
    }
    CHECK(complaint({"exchange.mode=ring", "training.learners=2"})
              .find("training.learners: expected 1 with exchange.mode: ring, found 2") !=
          std::string::npos);
    CHECK(complaint({"exchange.mode=local-sgd", "training.learners=auto"})
              .find("expected 1 with exchange.mode: local-sgd, found auto") != std::string::npos);
    CHECK(read({"exchange.mode=sma", "training.learners=auto"}).training.learners == 0);
    CHECK(complaint({"exchange.mode=ako", "training.learners=2", "training.threads=2"})
              .find("training.threads: expected 1 with training.learners: 2, found 2") !=
          std::string::npos);
    CHECK(complaint({"exchange.mode=sma", "model=external"})
              .find("exchange.mode: expected ako, local-sgd or local with model: external, found "
                    "sma") != std::string::npos);
    CHECK(complaint({"exchange.mode=ako", "model=external", "training.learners=2"})
              .find("training.learners: expected 1 with model: external, found 2") !=
          std::string::npos);
}

TEST_CASE("a butterfly is for all modes that sum up, but not for an elastic ring") {
    CHECK(read({"exchange.mode=ring"}).exchange.all_reduce == AllReduce::ring);
    for (const std::string mode : {"ring", "local-sgd", "sma", "ako"}) {
        const Settings settings = read({"exchange.mode=" + mode, "exchange.all_reduce=butterfly"});
        CHECK(settings.exchange.all_reduce == AllReduce::butterfly);
        CHECK(write_cluster_text(settings).find("all_reduce: butterfly") != std::string::npos);
    }
    CHECK(complaint({"exchange.all_reduce=tree"}).find("expected ring or butterfly") !=
          std::string::npos);
    CHECK(
        complaint({"exchange.mode=ring", "exchange.elastic=true", "exchange.all_reduce=butterfly"})
            .find("exchange.all_reduce: expected ring with exchange.elastic: true, found "
                  "butterfly") != std::string::npos);
}

TEST_CASE("a ring is elastic where the file says so, and other modes do not heed it") {
    CHECK_FALSE(entry_of(read({"exchange.mode=ring"}).exchange).is_elastic());
    CHECK(entry_of(read({"exchange.mode=ring", "exchange.elastic=true"}).exchange).is_elastic());
    CHECK_FALSE(
        entry_of(read({"exchange.mode=local-sgd", "exchange.elastic=true"}).exchange).is_elastic());
    CHECK(complaint({"exchange.elastic=perhaps"}).find("expected true or false") !=
          std::string::npos);
    const Settings settings = read({"exchange.mode=ring", "exchange.elastic=true"});
    CHECK(read_cluster_text(write_cluster_text(settings), file, {}).exchange == settings.exchange);
}

}  // namespace ako::modes_test
