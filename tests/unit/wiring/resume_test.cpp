// What a peer goes on from: whole checkpoints of this very training; of any other why not.
#include "src/wiring/resume.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "ako/error.h"
#include "src/commands/resume_words.h"
#include "tests/contains.h"
#include "tests/unit/results/checkpoints.h"

namespace ako::resume_test {

using namespace ako::test;

namespace fs = std::filesystem;

namespace {

void keep(const std::string& folder, const CheckpointOwner& owner, Round round) {
    SystemFiles files;
    const auto written = write_checkpoint(files, folder, owner, checkpoint_of(round, 10));
    REQUIRE_MESSAGE(written, written.error().what);
}

/// Why a checkpoint of `found` is not taken by peer a of `owner_of`.
std::string refusal(const CheckpointOwner& found) {
    const TemporaryFolder folder;
    keep(folder.path(), found, 40);
    const std::string path = checkpoint_path(folder.path(), found.peer, 40);
    if (found.peer != "a") fs::rename(path, checkpoint_path(folder.path(), "a", 40));
    const EarlierCheckpoints earlier = find_checkpoints({folder.path()}, owner_of("a"));
    CHECK(earlier.usable.empty());
    REQUIRE(earlier.refused.size() == 1);
    const std::string begin = checkpoint_path(folder.path(), "a", 40) + " is not used: ";
    REQUIRE(earlier.refused[0].starts_with(begin));
    return earlier.refused[0].substr(begin.size());
}

/// What a StartupError says.
template <class Action>
std::string complaint(const Action& action) {
    try {
        action();
    } catch (const StartupError& error) {
        return error.what() + std::string(" (") + error.hint() + ")";
    }
    return "";
}

}  // namespace

TEST_CASE("checkpoints of this training are found, newest first") {
    const TemporaryFolder folder;
    for (const Round round : {9, 100, 40}) keep(folder.path(), owner_of("a"), round);
    keep(folder.path(), owner_of("b"), 500);
    const EarlierCheckpoints earlier = find_checkpoints({folder.path()}, owner_of("a"));
    CHECK(earlier.refused.empty());
    REQUIRE(earlier.usable.size() == 3);
    for (std::size_t k = 0; k < 3; ++k)
        CHECK(earlier.usable[k].id.round == std::vector<Round>{100, 40, 9}[k]);
    CHECK(earlier.usable[0].path == checkpoint_path(folder.path(), "a", 100));
}

TEST_CASE("a checkpoint of anything else is refused with what is different") {
    CheckpointOwner found = owner_of("a");
    found.run = "cifar";
    CHECK(refusal(found) == "it is of the run cifar, not mnist");
    CHECK(refusal(owner_of("b")) == "it is of peer b");
    found = owner_of("a");
    found.peers = {"a", "b"};
    CHECK(refusal(found) == "it is of the peers a, b; the cluster file names a, b, c");
    found = owner_of("a");
    found.settings = "training:\n  learning_rate: 0.01\n";
    found.training = sha256(found.settings);
    CHECK(refusal(found) ==
          "it was made with other settings: training.learning_rate: nothing here, 0.01 there");
    found = owner_of("a");
    found.layout = sha256("another");
    CHECK(contains(refusal(found), "it is of another network (layout "));
    found = owner_of("a");
    found.initial = sha256("another");
    CHECK(contains(refusal(found), "its run began with other initial parameters ("));
}

TEST_CASE("of other settings the keys are named") {
    CheckpointOwner own = owner_of("a"), found = own;
    own.settings = "training:\n  learning_rate: 0.05\n";
    found.settings = "training:\n  learning_rate: 0.01\n";
    own.training = sha256(own.settings);
    found.training = sha256(found.settings);
    const TemporaryFolder folder;
    keep(folder.path(), found, 40);
    const EarlierCheckpoints earlier = find_checkpoints({folder.path()}, own);
    REQUIRE(earlier.refused.size() == 1);
    CHECK(contains(earlier.refused[0],
                   "it was made with other settings: "
                   "training.learning_rate: 0.05 here, 0.01 there"));
}

TEST_CASE("a branch may train otherwise, and may not be of another model, data, or mode") {
    const auto why = [](const std::string& here, const std::string& there, bool alone = false) {
        CheckpointOwner own = owner_of("a"), found = own;
        own.settings = here;
        own.training = sha256(here);
        own.run = "branch";
        found.settings = there;
        found.training = sha256(there);
        const TemporaryFolder folder;
        keep(folder.path(), found, 40);
        const EarlierCheckpoints earlier =
            find_checkpoints({folder.path(), true, false, alone}, own);
        CHECK(earlier.usable.size() + earlier.refused.size() == 1);
        return earlier.refused.empty() ? "" : earlier.refused[0];
    };
    const std::string ring = "exchange:\n  mode: ring\n", local = "exchange:\n  mode: local\n";
    const std::string rate = "training:\n  learning_rate: 0.1\n  momentum: 0.5\n";
    const std::string batch = "training:\n  batch:\n    local: 8\n";
    CHECK(why(rate + ring, "training:\n  learning_rate: 0.2\n" + ring).empty());
    CHECK(why(batch + local, "training:\n  batch:\n    local: 16\n" + local, true).empty());
    CHECK(contains(why(batch + ring, "training:\n  batch:\n    local: 16\n" + ring),
                   "it was made with another training.batch.local, at which no branch can begin"));
    CHECK(contains(why(ring, local), "another exchange.mode"));
    CHECK(contains(why("seed: 1\n", "seed: 2\n"), "another seed"));
    CHECK(contains(why("training:\n  learners: 1\n", "training:\n  learners: 2\n"),
                   "another training.learners"));
}

TEST_CASE("a version that did not know a key has left what goes on with that key's default") {
    CheckpointOwner own = owner_of("a"), found = own;
    found.settings = "training:\n  learning_rate: 0.05\nexchange:\n  mode: ako\n";
    found.training = sha256(found.settings);
    const TemporaryFolder folder;
    keep(folder.path(), found, 40);
    const std::string defaults =
        "training:\n  learning_rate: 0.1\n  clip: 0\nexchange:\n  mode: ako\n";
    const auto usable = [&](const std::string& settings) {
        own.settings = settings;
        own.training = sha256(settings);
        return find_checkpoints({folder.path()}, own, defaults).usable.size();
    };
    CHECK(usable("training:\n  learning_rate: 0.05\n  clip: 0\nexchange:\n  mode: ako\n") == 1);
    CHECK(usable("training:\n  learning_rate: 0.05\n  clip: 1\nexchange:\n  mode: ako\n") == 0);
    CHECK(usable("training:\n  learning_rate: 0.1\n  clip: 0\nexchange:\n  mode: ako\n") == 0);
    // What it knew, and this version does not, had a meaning.
    CHECK(usable("training:\n  learning_rate: 0.05\n  clip: 0\n") == 0);
}

TEST_CASE("a damaged one does not hide the one before") {
    const TemporaryFolder folder;
    keep(folder.path(), owner_of("a"), 40);
    keep(folder.path(), owner_of("a"), 60);
    fs::resize_file(checkpoint_path(folder.path(), "a", 60), 300);
    const EarlierCheckpoints earlier = find_checkpoints({folder.path()}, owner_of("a"));
    REQUIRE(earlier.usable.size() == 1);
    CHECK(earlier.usable[0].id.round == 40);
    REQUIRE(earlier.refused.size() == 1);
    CHECK(contains(earlier.refused[0], "state-a-60.safetensors is not used: is cut off"));
}

TEST_CASE("nothing to go on from is no start, and says why") {
    Settings settings;
    settings.run = "mnist";
    // In the mode ako the others have what the disk has lost.
    const TemporaryFolder folder;
    CHECK(checkpoints_to_go_on_from(settings, {folder.path()}, owner_of("a")).usable.empty());
    settings.exchange.mode = Mode::ring;
    const auto go_on = [&] { checkpoints_to_go_on_from(settings, {folder.path()}, owner_of("a")); };
    CHECK(contains(complaint(go_on), "--resume: no checkpoint of peer a in " + folder.path()));
    CheckpointOwner found = owner_of("a");
    found.peers = {"a", "b"};
    settings.exchange.mode = Mode::parameter_server;
    keep(folder.path(), found, 40);
    CHECK(contains(complaint(go_on), "it is of the peers a, b; the cluster file names a, b, c; "));
    CHECK(contains(complaint(go_on), "--set model.initial=FILE"));
    keep(folder.path(), owner_of("a"), 41);
    CHECK(complaint(go_on).empty());
    settings.exchange.mode = Mode::ring;
    settings.exchange.mode = Mode::parameter_server;
    settings.exchange.server.clock_gap_max = std::nullopt;
    CHECK(contains(complaint(go_on), "there are no checkpoints to go on from"));
}

TEST_CASE("without a folder it is the run that has the newest checkpoint of the peer") {
    const TemporaryFolder output;
    Settings settings;
    settings.run = "mnist";
    settings.output = output.path();
    const auto newest = [&](const std::vector<std::string>& peers) {
        return newest_run_with_checkpoints(settings, peers);
    };
    CHECK_FALSE(newest({"a"}));
    CHECK(earlier_run({.said = true, .folder = "", .if_any = true}, settings, {"a"}).none());
    CHECK(contains(complaint([&] {
                       earlier_run({true, ""}, settings, {"a"});
                   }),
                   "no run of mnist below " + output.path()));
    const auto run = [&](const std::string& name, const std::string& peer, int hours_ago) {
        fs::create_directory(output.file(name));
        keep(output.file(name), owner_of(peer), 40);
        const std::string path = checkpoint_path(output.file(name), peer, 40);
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
    };
    run("mnist-20261122-100000", "a", 20);
    run("mnist-20261123-100000", "a", 2);
    run("mnist-20261123-110000", "b", 1);
    run("mnist-big-20261123-120000", "a", 0);
    run("mnist-2-20261123-120000", "a", 0);
    fs::create_directory(output.file("mnist-20261123-130000"));
    fs::create_directory_symlink(output.file("mnist-20261122-100000"), output.file("mnist-1"));
    CHECK(newest({"a"}) == output.file("mnist-20261123-100000"));
    CHECK(newest({"a", "b"}) == output.file("mnist-20261123-110000"));
    CHECK(earlier_run({}, settings, {"a"}).none());
    CHECK(earlier_run({true, ""}, settings, {"a"}).folder == output.file("mnist-20261123-100000"));
    CHECK_FALSE(earlier_run({.said = true, .folder = "", .if_any = true}, settings, {"a"}).none());
}

TEST_CASE("the folder that is named is meant where its link leads now") {
    const TemporaryFolder output;
    const std::string folder = fs::canonical(output.path()).string() + "/mnist-20261123-100000";
    fs::create_directory(folder);
    fs::create_directory_symlink(folder, output.file("latest"));
    CHECK(earlier_run({true, output.file("latest")}, {}, {"a"}).folder == folder);
    const auto go_on = [&] { earlier_run({true, output.file("latest")}, {}, {"a", "b"}); };
    CHECK(contains(complaint(go_on), "no checkpoint of a or any other peer in " + folder));
    keep(folder, owner_of("b"), 40);
    CHECK(complaint(go_on).empty());
    CHECK(cluster_file_of({true, output.file("latest")}) == output.file("latest") + "/config.yaml");
    CHECK(contains(complaint([&] {
                       cluster_file_of({true, output.file("none")});
                   }),
                   "there is no folder " + output.file("none")));
    std::ofstream(output.file("c.yaml")) << "run: x\n";
    CHECK(contains(complaint([&] {
                       cluster_file_of({true, output.file("c.yaml")});
                   }),
                   "c.yaml is a file, not the folder of a run (the cluster file goes first: "));
}

TEST_CASE("more peers, or fewer, go on from what others left") {
    Settings settings;
    settings.exchange.mode = Mode::ring;
    settings.training.batch.local = 16;
    const auto peers_of = [&](const std::vector<std::string>& names) {
        settings.peers.clear();
        for (const std::string& name : names) settings.peers.emplace_back().name = name;
        CheckpointOwner owner = owner_of(names.back());
        owner.peers = names;
        return owner;
    };
    const TemporaryFolder folder;
    for (const Round round : {40, 41}) {
        keep(folder.path(), owner_of("a"), round);
        keep(folder.path(), owner_of("c"), round);
    }
    const auto found_by = [&](const CheckpointOwner& owner) {
        const ChangedPeers changed(settings);
        return find_checkpoints({folder.path()}, owner, "", &changed).usable;
    };
    // Who has lost its disk goes on from another's, as it is.
    REQUIRE(found_by(peers_of({"a", "b", "c"})).size() == 2);
    fs::remove(checkpoint_path(folder.path(), "c", 40));
    fs::remove(checkpoint_path(folder.path(), "c", 41));
    CHECK(found_by(peers_of({"a", "b", "c"}))[0].id == checkpoint_of(41, 10).id);
    const CheckpointOwner d = peers_of({"a", "b", "c", "d"});
    const std::vector<KeptCheckpoint> of_new = found_by(d);
    REQUIRE(of_new.size() == 2);
    CHECK(of_new[0].id.round == 30);  // 41 rounds of three
    CHECK(of_new[0].of_peers == std::vector<std::string>{"a", "b", "c"});
    CheckpointOwner a = d;
    a.peer = "a";
    const std::vector<KeptCheckpoint> of_old = found_by(a);
    REQUIRE(of_old.size() == 2);
    for (std::size_t k = 0; k < 2; ++k) {
        CHECK(of_old[k].id == of_new[k].id);
        CHECK(of_old[k].path == checkpoint_path(folder.path(), "a", 41 - k));
    }
    CHECK(of_old[0].id.start > of_old[1].id.start);
    // Two of the round that both are of here: in the folder of the new run the first.
    SystemFiles files;
    const TemporaryFolder next;
    CheckpointFolder kept(files, next.path(), d);
    REQUIRE(kept.take_over(of_new));
    CHECK(kept.kept() == std::vector<CheckpointId>{of_new[0].id});
    CHECK(found_by(peers_of({"b", "c"}))[0].id.round == 61);
    // What d has taken over it can give to others, under its own name.
    const std::vector<KeptCheckpoint> given = [&] {
        const ChangedPeers changed(settings);
        return find_checkpoints({next.path()}, peers_of({"b", "e"}), "", &changed).usable;
    }();
    REQUIRE(given.size() == 1);
    CHECK(given[0].of_peers == std::vector<std::string>{"a", "b", "c"});

    Checkpoint it = checkpoint_of(41, 10);
    ChangedPeers(settings).apply(it, {"a", "b", "c"});
    CHECK(it.id.round == 61);
    CHECK(it.samples == 61 * 64);
    CHECK(it.floats == checkpoint_of(41, 10).floats);
    // Where all count samples, rounds are what they were.
    settings.training.batch.global_target = 96;
    it = checkpoint_of(41, 10);
    it.numbers["samples_total"] = 41 * 96;
    ChangedPeers(settings).apply(it, {"a", "b", "c"});
    CHECK(it.id.round == 41);
    CHECK(it.samples == 41 * 48);
}

TEST_CASE("of other peers: rounds apart are given up, learners are told of by name, servers stay") {
    Settings settings;
    for (const char* const name : {"c", "d"}) settings.peers.emplace_back().name = name;
    settings.exchange.mode = Mode::local_sgd;
    settings.exchange.local_sgd.rounds = 8;
    settings.training.batch.local = 16;
    Checkpoint it = checkpoint_of(43, 10);
    it.floats["average"] = it.floats["replica"] = it.floats["parameters"];
    it.floats["replica"][3] += 1;
    ChangedPeers(settings).apply(it, {"a", "b", "c"});
    CHECK(it.id.round == 60);  // of 40
    CHECK(it.floats["replica"] == it.floats["average"]);
    // Where samples of all are counted, those of the rounds that are given up are not.
    settings.training.batch.global_target = 96;
    it = checkpoint_of(43, 10);
    it.numbers["samples_total"] = 43 * 96;
    ChangedPeers(settings).apply(it, {"a", "b", "c"});
    CHECK(it.id.round == 40);
    CHECK(it.numbers["samples_total"] == 40 * 96);
    CHECK(it.samples == 40 * 48);
    settings.training.batch.global_target = 0;

    settings.exchange.mode = Mode::sma;
    it = checkpoint_of(43, 10);
    for (const std::string summary : {"known", "newest"})
        for (std::uint64_t peer = 0; peer < 3; ++peer)
            it.numbers[summary + ".learners." + std::to_string(peer)] = peer + 1;
    ChangedPeers(settings).apply(it, {"a", "b", "c"});
    CHECK(it.id.round == 64);
    CHECK(it.numbers["known.learners.0"] == 3);   // of c
    CHECK(it.numbers["newest.learners.1"] == 1);  // d as a was
    CHECK(it.numbers.count("known.learners.2") == 0);

    settings.exchange.mode = Mode::parameter_server;
    CHECK(contains(ChangedPeers(settings).why_not(), "the momentum of its own part"));
    settings.exchange.mode = Mode::ako;
    CHECK(!ChangedPeers(settings).why_not().empty());
}

}  // namespace ako::resume_test
