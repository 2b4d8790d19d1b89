#include "src/library/library_peer.h"

#include <algorithm>
#include <utility>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/config/key_places.h"
#include "src/group/group_exchange.h"
#include "src/library/layout_text.h"
#include "src/member/memory_plan.h"
#include "src/member/sample_budget.h"
#include "src/numbers/digest.h"
#include "src/numbers/finite.h"

namespace ako {
namespace {

/// For how long a peer that was not finished hands over what it learned, while the program waits.
constexpr Time leaving_max = std::chrono::seconds(5);

/// Of the log, for who takes it line by line.
constexpr std::size_t log_lines_max = 1000;

/// More than there is; so that no product of such numbers goes beyond what is counted in 64 bits.
constexpr std::uint64_t samples_max = 1'000'000'000'000;
constexpr std::uint64_t samples_per_round_max = std::uint64_t{1} << 24;

/// As much as the other side of a connection is told of a key that differs.
constexpr std::size_t key_bytes_max = 40;
constexpr std::size_t value_bytes_max = 300;

/// Of what the program and the tensors say; the settings have room in a Hello beside so much.
constexpr std::size_t must_equal_bytes_max = 1000;

/// The program and its libraries are the caller's, and not known.
constexpr std::size_t library_bytes = 20'000'000;

/// But for what sums of float32 may be beyond it.
bool is_share(float number) { return number >= -1e-5F && number <= 1 + 1e-5F; }

const Settings& for_programs(const Settings& settings) {
    if (settings.model.kind == ModelKind::external) return settings;
    throw at_key(settings, "model",
                 StartupError("expected external: the program brings its model",
                              "write `model: external`, and train this file with `ako train`"));
}

RunOptions run_options(const LibraryOptions& options) {
    RunOptions run;
    run.output_dir = options.output_dir;
    run.view = options.view;
    run.restarted = options.restarted;
    run.report_fd = options.report_fd;
    run.view_fd = 2;  // standard output is the program's
    return run;
}

}  // namespace

// ---- before the start

LibraryPeer::LibraryPeer(const LibraryOptions& options, StopRequests& stops)
    : settings_(for_programs(read_cluster_file(options.file, options.overrides))),
      self_(peer_by_name(settings_, options.peer)),
      view_(options.view),
      stops_(stops),
      run_(run_options(options), settings_, self_, [this] { stops_.ask(StopKind::run); }) {
    if (view_ == View::none)
        run_.log().show_in([this](const std::string& line) { keep_log(line); });
}

LibraryPeer::~LibraryPeer() {
    try {
        leave_unfinished();
    } catch (const std::exception& error) {  // what it leaves is in no file then
        run_.log().notice()(error.what());
    }
}

void LibraryPeer::require(Phase phase, const char* call) const {
    if (phase_ == phase) return;
    constexpr const char* words[] = {"it has not been started", "it trains",
                                     "training is over and it finishes", "it is over"};
    throw WrongCall(std::string(call) + ": not at this point: " +
                    words[static_cast<std::size_t>(phase_)]);
}

void LibraryPeer::set_layout(std::vector<Tensor> tensors, std::vector<Strides> strides) {
    require(Phase::opened, "ako_set_layout");
    if (!tensors_.empty()) throw WrongCall("ako_set_layout: there is a layout already");
    if (tensors.empty()) throw WrongCall("ako_set_layout: no tensor");
    std::vector<std::string> names;
    std::string unusual;
    std::size_t first = 0;
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        Tensor& tensor = tensors[k];
        const std::string refused = refused_strides(tensor.shape, strides[k]);
        if (tensor.name.empty()) throw WrongCall("ako_set_layout: a tensor without a name");
        if (tensor.element_count() == 0)
            throw WrongCall("ako_set_layout: " + tensor.name + " has no elements");
        if (!refused.empty()) throw WrongCall("ako_set_layout: " + tensor.name + ": " + refused);
        names.push_back(tensor.name);
        tensor.first = first;
        first += tensor.element_count();
        for (const std::ptrdiff_t stride : strides[k]) unusual += std::to_string(stride) + " ";
        unusual += "\n";
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) throw WrongCall("ako_set_layout: two tensors are named " + *twice);
    if (!row_major(tensors, strides)) must_equal_ += "strides: " + hex(sha256(unusual)) + "\n";
    tensors_ = std::move(tensors);
    strides_ = std::move(strides);
    parameter_count_ = first;
}

void LibraryPeer::set_data(std::uint64_t samples, std::uint64_t samples_per_round) {
    require(Phase::opened, "ako_set_data");
    if (samples == 0 || samples > samples_max)
        throw WrongCall("ako_set_data: a data set has 1 to 10^12 samples");
    if (samples_per_round > samples_per_round_max)
        throw WrongCall("ako_set_data: a round has at most 16,777,216 samples");
    if (samples_ != 0) throw WrongCall("ako_set_data: it was said already");
    samples_ = samples;
    if (samples_per_round > 0) settings_.training.batch.local = samples_per_round;
}

void LibraryPeer::require_equal(const std::string& key, const std::string& value) {
    require(Phase::opened, "ako_require_equal");
    const auto bad = [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; };
    if (key.empty() || key.size() > key_bytes_max || key.find(':') != std::string::npos ||
        std::any_of(key.begin(), key.end(), bad))
        throw WrongCall("ako_require_equal: a key has 1 to 40 letters on one line, and no colon");
    if (value.empty() || value.size() > value_bytes_max ||
        std::any_of(value.begin(), value.end(), bad))
        throw WrongCall("ako_require_equal: a value has 1 to 300 bytes on one line");
    if (must_equal_.size() + key.size() + value.size() > must_equal_bytes_max)
        throw WrongCall("ako_require_equal: all keys and values together have at most 1,000 bytes");
    must_equal_ += key + ": " + value + "\n";
}

std::uint64_t LibraryPeer::sample_budget() const {
    return ako::sample_budget(settings_.training, samples_);
}

Brought LibraryPeer::brought(std::span<const float> initial, bool of_lowest) const {
    // The digests say that something differs; these lines say what, in the most common cases.
    const std::string sizes = "samples: " + std::to_string(samples_) + "\nparameters: " +
                              std::to_string(parameter_count_) + " in " +
                              std::to_string(tensors_.size()) + " tensors\n";
    const std::size_t said = must_equal_.size();
    const std::size_t room = said < must_equal_bytes_max ? must_equal_bytes_max - said : 0;
    const std::string beginning =
        std::string("initial: ") + (of_lowest ? "of the lowest peer" : "the same at all") + "\n";
    return {tensors_,
            {initial.begin(), initial.end()},
            of_lowest,
            samples_,
            sample_budget(),
            sizes + beginning + layout_text(tensors_, room) + must_equal_};
}

void LibraryPeer::start(std::span<const float> initial, bool of_lowest) {
    require(Phase::opened, "ako_start");
    if (tensors_.empty()) throw WrongCall("ako_start: ako_set_layout comes before");
    if (samples_ == 0) throw WrongCall("ako_start: ako_set_data comes before");
    const Mode mode = settings_.exchange.mode;
    if (of_lowest && mode != Mode::ako && mode != Mode::local)
        throw at_key(settings_, "exchange.mode",
                     StartupError("the initial parameters of the lowest peer are taken over in "
                                  "the mode ako only",
                                  "begin with the same parameters at all peers"));
    if (!all_finite(initial))
        throw StartupError("an initial parameter is not finite", "look at how the model is made");
    const std::size_t vector_bytes = parameter_count_ * sizeof(float);
    const MemoryPlan memory = plan_memory(
        settings_, parameter_count_,
        {{"newest update", "M", vector_bytes}, {"library", "", library_bytes}});
    check_memory(settings_, memory);
    const MemberCalls calls = run_.member_calls([this] { return stops_.of_this_peer(); });
    auto member =
        std::make_unique<Member>(settings_, self_, brought(initial, of_lowest), "", calls,
                                 stops_.count());
    update_.resize(parameter_count_);
    run_.begin(*member, tensors_, {parameter_count_, sample_budget(), memory});
    member_ = std::move(member);
    phase_ = Phase::training;
}

// ---- rounds

std::optional<Next> LibraryPeer::await_next(Time until) {
    GroupExchange& exchange = member_->steps();
    for (;;) {
        if (!begun_) begun_ = exchange.step_begin();
        if (begun_ && (begun_->kind != Next::Kind::train ||
                       exchange.step_await({0, parameter_count_})))
            return std::exchange(begun_, std::nullopt);
        if (!wait(until)) return std::nullopt;
    }
}

bool LibraryPeer::wait(Time until) {
    const Time left = until - member_->clock().now();
    if (left > Time{0}) member_->steps().wait_for_event(std::min(left, GroupExchange::wait_step));
    return left > Time{0};
}

std::optional<Next> LibraryPeer::begin_round(Time at_most, std::span<float> parameters) {
    require(Phase::training, "ako_begin_round");
    Metrics& metrics = run_.metrics();
    // What is taken in now changes the replica: a round that was begun is begun anew.
    const bool again = std::exchange(in_round_, false);
    if (!std::exchange(begin_is_said_, true)) metrics.reached(RoundMoment::begun);
    std::optional<Next> next = await_next(member_->clock().now() + at_most);
    if (!next) return next;
    if (next->kind == Next::Kind::train) {
        const std::span<const float> replica = member_->exchange().replica();
        std::copy(replica.begin(), replica.end(), parameters.begin());
        in_round_ = has_begun_ = true;
        if (!again) metrics.reached(RoundMoment::may_train);
        metrics.reached(RoundMoment::gradient_begun);
    } else if (next->kind == Next::Kind::finish) {
        outcome_.why = next->why;
        phase_ = Phase::finishing;
        metrics.stopping(outcome_.why);
    } else {
        outcome_ = given_up(*next, stops_.count().load() > 0);
        phase_ = Phase::over;
    }
    return next;
}

Result<void> LibraryPeer::end_round(std::span<const float> parameters, std::optional<float> loss) {
    require(Phase::training, "ako_end_round");
    if (!in_round_) throw WrongCall("ako_end_round: ako_begin_round comes before");
    Metrics& metrics = run_.metrics();
    metrics.reached(RoundMoment::gradient_ended);
    in_round_ = begin_is_said_ = false;
    Exchange& exchange = member_->exchange();
    Result<void> ended = check_loss(loss.value_or(0), exchange.standing().round + 1);
    if (ended) {
        const std::span<const float> replica = exchange.replica();
        for (std::size_t k = 0; k < update_.size(); ++k) update_[k] = parameters[k] - replica[k];
        ended = exchange.end_round(Update{update_}, {settings_.training.batch.local, loss});
    }
    if (!ended) {
        outcome_ = {Ending::numbers, ended.error().what, {}, {}, {}};
        phase_ = Phase::over;
        return ended;
    }
    metrics.reached(RoundMoment::ended);
    const Standing standing = exchange.standing();
    metrics.round_done({standing.round, settings_.training.batch.local, loss, standing.progress});
    return ended;
}

void LibraryPeer::copy_anchor(std::span<float> out) {
    require(Phase::training, "ako_copy_anchor");
    if (!has_begun_)
        throw WrongCall("ako_copy_anchor: there is none before ako_begin_round said AKO_TRAIN");
    // Between rounds it would wait for the others, for as long as they like.
    if (!in_round_ && settings_.exchange.mode == Mode::local_sgd)
        throw WrongCall("ako_copy_anchor: within a round only, in the mode local-sgd");
    member_->exchange().copy_parameters(out);
}

void LibraryPeer::announce(Verdict verdict) {
    require(Phase::training, "ako_announce");
    if (!is_share(verdict.accuracy)) throw WrongCall("ako_announce: an accuracy is 0 .. 1");
    if (!(verdict.progress >= 0 && verdict.progress <= 1))
        throw WrongCall("ako_announce: progress is 0 .. 1");
    verdict.accuracy = std::clamp(verdict.accuracy, 0.0F, 1.0F);
    Exchange& exchange = member_->exchange();
    run_.metrics().milestone_passed({exchange.standing().round, verdict.progress, {}});
    run_.metrics().evaluation_done(verdict);
    exchange.announce(verdict);
    const auto target = settings_.training.target_accuracy;
    if (target && verdict.accuracy >= *target) exchange.request_stop(StopReason::target_reached);
}

Standing LibraryPeer::standing() const {
    return member_ == nullptr ? Standing{} : member_->steps().standing();
}

// ---- the end

LibraryPeer::Finish LibraryPeer::step_finish(Time at_most, std::span<float> out) {
    const auto over = [this] {
        return outcome_.parameters.empty() ? Finish::without_parameters : Finish::agreed;
    };
    if (finished_) return over();
    require(Phase::finishing, "ako_step_finish");
    GroupExchange& exchange = member_->steps();
    const Time until = member_->clock().now() + at_most;
    while (!exchange.step_finish()) {
        if (!wait(until)) return Finish::goes_on;
    }
    exchange.leave();
    std::vector<float> parameters(parameter_count_);
    outcome_.report = exchange.report(parameters);
    run_.metrics().finished(outcome_.report);
    phase_ = Phase::over;
    finished_ = true;
    if (!take_model(outcome_, parameters)) return over();
    judge_finish(outcome_, stops_.count().load() > 0);
    std::copy(parameters.begin(), parameters.end(), out.begin());
    outcome_.parameters = std::move(parameters);
    return over();
}

void LibraryPeer::set_final_verdict(float accuracy, std::optional<float> loss) {
    require(Phase::over, "ako_final_result");
    if (outcome_.parameters.empty()) throw WrongCall("ako_final_result: there is no model");
    if (result_) throw WrongCall("ako_final_result: ako_report has said it already");
    if (!is_share(accuracy)) throw WrongCall("ako_final_result: an accuracy is 0 .. 1");
    outcome_.verdict =
        Verdict{member_->exchange().standing().progress, std::clamp(accuracy, 0.0F, 1.0F), loss};
}

const PeerResult* LibraryPeer::report() {
    if (phase_ != Phase::over) return nullptr;
    if (result_) return &*result_;
    member_->transport().stop(member_->clock().now());
    if (!outcome_.parameters.empty() && !row_major(tensors_, strides_))
        outcome_.parameters = to_row_major(tensors_, strides_, outcome_.parameters);
    result_ = run_.end(outcome_, samples_, {});
    return &*result_;
}

void LibraryPeer::leave_training() {
    stops_.ask(StopKind::peer);
    // Others go on without it in the mode ako alone. Who asks again wants no more of this.
    const bool alone = settings_.exchange.mode == Mode::ako && stops_.of_this_peer();
    if (!alone || stops_.count().load() > 2) return;
    const Time until = member_->clock().now() + leaving_max;
    std::vector<float> unused(parameter_count_);
    while (phase_ == Phase::training && member_->clock().now() < until)
        begin_round(GroupExchange::wait_step, unused);
    while (phase_ == Phase::finishing && member_->clock().now() < until)
        step_finish(GroupExchange::wait_step, unused);
}

void LibraryPeer::leave_unfinished() {
    if (member_ == nullptr) return;
    if (phase_ == Phase::training) leave_training();
    if (phase_ == Phase::training || phase_ == Phase::finishing) {
        // The final exchange of a program that has gone must not count as one that it finished.
        member_->steps().leave();
        run_.log().notice()("left: the program closed its peer before the end");
    } else if (!result_) {
        report();
    }
}

// ---- what there is to see

const MetricsLine& LibraryPeer::metrics() {
    if (member_ == nullptr) throw WrongCall("ako_metrics: ako_start comes before");
    return run_.metrics().last();
}

void LibraryPeer::keep_log(const std::string& line) {
    const std::lock_guard lock(log_mutex_);
    if (log_.size() == log_lines_max) log_.pop_front();
    log_.push_back(line);
}

std::optional<std::string> LibraryPeer::take_log() {
    if (view_ != View::none) throw WrongCall("ako_take_log: lines are taken with AKO_VIEW_NONE");
    const std::lock_guard lock(log_mutex_);
    if (log_.empty()) return std::nullopt;
    std::string line = std::move(log_.front());
    log_.pop_front();
    return line;
}

}  // namespace ako
