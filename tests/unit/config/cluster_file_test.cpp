// The cluster file: what is accepted, and for everything that is not, the place and the words.
#include "src/config/cluster_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ako/error.h"
#include "complaint.h"
#include "src/config/config_value.h"
#include "src/config/fields.h"
#include "tests/in_source.h"

namespace ako::cluster_file_test {

namespace {

const std::string minimal = R"(run: small
model: mlp
data: {path: data}
peers:
  - {name: a, address: "127.0.0.1:7701"}
  - {name: b, address: "127.0.0.1:7702"}
  - {name: c, address: "host.example:7703", listen: "0.0.0.0:7703"}
)";

constexpr const char* file = "/etc/ako/c.yaml";

Settings read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_cluster_text(text, file, overrides);
}

std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return test::complaint(text, file, overrides);
}

std::string with(const std::string& more) { return minimal + more; }

}  // namespace

TEST_CASE("a minimal file has the documented defaults") {
    const Settings settings = read(minimal);
    CHECK(settings.run == "small");
    CHECK(settings.seed == 1);
    CHECK(settings.model.kind == ModelKind::mlp);
    CHECK(settings.data.path == "/etc/ako/data");
    CHECK(settings.training == TrainingSettings{});
    CHECK(settings.exchange == ExchangeSettings{});
    CHECK(settings.output == (std::filesystem::current_path() / "runs").string());
    REQUIRE(settings.peers.size() == 3);
    CHECK(settings.peers[0] == PeerSettings{"a", "127.0.0.1:7701", "127.0.0.1:7701"});
    CHECK(settings.peers[2] == PeerSettings{"c", "host.example:7703", "0.0.0.0:7703"});
}

TEST_CASE("every kind of value is read into its member") {
    const Settings settings = read(with(R"(
seed: 18
training:
  batch: 32
  learning_rate: 1e-2
  schedule: {kind: steps, warm_up: .05, at: [0.5, 0.75], factor: 0.2}
  target_accuracy: 0.988
exchange:
  rule: plain
  partitions: 8
  link_mbit: 20
  link_limits: [{from: a, to: c, mbit: 10}]
  start_peers_min: 2
)"));
    CHECK(settings.seed == 18);
    CHECK(settings.training.batch.local == 32);
    CHECK(settings.training.learning_rate == 0.01);
    CHECK(settings.training.schedule ==
          RateScheduleSettings{RateScheduleKind::steps, 0.05, {0.5, 0.75}, 0.2});
    CHECK(settings.training.target_accuracy == 0.988);
    CHECK(settings.exchange.rule == Rule::plain);
    CHECK(settings.exchange.partitions == 8);
    CHECK(settings.exchange.link_mbit == 20);
    CHECK(settings.exchange.link_limits == std::vector<LinkLimit>{{0, 2, 10}});
    CHECK(settings.exchange.start_peers_min == 2);
}

TEST_CASE("the shorthands of a batch") {
    CHECK(read(minimal, {"training.batch=48"}).training.batch == BatchSettings{.local = 48});
    BatchSettings automatic;
    automatic.schedule.kind = BatchScheduleKind::automatic;
    CHECK(read(with("training: {batch: auto}\n"), {"model=lenet"}).training.batch == automatic);
    CHECK(read(minimal, {"model=lenet", "training.batch.schedule=auto"}).training.batch ==
          automatic);
    const BatchSettings all =
        read(minimal,
             {"training.batch={local: 8, accumulate: 2, global_target: 96, rate_rule: sqrt, "
              "schedule: {kind: steps, at: [0.5], factor: 4}}"})
            .training.batch;
    CHECK(all == BatchSettings{8, 2, 96, {BatchScheduleKind::steps, {0.5}, 4}, RateRule::sqrt});
}

TEST_CASE("a batch of all together that cannot be had is refused") {
    const auto refused = [](const std::vector<std::string>& overrides) {
        return complaint(minimal, overrides);
    };
    CHECK(refused({"training.batch.global_target=2"})
              .find("none or at least the 3 peers of the file, found 2") != std::string::npos);
    CHECK(refused({"model=lenet", "training.batch=auto", "exchange.mode=parameter-server"})
              .find("training.batch.schedule.kind: expected constant with exchange.mode: "
                    "parameter-server, found auto") != std::string::npos);
    CHECK(refused({"model=synthetic", "training.batch=auto"})
              .find("expected constant or steps with model: synthetic, found auto") !=
          std::string::npos);
    CHECK(refused({"model=external", "training.batch.global_target=64"})
              .find("expected none with model: external, found 64") != std::string::npos);
    CHECK(refused({"training.batch.schedule=steps"}).find("training.batch.schedule.at: expected") !=
          std::string::npos);
    CHECK(refused({"training.batch.schedule.factor=3"})
              .find("it only with training.batch.schedule.kind: steps") != std::string::npos);
    CHECK(refused({"training.optimizer=lars", "exchange.mode=parameter-server"})
              .find("training.optimizer: expected sgd") != std::string::npos);
    CHECK(refused({"training.batch=auto", "training.learners=2"})
              .find("training.batch.schedule.kind: expected constant with training.learners: 2, "
                    "found auto") != std::string::npos);
    CHECK(refused({"training.batch.global_target=64", "exchange.mode=sma"})
              .find("expected none with exchange.mode: sma, found 64") != std::string::npos);
    const auto elastic = [&refused](const char* setting) {
        return refused({"exchange.mode=ring", "exchange.elastic=true", setting});
    };
    CHECK(elastic("training.batch=auto")
              .find("constant or steps with exchange.elastic: true, found auto") !=
          std::string::npos);
    CHECK(elastic("training.optimizer=lars").find("sgd with exchange.elastic: true, found lars") !=
          std::string::npos);
    CHECK(refused({"training.trust_coefficient=0.01"})
              .find("it only with training.optimizer: lars") != std::string::npos);
}

TEST_CASE("the shorthands of model and schedule") {
    const Settings settings = read(with("training: {schedule: cosine}\n"), {"model=lenet"});
    CHECK(settings.model.kind == ModelKind::lenet);
    CHECK(settings.training.schedule.kind == RateScheduleKind::cosine);
}

TEST_CASE("data: every format has its normalisation, which the file may change") {
    CHECK(read(minimal).data.format == DataFormat::idx);
    CHECK(read(minimal).data.mean == std::vector<double>{0.1307});
    CHECK(read(minimal).data.deviation == std::vector<double>{0.3081});
    const DataSettings cifar = read(minimal, {"data.format=cifar10"}).data;
    CHECK(cifar.mean == std::vector<double>{0.4914, 0.4822, 0.4465});
    CHECK(cifar.deviation == std::vector<double>{0.247, 0.2435, 0.2616});
    const DataSettings npy = read(minimal, {"data.format=npy"}).data;
    CHECK(npy.mean == std::vector<double>{0});
    CHECK(npy.deviation == std::vector<double>{1});
    const DataSettings own =
        read(minimal, {"data.normalisation={mean: [0.1, -2], deviation: 3}"}).data;
    CHECK(own.mean == std::vector<double>{0.1, -2});
    CHECK(own.deviation == std::vector<double>{3});
    for (const char* wrong : {"mean=[]", "mean=x", "mean=[1, x]", "deviation=0", "deviation=[1,0]",
                              "mean={a: 1}", "mean=null"})
        CHECK(complaint(minimal, {std::string("data.normalisation.") + wrong})
                  .find("data.normalisation.") != std::string::npos);
    CHECK(complaint(minimal, {"data.format=png"}).find("idx, cifar10 or npy") != std::string::npos);
}

TEST_CASE("data: augmentation is off unless the file says what") {
    CHECK(read(minimal).data.augmentation == AugmentationSettings{});
    const DataSettings data = read(minimal, {"data.augmentation={crop: 4, flip: true}"}).data;
    CHECK(data.augmentation == AugmentationSettings{4, true});
    CHECK(complaint(minimal, {"data.augmentation.crop=-1"}).find("from 0 to 256") !=
          std::string::npos);
    CHECK(complaint(minimal, {"data.augmentation.flip=yes"}).find("true or false") !=
          std::string::npos);
    CHECK(complaint(minimal, {"data.augmentation=4"}).find("data.augmentation: expected") !=
          std::string::npos);
}

TEST_CASE("model.initial is a path relative to the file, or null") {
    const std::string file =
        "run: x\nmodel: {name: mlp, initial: m/start.safetensors}\n"
        "data: {path: data}\npeers: [{name: a, address: 'h:1'}]\n";
    CHECK(read(file).model.initial == "/etc/ako/m/start.safetensors");
    CHECK(read(file, {"model.initial=null"}).model.initial.empty());
    CHECK(read(minimal).model.initial.empty());
    CHECK(complaint(file, {"model.initial=[1]"}).find("a safetensors file, or null") !=
          std::string::npos);
}

TEST_CASE("--set overrides any key, later ones last") {
    const Settings settings =
        read(minimal, {"training.epochs=2", "training.epochs=3", "peers.1.address=10.0.0.2:80",
                       "model={name: synthetic, parameters: 12}", "model.noise=0",
                       "training.schedule.warm_up=0.1", "output=out"});
    CHECK(settings.training.epochs == 3);
    CHECK(settings.peers[1].address == "10.0.0.2:80");
    CHECK(settings.model.parameters == 12);
    CHECK(settings.model.noise == 0);
    CHECK(settings.training.schedule.warm_up == 0.1);
    CHECK(settings.output == (std::filesystem::current_path() / "out").string());

    const Settings peers = read(minimal, {"peers=[{name: z, address: \"h:1\"}]"});
    REQUIRE(peers.peers.size() == 1);
    CHECK(peers.peers[0].name == "z");
}

TEST_CASE("a --set that would take an earlier one back is refused") {
    const std::string taken = complaint(minimal, {"model.initial=x.safetensors", "model=lenet"});
    CHECK(taken.find("--set model=lenet: model: expected to come before what is set below it") !=
          std::string::npos);
    CHECK(taken.find("--set model.initial=x.safetensors, which it would take back") !=
          std::string::npos);
    CHECK(complaint(minimal, {"training.schedule.warm_up=0.1", "training.schedule=cosine"})
              .find("which it would take back") != std::string::npos);
    CHECK(read(minimal, {"training.schedule=cosine", "training.schedule.warm_up=0.1"})
              .training.schedule.warm_up == 0.1);
    CHECK(read(minimal, {"model=lenet", "model=mlp"}).model.kind == ModelKind::mlp);
}

TEST_CASE("a data path of the command line is relative to the working folder") {
    CHECK(read(minimal, {"data.path=elsewhere"}).data.path ==
          (std::filesystem::current_path() / "elsewhere").string());
}

TEST_CASE("the key file: relative to the cluster file, or to the working folder if of --set") {
    CHECK(read(minimal).cluster_key_file == "");
    CHECK(read(with("cluster_key_file: cluster.key\n")).cluster_key_file == "/etc/ako/cluster.key");
    CHECK(read(with("cluster_key_file: ../k\n")).cluster_key_file == "/etc/k");
    CHECK(read(minimal, {"cluster_key_file=a.key"}).cluster_key_file ==
          (std::filesystem::current_path() / "a.key").string());
    CHECK(read(with("cluster_key_file: k\n"), {"cluster_key_file=null"}).cluster_key_file == "");
    CHECK(complaint(with("cluster_key_file: ''\n")).find("found an empty text") !=
          std::string::npos);
    CHECK(complaint(with("cluster_key_file: [k]\n")).find("expected the file with the cluster's") !=
          std::string::npos);
    CHECK(write_cluster_text(read(minimal)).find("cluster_key_file: null\n") != std::string::npos);
}

TEST_CASE("complaints name the place, the key, what was expected and what was found") {
    CHECK(complaint(with("training:\n  epochs: many\n")) ==
          "/etc/ako/c.yaml:9:11: training.epochs: expected a number above 0 and at most 1000000, "
          "found many");
    CHECK(complaint(with("seed: -1\n")).starts_with("/etc/ako/c.yaml:8:7: seed: expected a whole"));
    CHECK(complaint(with("seed: \"1\"\n")).ends_with("found the text \"1\""));
    CHECK(complaint(with("seed: [1, 2]\n")).ends_with("found a list of 2"));
    CHECK(complaint(with("seed:\n")).ends_with("found nothing"));
    CHECK(complaint(with("memory_mb_max: 1.5\n")).ends_with("found 1.5"));
    CHECK(complaint(minimal, {"training.epochs=0"}) ==
          "--set training.epochs=0: training.epochs: expected a number above 0 and at most "
          "1000000, found 0");
}

TEST_CASE("not a number and infinity are refused wherever a number stands") {
    for (const char* number : {".nan", "nan", ".inf", "inf", "-inf", "1e999", "0x10", "1,5"}) {
        CAPTURE(number);
        CHECK(complaint(minimal, {std::string("training.learning_rate=") + number})
                  .find("training.learning_rate: expected a number above 0") != std::string::npos);
    }
}

TEST_CASE("out of range") {
    for (const char* override_text :
         {"training.momentum=1", "training.momentum=-0.1", "training.batch.local=0",
          "training.batch.accumulate=0", "training.target_accuracy=98.8",
          "training.schedule.warm_up=1", "training.threads=0", "exchange.partitions=0",
          "exchange.link_mbit=0", "exchange.heartbeat_ms=0", "memory_mb_max=0",
          "exchange.start_wait_s=-1", "seed=18446744073709551616", "exchange.start_peers_min=4",
          "training.threads=4294967297"}) {
        CAPTURE(override_text);
        const std::string text = complaint(minimal, {override_text});
        CHECK(text.starts_with("--set "));
        CHECK(text.find(": expected ") != std::string::npos);
    }
}

TEST_CASE("unknown keys are refused with the nearest known one") {
    CHECK(complaint(with("training:\n  learning_rat: 0.1\n")) ==
          "/etc/ako/c.yaml:9:3: unknown key training.learning_rat (did you mean "
          "training.learning_rate?)");
    CHECK(complaint(with("learning_rate: 3\n")).find("did you mean training.learning_rate?") !=
          std::string::npos);
    CHECK(complaint(minimal, {"exchange.rul=plain"}) ==
          "--set exchange.rul=plain: unknown key exchange.rul (did you mean exchange.rule?)");
    CHECK(complaint(minimal, {"peers.0.adress=h:1"}).find("did you mean") != std::string::npos);
    CHECK(complaint(minimal, {"zzzzzzzzzzzz=1"}).find("`ako keys` prints all") !=
          std::string::npos);
}

TEST_CASE("a key given twice is refused, with the first place") {
    CHECK(complaint(with("seed: 1\nseed: 2\n")) ==
          "/etc/ako/c.yaml:9:1: seed: expected every key once, found it again (first at "
          "/etc/ako/c.yaml:8:1)");
    CHECK(complaint(with("training: {epochs: 1, epochs: 1}\n")).find("epochs: expected every") !=
          std::string::npos);
}

TEST_CASE("keys that the chosen model or schedule has no use for are refused") {
    CHECK(complaint(minimal, {"model.parameters=5"}).find("it only with model.name: synthetic") !=
          std::string::npos);
    CHECK(complaint(minimal, {"training.schedule={kind: cosine, factor: 0.1}"})
              .find("it only with training.schedule.kind: steps") != std::string::npos);
}

TEST_CASE("keys that must be there") {
    CHECK(complaint("model: mlp\n").find("run: expected the run's name, found nothing") !=
          std::string::npos);
    CHECK(complaint("").find("run: expected") != std::string::npos);
    CHECK(complaint("run: x\nmodel: mlp\npeers: [{name: a, address: 'h:1'}]\n")
              .find("data.path: expected") != std::string::npos);
    CHECK(complaint(minimal, {"data.path=null"})
              .starts_with("--set data.path=null: data.path: expected the folder"));
    CHECK(complaint(minimal, {"training.schedule=steps"}).find("training.schedule.at: expected") !=
          std::string::npos);
    CHECK(read("run: x\nmodel: synthetic\npeers: [{name: a, address: 'h:1'}]\n").data.path == "");
}

TEST_CASE("peers: names and addresses must be their own") {
    const std::string head = "run: x\nmodel: synthetic\npeers:\n";
    CHECK(complaint(head + "  - {name: a, address: 'h:1'}\n  - {name: a, address: 'h:2'}\n") ==
          "/etc/ako/c.yaml:5:12: peers.1.name: expected a name of its own for every peer, found "
          "\"a\" again");
    CHECK(complaint(head + "  - {name: a, address: 'LOCALHOST:1'}\n"
                           "  - {name: b, address: '127.0.0.1:01'}\n")
              .find("peers.1.address: expected an address of its own for every peer") !=
          std::string::npos);
    CHECK(complaint(head + "  - {name: a}\n").find("peers.0.address: expected host:port, found") !=
          std::string::npos);
    for (const char* address :
         {"h", "h:", ":1", "h:0", "h:65536", "h:1x", "::1:5", "a b:1", "[]:1"})
        CHECK(complaint(head + "  - {name: a, address: '" + address + "'}\n")
                  .find("peers.0.address: expected host:port") != std::string::npos);
    CHECK(read(head + "  - {name: a, address: '[::1]:7701'}\n").peers[0].address == "[::1]:7701");
    CHECK(complaint("run: x\nmodel: synthetic\npeers: []\n").find("a list of 1 to 64 peers") !=
          std::string::npos);
}

TEST_CASE("an unknown peer is refused with the names there are") {
    CHECK(complaint(minimal, {"exchange.link_limits=[{from: a, to: x, mbit: 1}]"})
              .find("exchange.link_limits.0.to: expected one of the file's peers: a, b, c, found "
                    "x") != std::string::npos);
    CHECK(complaint(minimal, {"exchange.link_limits=[{from: a, to: a, mbit: 1}]"})
              .find("two different peers") != std::string::npos);
    const Settings settings = read(minimal);
    CHECK(peer_by_name(settings, "b") == 1);
    CHECK_THROWS_WITH_AS(peer_by_name(settings, "x"),
                         "/etc/ako/c.yaml: --peer: expected one of the file's peers: a, b, c, "
                         "found x",
                         StartupError);
}

TEST_CASE("relations between keys") {
    CHECK(complaint(with("exchange: {life_timeout_ms: 1000}\n")) ==
          "/etc/ako/c.yaml:8:29: exchange.life_timeout_ms: expected more than twice heartbeat_ms "
          "(500), found 1000 (one late heartbeat must not make a peer lost)");
    CHECK(complaint(minimal, {"training.batch.local=8", "training.batch.accumulate=9"})
              .find("training.batch.accumulate: expected at most local (8), found 9") !=
          std::string::npos);
    CHECK(complaint(minimal,
                    {"training.batch.accumulate=2", "model={name: synthetic, parameters: 9}"})
              .find("training.batch.accumulate: expected 1 with model: synthetic, found 2") !=
          std::string::npos);
    CHECK(complaint(minimal, {"training.schedule={kind: steps, at: [0.5, 0.4]}"})
              .find("a rising list") != std::string::npos);
}

TEST_CASE("what needs a verdict while training is refused with evaluate: after") {
    CHECK(complaint(with("training: {evaluate: after, target_accuracy: 0.9}\n")) ==
          "/etc/ako/c.yaml:8:46: training.target_accuracy: expected null with training.evaluate: "
          "after, found 0.9 (nobody knows the accuracy before the end; use evaluate: during)");
    // What a peer goes on from is not evaluated.
    CHECK(read(minimal, {"training.evaluate=after", "training.checkpoint_every=0.5"})
              .training.checkpoint_every == 0.5);
    CHECK(read(minimal, {"training.evaluate=after"}).training.evaluate == EvaluateWhen::after);
}

TEST_CASE("what is not a cluster file at all") {
    CHECK(complaint("run: [1\n").find("not YAML") != std::string::npos);
    CHECK(complaint("- a\n- b\n").find("expected keys and values, found a list of 2") !=
          std::string::npos);
    CHECK(complaint("run: a\n---\nrun: b\n").find("one document") != std::string::npos);
    CHECK(complaint("run: a\n---\n").find("one document") != std::string::npos);
    // yaml-cpp's LoadAll made documents without end of this, which the fuzz target found.
    CHECK(complaint("  , -name: a, addreh':s s:1'}\n$").find("one document") != std::string::npos);
    CHECK(complaint("run: &x [*x]\n")
              .find("c.yaml:1:10: the file: expected an alias of something else") !=
          std::string::npos);
    CHECK(complaint("a: &a [[[[[[[[[1]]]]]]]]]\nb: [[[[[[[[*a]]]]]]]]\n").find("16 levels") !=
          std::string::npos);
    CHECK(complaint("{a: 1}: b\n").find("a plain text as key") != std::string::npos);
    CHECK(complaint("[a]: b\n").find("a plain text as key") != std::string::npos);
    CHECK(complaint("a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                    "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                    "e: [*d,*d,*d,*d,*d,*d,*d]\n")
              .find("at most 20000 values") != std::string::npos);
    // A long text that many aliases repeat, and depth, which yaml-cpp must not see at all.
    std::string repeated = "run: &a " + std::string(500'000, 'x') + "\nb: [*a, *a, *a]\n";
    CHECK(complaint(repeated).find("at most 1048576 bytes of text, found more") !=
          std::string::npos);
    for (const char* opening : {"[", "{", "[{", "{a: "}) {
        std::string text;
        while (text.size() < config_bytes_max / 2) text += opening;
        CHECK(complaint(text).find("at most 16 levels") != std::string::npos);
        CHECK(complaint(minimal, {"run=" + text}).find("at most 16 levels") != std::string::npos);
    }
    CHECK(complaint(std::string(config_bytes_max + 1, '#')).find("at most 1048576 bytes, found") !=
          std::string::npos);
    CHECK(complaint(minimal, {"training.epochs"}).find("expected key=value") != std::string::npos);
    CHECK(complaint(minimal, {"run.x=1"}).find("a key that has keys below it") !=
          std::string::npos);
    CHECK(complaint(minimal, {"peers.3.name=x"}).find("a number below 3") != std::string::npos);
    CHECK_THROWS_AS(read_cluster_file("/no/such/file.yaml", {}), StartupError);
    CHECK_THROWS_AS(read_cluster_file("/", {}), StartupError);
}

TEST_CASE("the resolved file reads back as equal settings") {
    const std::string full = test::in_source("experiments/example.yaml");
    for (Settings settings :
         {read(minimal), read_cluster_file(full, {}),
          // The fuzz target's first finding: the empty path of no data did not read back.
          read("run: x\nmodel: synthetic\npeers: [{name: a, address: 'h:1'}]\n"),
          read(minimal, {"training.target_accuracy=0.1", "training.learning_rate=0.1000000001",
                         "exchange.link_limits=[{from: c, to: b, mbit: 0.3}]", "run=x.y",
                         "data.path='we\"ird\\ path: #'", "exchange.partitions=3",
                         "cluster_key_file='/a b/k#1.key'"})}) {
        const std::string text = write_cluster_text(settings);
        CAPTURE(text);
        Settings again = read_cluster_text(text, settings.file, {});
        CHECK(again == settings);
    }
}

TEST_CASE("the resolved file names every key that applies") {
    const std::string full = test::in_source("experiments/example.yaml");
    const Settings settings = read_cluster_file(full, {});
    const std::string text = write_cluster_text(settings);
    for (const Field& field : all_fields()) {
        if (field.is_retired || (field.applies && !field.applies(settings))) continue;
        const std::string leaf = field.path.substr(field.path.rfind('.') + 1);
        CAPTURE(field.path);
        CHECK(text.find(leaf + ":") != std::string::npos);
    }
}

TEST_CASE("the training digest holds what peers share and nothing of one peer alone") {
    const std::string text = training_digest_text(read(minimal));
    for (const char* own :
         {"run=y", "output=z", "memory_mb_max=9", "data.path=q", "training.threads=2",
          "exchange.partitions=4", "exchange.link_mbit=5", "exchange.egress_mbit_max=5",
          "exchange.link_limits=[{from: c, to: b, mbit: 0.3}]", "exchange.start_wait_s=0",
          "exchange.start_peers_min=1", "exchange.connect_timeout_ms=9",
          "exchange.want_timeout_ms=9", "exchange.leave_timeout_s=9", "cluster_key_file=k",
          "model.initial=m.safetensors", "peers.0.address=10.1.1.1:5",
          "peers.0.listen=0.0.0.0:5"}) {
        CAPTURE(own);
        CHECK(training_digest_text(read(minimal, {own})) == text);
    }
    for (const char* shared : {"seed=2",
                               "model=lenet",
                               "data.sharding=shuffled",
                               "data.format=cifar10",
                               "data.normalisation.mean=0.5",
                               "data.normalisation.deviation=0.5",
                               "data.augmentation.crop=4",
                               "data.augmentation.flip=true",
                               "training.batch.local=1",
                               "training.learning_rate=0.5",
                               "training.schedule=cosine",
                               "training.schedule.warm_up=0.1",
                               "training.momentum=0",
                               "training.nesterov=false",
                               "training.weight_decay=0.1",
                               "training.epochs=2",
                               "training.target_accuracy=0.5",
                               "training.evaluate_every=0",
                               "exchange.rule=plain",
                               "exchange.heartbeat_ms=400",
                               "exchange.life_timeout_ms=3000",
                               "exchange.finish_exchange_s=1",
                               "exchange.finish_timeout_s=99",
                               "exchange.finish_linger_s=1",
                               "peers.0.name=z"}) {
        CAPTURE(shared);
        CHECK(training_digest_text(read(minimal, {shared})) != text);
    }
}

}  // namespace ako::cluster_file_test
