#include "src/reporting/peer_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>

#include "ako/mode_table.h"
#include "src/config/cluster_file.h"
#include "src/config/peer_list.h"
#include "src/numbers/digest.h"
#include "src/observe/observe_run.h"
#include "src/reporting/peer_report.h"
#include "src/results/disk_reserve.h"
#include "src/results/summary.h"
#include "src/screen/live_view.h"
#include "src/screen/progress_lines.h"
#include "src/screen/terminal.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {
namespace {

/// How long a launch that is stopped is waited for at the end. Its peers' results are files as
/// well, where a disk takes them.
constexpr std::chrono::seconds report_patience{5};

/// "listens at 0.0.0.0:7701 (for others: 10.0.0.1:7701) and waits for b, c (60 s at most)".
std::string first_words(const Settings& settings, PeerIndex self) {
    if (entry_of(settings.exchange).is_alone())
        return "trains alone (exchange.mode: local) and listens nowhere";
    const PeerSettings& own = settings.peers[self];
    std::string text = "listens at " + own.listen;
    if (own.listen != own.address) text += fmt::format(" (for others: {})", own.address);
    std::vector<std::string> others = peer_names(settings);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(self));
    if (others.empty()) return text + "; there are no other peers";
    if (settings.exchange.start_wait_s == 0)
        return text +
               fmt::format(" and begins at once; {} may come later", fmt::join(others, ", "));
    return text + fmt::format(" and waits for {} ({:g} s at most)", fmt::join(others, ", "),
                              settings.exchange.start_wait_s);
}

}  // namespace

PeerRun::PeerRun(RunOptions options, const Settings& settings, PeerIndex self,
                 std::function<void()> end)
    : options_(std::move(options)),
      settings_(settings),
      self_(self),
      name_(settings.peers[self].name),
      end_(std::move(end)),
      live_(!launched() && options_.view == View::live && isatty(options_.view_fd) == 1 &&
            Terminal::usable()),
      console_(options_.view_fd),
      report_(options_.report_fd),
      log_(name_, launched() ? LogStyle::bare : LogStyle::with_time_and_name, console_) {}

PeerRun::~PeerRun() = default;

WiringCalls PeerRun::member_calls(std::function<bool()> leaves) {
    return {{log_.notice(), log_.detail()},
            [this](const auto& missing) { metrics_->waits(missing); },
            std::move(leaves)};
}

// ---- the beginning

void PeerRun::begin(Wiring& wiring, std::vector<Tensor> model, const RunSize& size) {
    const bool own = options_.output_dir.empty();
    folder_ = own ? make_run_folder(system_files_, settings_) : options_.output_dir;
    if (!own) require_folder(folder_);
    latest_ = LatestRun(own ? folder_ : "");
    log_.keep_in(fmt::format("{}/log-{}.txt", folder_, name_));
    start_server(size);
    if (!launched() && options_.view != View::none) start_view();
    Metrics& metrics = metrics_.emplace(
        fmt::format("{}/metrics-{}", folder_, name_),
        [this](const MetricsLine& line) { show(line); }, log_.notice(), peer_names(settings_),
        self_, wiring.transport(), wiring.clock(), options_.restarted);
    metrics.watch(wiring.exchange());
    metrics.set_sample_budget(size.sample_budget);
    parameter_count_ = size.parameter_count;
    chance_ = size.chance;
    milestones_ = make_milestones(size.parameter_count);
    if (milestones_) metrics.keep_milestones_in(*milestones_);
    say_warnings(size);
    wiring.start();
    (launched() ? log_.detail() : log_.notice())(first_words(settings_, self_));
    files_.emplace(system_files_, folder_, settings_, name_, std::move(model));
    checkpoint_folder_.emplace(system_files_, folder_, wiring.owner(),
                               end_bytes(size.parameter_count));
    take_over_earlier(wiring);
}

void PeerRun::start_view() {
    const bool alone = entry_of(settings_.exchange).is_alone();  // and hears of nobody
    const std::size_t own = alone ? 0 : self_;
    RunState state(fmt::format("{} as {} sees it", settings_.run, name_), settings_.training.epochs,
                   alone ? std::vector{name_} : peer_names(settings_), own);
    const auto make_view = [this]() -> std::unique_ptr<RunView> {
        if (live_) return std::make_unique<LiveView>(console_, peer_names(settings_));
        return std::make_unique<ProgressLines>(console_, name_);
    };
    view_ = std::make_unique<ViewThread>(std::move(state), own, make_view, end_);
    if (live_) log_.show_in([this](const std::string& text) { view_->take_log(text); });
}

void PeerRun::show(const MetricsLine& line) {
    if (line.round > 0) latest_.trained(system_files_);
    if (server_) board_.post({observed_, line});
    if (view_)
        view_->take_line(line);
    else
        report_.offer(to_json_text(line) + "\n");
}

void PeerRun::start_server(const RunSize& size) {
    const auto address = observe_address(settings_, self_);
    if (!address) return;
    observed_ = observed_run(settings_, self_);
    for (const MemoryTerm& term : size.memory.terms) observed_.memory[term.name] += term.bytes;
    server_ = std::make_unique<HttpServer>(address->host, address->port, board_);
    log_.notice()(fmt::format("is observed at http://{}:{}/", address->host, address->port));
}

void PeerRun::say_warnings(const RunSize& size) {
    if (launched()) return;  // launch has said so before it started its peers
    for (const std::string& note : size.data_notes) log_.notice()(note);
    for (const std::string& warning : warnings(settings_, size))
        log_.notice()("warning: " + warning);
}

void PeerRun::take_over_earlier(Wiring& wiring) {
    if (options_.restarted && !options_.resumes) {
        // Those that the process before left in this folder go once there are newer ones.
        const auto left = find_checkpoints({folder_}, wiring.owner()).usable;
        if (const auto taken = checkpoint_folder_->take_over(left); !taken)
            log_.notice()(taken.error().what);
        return;
    }
    const EarlierCheckpoints& earlier = wiring.earlier();
    for (const std::string& refused : earlier.refused) log_.notice()(refused);
    if (earlier.usable.empty()) {
        if (options_.resumes)
            log_.notice()("has no checkpoint to go on from: it has its row from the others");
        return;
    }
    const KeptCheckpoint& newest = earlier.usable.front();
    log_.notice()(fmt::format("its newest checkpoint is {}, of {:.0f} % of the run", newest.path,
                              newest.progress * 100));
    if (!newest.of_peers.empty() && newest.of_peers != peer_names(settings_))
        log_.notice()(
            fmt::format("it was made by the peers {}: here it is of round {}, and what is left of "
                        "the data is shared out anew",
                        fmt::join(newest.of_peers, ", "), newest.id.round));
    if (options_.branches) return;
    past_ = newest.past;
    if (const auto taken = checkpoint_folder_->take_over(earlier.usable); !taken)
        log_.notice()(
            "should the run be cut off before its next checkpoint, go on from the "
            "earlier folder: " +
            taken.error().what);
}

std::unique_ptr<Checkpoints> PeerRun::make_checkpoints() {
    if (!settings_.training.keeps_checkpoints()) return nullptr;
    Checkpoints::Write write;
    if (entry_of(settings_.exchange).keeps_checkpoints())
        write = [this](const Checkpoint& it) { return checkpoint_folder_->write(it); };
    return std::make_unique<Checkpoints>(
        parameter_count_,
        [this](std::span<const float> parameters, const Verdict& verdict) {
            return files_->write_checkpoint(parameters, verdict);
        },
        log_.notice(), log_.detail(), std::move(write), past_,
        settings_.training.paces_checkpoints() ? std::optional(checkpoint_pace()) : std::nullopt);
}

CheckpointPace PeerRun::checkpoint_pace() const {
    constexpr double seconds_of_an_hour = 3600;
    CheckpointPace pace(settings_.training.mtbf_h * seconds_of_an_hour,
                        mode_costs(settings_, parameter_count_).checkpoint.bytes);
    pace.knows(past_.seconds, past_.starts);
    return pace;
}

std::unique_ptr<MilestoneWriter> PeerRun::make_milestones(std::size_t parameter_count) {
    if (settings_.training.evaluate != EvaluateWhen::after) return nullptr;
    return std::make_unique<MilestoneWriter>(milestone_path(folder_, name_), parameter_count,
                                             log_.notice(), options_.restarted);
}

// ---- the end

PeerResult PeerRun::end(const TrainingOutcome& outcome, std::uint64_t item_count,
                        const Evaluate& evaluate) {
    PeerResult result = make_result(settings_, self_, outcome, *metrics_, item_count, chance_);
    // The others have; who serves makes no round.
    if (result.samples_total > 0) latest_.trained(system_files_);
    if (!live_) tell(result);
    write_results(outcome, evaluate, result);
    if (live_) tell(result);  // last: a terminal that takes nothing must hold up no file
    if (options_.output_dir.empty()) log_.notice()("results in " + folder_);
    return result;
}

void PeerRun::close_view(const PeerResult& result) {
    view_->close([&result](RunState& state) {
        for (std::size_t k = 0; k < state.peers().size(); ++k)
            if (state.peers()[k].name == result.name) state.take_exit(k, result.exit);
        if (result.accuracy) state.take_accuracy(*result.accuracy);
        if (result.identical) state.take_finished(result.finished_with);
    });
    if (live_) log_.show_in(nullptr);
}

void PeerRun::tell(const PeerResult& result) {
    report_.send(result_line(result), report_patience);
    if (view_) close_view(result);
    // Launch itself shows how its peers ended, unless something went wrong.
    const bool told_by_launch = launched() && result.exit != exit_no_agreement && result.agreed;
    if (!told_by_launch) log_ending(result, log_.notice());
}

void PeerRun::write_results(const TrainingOutcome& outcome, const Evaluate& evaluate,
                            PeerResult& result) {
    std::vector<std::string> failures;
    const auto attempt = [&failures](const auto& step) {
        try {
            step();
        } catch (const std::exception& error) {
            failures.emplace_back(error.what());
        }
    };
    const auto write_result_file = [&] {
        write_result(fmt::format("{}/result-{}.json", folder_, name_), result);
    };
    attempt(write_result_file);
    attempt([&] { write_model(outcome); });
    if (!launched()) {
        // Launch does this for all its peers, when none of them trains any more.
        const std::size_t points = result.curve.size();
        if (evaluate) attempt([&] { evaluate(result); });
        if (result.curve.size() != points) attempt(write_result_file);
        attempt([&] { write_curve(result); });
        attempt([&] { write_summary(result); });
    }
    if (failures.empty()) return;
    for (const std::string& failure : failures) log_.notice()("not written: " + failure);
    if (went_well(result.exit)) {
        result.exit = exit_not_written;
        result.why = "trained and agreed, but " + failures.front();
    }
    report_.send(result_line(result), report_patience);
    // What it says of itself, if that can be written by now.
    attempt(write_result_file);
    if (!launched()) attempt([&] { write_summary(result); });
}

/// Peers that agreed under one `ako launch` would all write the same file, so the lowest alone
/// does; a peer without agreement, or that holds something else, writes its own.
void PeerRun::write_model(const TrainingOutcome& outcome) const {
    if (outcome.parameters.empty()) return;
    const FinishReport& report = outcome.report;
    const bool together = !options_.output_dir.empty();
    const bool lowest = report.finished_with.empty() || report.finished_with.front() == self_;
    if (together && report.agreed && report.identical && !lowest) return;
    // Peers that train alone have a model each.
    const bool own = entry_of(settings_.exchange).is_alone() && self_ != 0;
    const bool apart = together && (!report.agreed || !report.identical || own);
    const std::string name = apart ? "model-" + name_ : "model";
    files_->write_model(name, outcome.parameters, outcome.verdict, hex(report.digest));
}

void PeerRun::write_curve(const PeerResult& result) const {
    Summary alone;
    alone.peers = {result};
    write_whole_file(folder_ + "/curve.json", alone.curve(settings_.training.evaluate).json());
}

void PeerRun::write_summary(const PeerResult& result) {
    const bool alone = entry_of(settings_.exchange).is_alone();
    const Summary summary = summary_of_one(settings_.run, alone, result, metrics_->newest());
    write_whole_file(folder_ + "/summary.json", summary.json());
}

}  // namespace ako
