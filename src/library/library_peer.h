// One peer of a cluster for a program that has a training loop of its own: what include/ako/ako.h
// says, in C++. The driver knows the order of its calls, and the run is shown and written
// meanwhile. One thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ako/exchange.h"
#include "ako/network.h"
#include "src/config/cluster_settings.h"
#include "src/library/loss_watch.h"
#include "src/library/storage_order.h"
#include "src/reporting/peer_report.h"
#include "src/reporting/peer_run.h"
#include "src/results/peer_result.h"
#include "src/training/run_driver.h"
#include "src/wiring/wiring.h"

namespace ako {

/// A bug of the caller; nothing has happened. The text is for people.
class WrongCall : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

struct LibraryOptions {
    std::string file;
    std::string peer;
    std::vector<std::string> overrides;
    std::string output_dir;
    View view = View::lines;
    int report_fd = -1;
    bool restarted = false;
};

/// What is to end.
enum class StopKind : int { run = 1, peer = 2 };

/// How often the end was asked for. Any thread, any signal handler.
class StopRequests {
  public:
    void ask(StopKind kind) {
        int none = 0;
        first_.compare_exchange_strong(none, static_cast<int>(kind));
        count_.fetch_add(1);
    }
    const std::atomic<int>& count() const { return count_; }
    /// Known as soon as the count is not 0.
    bool of_this_peer() const { return first_.load() == static_cast<int>(StopKind::peer); }

  private:
    std::atomic<int> count_{0};
    std::atomic<int> first_{0};
};

class LibraryPeer {
  public:
    /// Reads the cluster file. Throws StartupError; so do the calls until `start`.
    /// `stops` outlives this.
    LibraryPeer(const LibraryOptions& options, StopRequests& stops);
    /// One that trains leaves: in the mode ako it hands over what others lack of its row within
    /// `leaving_max`. Then, and if it was finishing, it says goodbye.
    ~LibraryPeer();
    LibraryPeer(const LibraryPeer&) = delete;
    LibraryPeer& operator=(const LibraryPeer&) = delete;

    // Before the start. All calls throw WrongCall.
    /// `first` of the tensors is set here.
    void set_layout(std::vector<Tensor> tensors, std::vector<Strides> strides);
    void set_data(std::uint64_t samples, std::uint64_t samples_per_round);
    void set_data_digest(const std::string& digest);
    void require_equal(const std::string& key, const std::string& value);
    /// [parameter_count]. `of_lowest`: all train from those of the lowest peer of the file.
    void start(std::span<const float> initial, bool of_lowest);
    std::size_t parameter_count() const { return parameter_count_; }

    // Rounds.
    /// Nothing: the time is over. With Kind::train the replica is in `parameters`.
    std::optional<Next> begin_round(Time at_most, std::span<float> parameters);
    /// An error of Kind::numbers: there are no more rounds. A loss that is not a number counts as
    /// not known, until LossWatch ends this peer.
    Result<void> end_round(std::span<const float> parameters, std::optional<float> loss);
    void copy_anchor(std::span<float> out);
    void announce(Verdict verdict);
    /// Before the start, too: then nothing but zeros.
    Standing standing() const;

    // The end.
    /// False: the time is over. Else the parameters are in `out`, if there is a model.
    bool step_finish(Time at_most, std::span<float> out);
    void set_final_verdict(float accuracy, std::optional<float> loss);
    /// Nothing while it is not over. The first call writes the results.
    const PeerResult* report();
    /// The program ends by a failure: how this peer says goodbye, if it has to. The first stands.
    void fails(std::string_view why);

    const RunDriver& driver() const { return driver_; }
    const Settings& settings() const { return settings_; }
    PeerIndex self() const { return self_; }
    const std::string& folder() const { return run_.folder(); }
    /// What to do about numbers that it has ended for; else empty.
    std::string remedy() { return numbers_remedy(settings_, driver_.outcome()); }
    /// In a child that fork has made: closes what it has of the pipe to launch.
    void close_report_pipe() const { run_.close_report_pipe(); }
    /// Brought up to date. From the start on.
    const MetricsLine& metrics();
    /// With View::none.
    std::optional<std::string> take_log();

  private:
    void require(RunDriver::Call call, const char* name) const;
    Brought brought(std::span<const float> initial, bool of_lowest) const;
    void keep_log(const std::string& line);
    /// What counts of it: not one that is no number, which is noted.
    std::optional<float> known_loss(std::optional<float> loss, Round round);
    void leave_training();
    void leave_unfinished();
    std::uint64_t sample_budget() const;

    // Constant after construction, but for what set_data changes.
    Settings settings_;
    const PeerIndex self_;
    const View view_;
    StopRequests& stops_;

    std::mutex log_mutex_;
    std::deque<std::string> log_;  ///< protected by log_mutex_

    RunDriver driver_;
    std::vector<Tensor> tensors_;
    std::vector<Strides> strides_;
    std::size_t parameter_count_ = 0;
    std::uint64_t samples_ = 0;
    std::string data_digest_;
    std::string must_equal_;

    PeerRun run_;  // outlives the wiring, which logs
    std::unique_ptr<Wiring> wiring_;
    std::vector<float> update_;  ///< [parameter_count]; of the newest round, until it is finished
    LossWatch losses_;
    Farewell farewell_;  ///< what the others are told at the end
    std::optional<PeerResult> result_;
};

}  // namespace ako
