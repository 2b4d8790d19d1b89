// The thread that shows a run: nobody waits for it, and what it is told last is what it shows.
#include "src/screen/view_thread.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace ako::view_thread_test {

namespace {

constexpr std::chrono::seconds patience{20};

/// What a view was shown. Its first picture takes as long as the test likes.
struct Shown {
    std::mutex mutex;
    std::condition_variable changed;
    bool drawing = false;
    bool may_draw = false;
    std::vector<std::uint64_t> rounds;
    std::vector<std::string> log;
    std::string closed;  ///< what the peer did when it was closed, and its round

    template <typename Condition>
    bool wait(Condition condition) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, patience, condition);
    }
};

class SlowView final : public RunView {
  public:
    explicit SlowView(Shown& shown) : shown_(shown) {}

    void show_log(const LogEntry& entry) override {
        const std::lock_guard lock(shown_.mutex);
        shown_.log.push_back(entry.name + ": " + entry.text);
    }
    void show_second(const RunState& state) override {
        std::unique_lock lock(shown_.mutex);
        shown_.drawing = true;
        shown_.changed.notify_all();
        shown_.changed.wait_for(lock, patience, [this] { return shown_.may_draw; });
        shown_.rounds.push_back(state.own()->line.round);
    }
    void close(const RunState& state) override {
        const std::lock_guard lock(shown_.mutex);
        shown_.closed = state.own()->doing + " " + std::to_string(state.own()->line.round);
    }

  private:
    Shown& shown_;
};

MetricsLine line_of(std::uint64_t round) {
    MetricsLine line;
    line.phase = "training";
    line.round = round;
    return line;
}

ViewThread make_thread(Shown& shown) {
    return ViewThread(
        RunState("r", 1, {"a", "b"}, 1), 1, [&shown] { return std::make_unique<SlowView>(shown); },
        [] {});
}

}  // namespace

TEST_CASE("a view that does not get on stops nobody, and then shows the newest") {
    Shown shown;
    ViewThread thread = make_thread(shown);
    thread.take_line(line_of(1));
    REQUIRE(shown.wait([&] { return shown.drawing; }));
    // The terminal takes nothing now.
    for (std::uint64_t round = 2; round <= 5000; ++round) {
        thread.take_line(line_of(round));
        thread.take_log("line " + std::to_string(round));
    }
    {
        const std::lock_guard lock(shown.mutex);
        shown.may_draw = true;
        shown.changed.notify_all();
    }
    thread.close([](RunState& state) { state.take_exit(1, 0); });
    CHECK(shown.rounds.size() < 100);
    REQUIRE(shown.log.size() == RunState::log_max);
    CHECK(shown.log.back() == "b: line 5000");
    CHECK(shown.closed == "done 5000");
}

TEST_CASE("what is shown follows what is told") {
    Shown shown;
    shown.may_draw = true;
    ViewThread thread = make_thread(shown);
    const auto shows = [&shown](std::uint64_t round) {
        return shown.wait([&] { return !shown.rounds.empty() && shown.rounds.back() == round; });
    };
    for (const std::uint64_t round : {3, 4, 9}) {
        thread.take_line(line_of(round));
        const auto until = std::chrono::steady_clock::now() + patience;
        while (!shows(round)) REQUIRE(std::chrono::steady_clock::now() < until);
    }
}

TEST_CASE("without a word of how it ended there is no last picture") {
    Shown shown;
    shown.may_draw = true;
    { ViewThread thread = make_thread(shown); }
    CHECK(shown.closed.empty());
}

}  // namespace ako::view_thread_test
