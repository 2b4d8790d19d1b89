// The C interface with a peer that trains alone: what its calls give, and what each is refused for.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "ako/ako.h"
#include "tests/contains.h"

namespace {

using ako::test::contains;

/// A folder with a cluster file of one peer, and that peer once it is open.
class Alone {
  public:
    /// `more`: keys of the file; `of_peer`: and of its peer.
    explicit Alone(const std::string& more = "exchange: {mode: local}\n",
                   const std::string& of_peer = "") {
        std::string name = (std::filesystem::temp_directory_path() / "ako-c-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        folder = name;
        std::ofstream(folder / "cluster.yaml")
            << "run: alone\nmodel: external\ntraining: {epochs: 2, target_accuracy: 0.9}\n"
            << more << "peers:\n  - {name: a, address: '127.0.0.1:1'" << of_peer << "}\n";
        file = folder / "cluster.yaml";
        output = folder / "run";
        std::filesystem::create_directory(output);
    }
    ~Alone() {
        ako_close(peer);
        std::error_code stays;
        std::filesystem::remove_all(folder, stays);
    }

    ako_status open(const char* name = "a", int version = AKO_API_VERSION) {
        ako_options options{};
        options.size = sizeof options;
        options.file = file.c_str();
        options.peer = name;
        options.output_dir = output.c_str();
        options.view = AKO_VIEW_NONE;
        return ako_open(version, &options, &peer);
    }
    /// Opens and starts with two tensors, 3 values together.
    void open_and_start(std::uint64_t samples = 40) { REQUIRE(try_to_start(samples) == AKO_OK); }
    ako_status try_to_start(std::uint64_t samples) {
        REQUIRE(open() == AKO_OK);
        const std::size_t shape[] = {2};
        const ako_tensor tensors[] = {{"w", shape, nullptr, 1}, {"b", nullptr, nullptr, 0}};
        REQUIRE(ako_set_layout(peer, tensors, 2) == AKO_OK);
        REQUIRE(ako_set_data(peer, samples, 8) == AKO_OK);
        return ako_start(peer, initial.data(), AKO_INITIAL_SAME);
    }
    ako_next begin() {
        ako_next next = AKO_WAIT;
        REQUIRE(ako_begin_round(peer, 1, parameters.data(), &next) == AKO_OK);
        return next;
    }
    std::string message() const { return ako_message(peer); }
    /// Empty while it is not over.
    std::string report() {
        const char* text = nullptr;
        REQUIRE(ako_report(peer, &text) == AKO_OK);
        return text == nullptr ? "" : text;
    }

    std::filesystem::path folder, file, output;
    ako_peer* peer = nullptr;
    std::array<float, 3> initial = {1, 2, 3};
    std::array<float, 3> parameters{};
};

}  // namespace

TEST_CASE("C interface: rounds to the end of the budget, and what they leave") {
    Alone it;
    it.open_and_start();
    CHECK(ako_get_state(it.peer) == AKO_STATE_TRAINING);
    int rounds = 0;
    const float loss = 0.5F;
    while (it.begin() == AKO_TRAIN) {
        CHECK(it.parameters[0] == 1.0F + static_cast<float>(rounds));
        for (float& value : it.parameters) value += 1;
        REQUIRE(ako_end_round(it.peer, it.parameters.data(), rounds % 2 == 0 ? &loss : nullptr) ==
                AKO_OK);
        ++rounds;
    }
    CHECK(ako_get_state(it.peer) == AKO_STATE_FINISHING);
    CHECK(rounds == 10);  // 2 epochs of 40 samples, 8 in a round
    CHECK(contains(it.message(), "budget"));
    ako_standing standing{};
    standing.size = sizeof standing;
    REQUIRE(ako_get_standing(it.peer, &standing) == AKO_OK);
    CHECK(standing.rounds == 10);
    CHECK(standing.samples == 80);
    CHECK(standing.progress == 1);
    CHECK(standing.batch == 8);
    CHECK(standing.trainers == 1);
    CHECK(it.report().empty());  // not yet
    ako_finish finish = AKO_FINISHING;
    REQUIRE(ako_step_finish(it.peer, 1, it.parameters.data(), &finish) == AKO_OK);
    CHECK(finish == AKO_FINISHED);
    CHECK(ako_get_state(it.peer) == AKO_STATE_OVER);
    CHECK(it.parameters == std::array<float, 3>{11, 12, 13});
    const float test_loss = 0.25F;
    CHECK(ako_final_result(it.peer, 0.75F, &test_loss) == AKO_OK);
    const std::string report = it.report();
    CHECK(contains(report, "\"accuracy\":0.75"));
    CHECK(contains(report, "\"exit\":0"));
    CHECK(std::filesystem::exists(it.output / "model.safetensors"));
    CHECK(std::filesystem::exists(it.output / "summary.json"));
    CHECK(ako_run_folder(it.peer) == it.output.string());
    const char* line = nullptr;
    REQUIRE(ako_take_log(it.peer, &line) == AKO_OK);
    CHECK(line != nullptr);
}

TEST_CASE("C interface: with data of its own a peer shares them with nobody") {
    Alone it("exchange: {mode: local}\ndata: {sharding: own}\n", ", samples: 40");
    it.open_and_start(40);
    ako_standing standing{};
    standing.size = sizeof standing;
    REQUIRE(ako_get_standing(it.peer, &standing) == AKO_OK);
    CHECK(standing.place == 0);
    CHECK(standing.trainers == 1);
}

TEST_CASE("C interface: data of its own of another size than the file says are refused") {
    Alone it("exchange: {mode: local}\ndata: {sharding: own}\n", ", samples: 40");
    CHECK(it.try_to_start(39) == AKO_START_UP);
    CHECK(contains(it.message(), "peers.0.samples"));
    CHECK(contains(it.message(), "40 for a, whose training set has 39"));
}

TEST_CASE("C interface: a round that is not ended is none") {
    Alone it;
    it.open_and_start();
    REQUIRE(it.begin() == AKO_TRAIN);
    it.parameters[0] = 77;
    REQUIRE(it.begin() == AKO_TRAIN);
    CHECK(it.parameters[0] == 1);
    ako_standing standing{};
    standing.size = sizeof standing;
    REQUIRE(ako_get_standing(it.peer, &standing) == AKO_OK);
    CHECK(standing.rounds == 0);
}

TEST_CASE("C interface: numbers that are not finite end the run before they are sent") {
    Alone it;
    it.open_and_start();
    REQUIRE(it.begin() == AKO_TRAIN);
    it.parameters[1] = std::numeric_limits<float>::infinity();
    CHECK(ako_end_round(it.peer, it.parameters.data(), nullptr) == AKO_NUMBERS);
    CHECK(contains(it.message(), "the update of round 1"));
    CHECK(contains(ako_hint(it.peer), "learning rate"));
    ako_next next = AKO_WAIT;
    CHECK(ako_begin_round(it.peer, 0, it.parameters.data(), &next) == AKO_WRONG_CALL);
    CHECK(contains(it.report(), "\"exit\":3"));
}

TEST_CASE("C interface: losses that are no numbers are counted, and twenty in a row are the end") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float loss = 0.5F;
    Alone it;
    it.open_and_start(400);
    const auto round = [&it](const float* of) {
        REQUIRE(it.begin() == AKO_TRAIN);
        return ako_end_round(it.peer, it.parameters.data(), of);
    };
    for (int k = 0; k < 19; ++k) REQUIRE(round(&nan) == AKO_OK);
    REQUIRE(round(&loss) == AKO_OK);
    for (int k = 0; k < 10; ++k) REQUIRE(round(&nan) == AKO_OK);
    REQUIRE(round(nullptr) == AKO_OK);  // says nothing of them
    for (int k = 0; k < 9; ++k) REQUIRE(round(&nan) == AKO_OK);
    const char* metrics = nullptr;
    REQUIRE(ako_metrics(it.peer, &metrics) == AKO_OK);
    CHECK(contains(metrics, "\"losses_not_finite\":38"));
    CHECK(contains(metrics, "\"loss\":0.5"));
    CHECK(round(&nan) == AKO_NUMBERS);
    CHECK(it.message() == "20 losses in a row are not finite, the first in round 21");
    const std::string report = it.report();
    CHECK(contains(report, "\"exit\":3"));
    CHECK(contains(report, "\"losses_not_finite\":39"));
    int told = 0;
    const char* line = nullptr;
    while (ako_take_log(it.peer, &line) == AKO_OK && line != nullptr)
        told += contains(line, "the loss of round 1 is not finite: after 20 such") ? 1 : 0;
    CHECK(told == 1);
}

TEST_CASE("C interface: a target that is reached ends the run") {
    Alone it;
    it.open_and_start();
    REQUIRE(it.begin() == AKO_TRAIN);
    REQUIRE(ako_end_round(it.peer, it.parameters.data(), nullptr) == AKO_OK);
    CHECK(ako_announce(it.peer, 0.1, 1.5F, nullptr) == AKO_WRONG_CALL);
    CHECK(ako_announce(it.peer, 50, 0.5F, nullptr) == AKO_WRONG_CALL);
    CHECK(ako_announce(it.peer, 0.1, 0.5F, nullptr) == AKO_OK);
    CHECK(it.begin() == AKO_TRAIN);
    CHECK(ako_announce(it.peer, 0.1, 0.95F, nullptr) == AKO_OK);
    CHECK(it.begin() == AKO_FINISH);
    CHECK(contains(it.message(), "target"));
}

TEST_CASE("C interface: any thread may ask for the end") {
    Alone it;
    it.open_and_start();
    REQUIRE(it.begin() == AKO_TRAIN);
    REQUIRE(ako_end_round(it.peer, it.parameters.data(), nullptr) == AKO_OK);
    std::thread([&it] {
        ako_request_stop(it.peer, AKO_STOP_RUN);
        ako_next next = AKO_WAIT;
        CHECK(ako_begin_round(it.peer, 0, it.parameters.data(), &next) == AKO_WRONG_CALL);
    }).join();
    CHECK(ako_stops_requested(it.peer) == 1);
    CHECK(it.begin() == AKO_FINISH);
    ako_finish finish = AKO_FINISHING;
    REQUIRE(ako_step_finish(it.peer, 1, it.parameters.data(), &finish) == AKO_OK);
    CHECK(finish == AKO_FINISHED);
    CHECK(contains(it.report(), "\"exit\":130"));
}

TEST_CASE("C interface: what is wrong in the file or its words") {
    Alone it;
    CHECK(it.open("nobody") == AKO_START_UP);
    CHECK(contains(it.message(), "nobody"));
    ako_close(it.peer);
    CHECK(it.open("a", AKO_API_VERSION + 1) == AKO_START_UP);
    CHECK(contains(it.message(), "version"));
    ako_close(it.peer);
    Alone ring("exchange: {mode: ring}\n");
    CHECK(ring.open() == AKO_START_UP);
    CHECK(ako_get_state(ring.peer) == AKO_STATE_NONE);
    CHECK(contains(ring.message(), "exchange.mode"));
    CHECK(ako_set_data(ring.peer, 1, 1) == AKO_WRONG_CALL);
    ako_close(std::exchange(ring.peer, nullptr));
    REQUIRE(it.open() == AKO_OK);
    Alone second;
    CHECK(second.open() == AKO_START_UP);
    CHECK(contains(second.message(), "a peer already"));
}

TEST_CASE("C interface: wrong calls change nothing") {
    Alone it;
    REQUIRE(it.open() == AKO_OK);
    CHECK(ako_get_state(it.peer) == AKO_STATE_OPENED);
    ako_next next = AKO_WAIT;
    CHECK(ako_begin_round(it.peer, 0, it.parameters.data(), &next) == AKO_WRONG_CALL);
    CHECK(contains(it.message(), "has not been started"));
    CHECK(ako_start(it.peer, it.initial.data(), AKO_INITIAL_SAME) == AKO_WRONG_CALL);
    CHECK(contains(it.message(), "ako_set_layout"));
    const std::size_t shape[] = {2, 3};
    const std::ptrdiff_t strides[] = {6, 2};
    const ako_tensor gaps[] = {{"w", shape, strides, 2}};
    CHECK(ako_set_layout(it.peer, gaps, 1) == AKO_WRONG_CALL);
    const ako_tensor twice[] = {{"w", shape, nullptr, 2}, {"w", shape, nullptr, 2}};
    CHECK(ako_set_layout(it.peer, twice, 2) == AKO_WRONG_CALL);
    CHECK(ako_set_layout(it.peer, nullptr, 1) == AKO_WRONG_CALL);
    CHECK(ako_set_layout(it.peer, twice, 1) == AKO_OK);
    CHECK(ako_set_layout(it.peer, twice, 1) == AKO_WRONG_CALL);
    CHECK(ako_set_data(it.peer, 0, 1) == AKO_WRONG_CALL);
    CHECK(ako_set_data_digest(it.peer, "") == AKO_WRONG_CALL);
    CHECK(ako_set_data_digest(it.peer, "a\nb") == AKO_WRONG_CALL);
    CHECK(ako_set_data_digest(it.peer, std::string(65, 'f').c_str()) == AKO_WRONG_CALL);
    CHECK(ako_set_data_digest(it.peer, std::string(64, 'f').c_str()) == AKO_OK);
    CHECK(ako_set_data_digest(it.peer, "0f") == AKO_WRONG_CALL);
    CHECK(ako_require_equal(it.peer, "optimizer", "SGD\nseed: 4") == AKO_WRONG_CALL);
    CHECK(ako_require_equal(it.peer, "a:b", "c") == AKO_WRONG_CALL);
    CHECK(ako_require_equal(it.peer, "optimizer", "SGD") == AKO_OK);
    ako_finish finish = AKO_FINISHING;
    CHECK(ako_step_finish(it.peer, 0, it.parameters.data(), &finish) == AKO_WRONG_CALL);
    CHECK(ako_end_round(it.peer, it.parameters.data(), nullptr) == AKO_WRONG_CALL);
    CHECK(ako_fail(it.peer, nullptr) == AKO_WRONG_CALL);
    CHECK(ako_start(it.peer, nullptr, AKO_INITIAL_SAME) == AKO_WRONG_CALL);
    CHECK(ako_set_data(nullptr, 1, 1) == AKO_WRONG_CALL);
    CHECK(ako_report(nullptr, nullptr) == AKO_WRONG_CALL);
    CHECK(ako_open(AKO_API_VERSION, nullptr, nullptr) == AKO_WRONG_CALL);
    CHECK(ako_message(nullptr) != nullptr);
    ako_close(nullptr);
}

TEST_CASE("C interface: who waits for the others has no round to end") {
    Alone it("exchange: {start_wait_s: 60}\n");
    std::ofstream(it.file, std::ios::app) << "  - {name: b, address: '127.0.0.1:2'}\n";
    std::ofstream(it.file, std::ios::app).flush();
    REQUIRE(it.open() == AKO_OK);
    const std::size_t shape[] = {3};
    const ako_tensor tensors[] = {{"w", shape, nullptr, 1}};
    REQUIRE(ako_set_layout(it.peer, tensors, 1) == AKO_OK);
    REQUIRE(ako_set_data(it.peer, 40, 8) == AKO_OK);
    REQUIRE(ako_start(it.peer, it.initial.data(), AKO_INITIAL_SAME) == AKO_OK);
    ako_next next = AKO_TRAIN;
    REQUIRE(ako_begin_round(it.peer, 0.01, it.parameters.data(), &next) == AKO_OK);
    CHECK(next == AKO_WAIT);
    CHECK(ako_end_round(it.peer, it.parameters.data(), nullptr) == AKO_WRONG_CALL);
    CHECK(it.message() == "ako_end_round: ako_begin_round comes before");
    CHECK(ako_copy_anchor(it.peer, it.parameters.data()) == AKO_WRONG_CALL);
    CHECK(contains(it.message(), "there is none before ako_begin_round said AKO_TRAIN"));
    ako_request_stop(it.peer, AKO_STOP_RUN);
    REQUIRE(ako_begin_round(it.peer, 1, it.parameters.data(), &next) == AKO_OK);
    CHECK(next == AKO_GIVE_UP);
    CHECK(contains(it.report(), "\"exit\":130"));
}

TEST_CASE("C interface: who closes before the final exchange is over has not finished") {
    Alone it;
    it.open_and_start();
    REQUIRE(it.begin() == AKO_TRAIN);
    REQUIRE(ako_end_round(it.peer, it.parameters.data(), nullptr) == AKO_OK);
    ako_request_stop(it.peer, AKO_STOP_RUN);
    REQUIRE(it.begin() == AKO_FINISH);
    ako_close(std::exchange(it.peer, nullptr));
    CHECK(!std::filesystem::exists(it.output / "result-a.json"));
}

TEST_CASE("C interface: numbers that nobody can mean") {
    Alone it;
    REQUIRE(it.open() == AKO_OK);
    CHECK(ako_set_data(it.peer, 40, std::uint64_t{1} << 63) == AKO_WRONG_CALL);
    CHECK(ako_set_data(it.peer, std::uint64_t{1} << 63, 1) == AKO_WRONG_CALL);
    CHECK(ako_set_data(it.peer, 40, 8) == AKO_OK);
}

TEST_CASE("C interface: a child of fork has no part in it") {
    Alone it;
    it.open_and_start();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ako_after_fork(it.peer);
        ako_next next = AKO_WAIT;
        const bool refused =
            ako_begin_round(it.peer, 0, it.parameters.data(), &next) == AKO_WRONG_CALL;
        ako_close(it.peer);
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(it.begin() == AKO_TRAIN);
}
