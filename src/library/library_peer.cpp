#include "src/library/library_peer.h"

#include <algorithm>
#include <utility>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "ako/printable.h"
#include "src/config/cluster_file.h"
#include "src/config/key_places.h"
#include "src/library/layout_text.h"
#include "src/numbers/digest.h"
#include "src/numbers/finite.h"
#include "src/wiring/memory_plan.h"
#include "src/wiring/sample_budget.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {
namespace {

using Call = RunDriver::Call;

/// For how long a peer that was not finished hands over what it learned, while the program waits.
constexpr Time leaving_max = std::chrono::seconds(5);

/// .. and looks at least so often whether somebody asks again.
constexpr Time leaving_step = std::chrono::milliseconds(50);

/// Lines of the log that are kept for a program that takes them one by one.
constexpr std::size_t log_lines_max = 1000;

/// More than there is; so that no product of such numbers goes beyond what is counted in 64 bits.
constexpr std::uint64_t samples_per_round_max = std::uint64_t{1} << 24;

/// As much as the other side of a connection is told of a key that differs.
constexpr std::size_t key_bytes_max = 40;
constexpr std::size_t value_bytes_max = 300;

/// For what the program and the tensors say; the settings have room in a Hello beside so much.
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
      driver_(settings_.training, stops.count()),
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

void LibraryPeer::require(RunDriver::Call call, const char* name) const {
    const std::string why = driver_.refusal(call);
    if (!why.empty()) throw WrongCall(std::string(name) + ": " + why);
}

void LibraryPeer::set_layout(std::vector<Tensor> tensors, std::vector<Strides> strides) {
    require(Call::start, "ako_set_layout");
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
    require(Call::start, "ako_set_data");
    if (samples == 0 || samples > samples_max)
        throw WrongCall("ako_set_data: a data set has 1 to 10^12 samples");
    if (samples_per_round > samples_per_round_max)
        throw WrongCall("ako_set_data: a round has at most 16,777,216 samples");
    if (samples_ != 0) throw WrongCall("ako_set_data: it was said already");
    samples_ = samples;
    if (samples_per_round > 0) settings_.training.batch.local = samples_per_round;
}

void LibraryPeer::set_data_digest(const std::string& digest) {
    require(Call::start, "ako_set_data_digest");
    if (digest.empty() || digest.size() > data_digest_bytes_max || !is_printable(digest))
        throw WrongCall("ako_set_data_digest: a digest is 1 to 64 bytes of printable UTF-8");
    if (!data_digest_.empty()) throw WrongCall("ako_set_data_digest: it was said already");
    data_digest_ = digest;
}

void LibraryPeer::require_equal(const std::string& key, const std::string& value) {
    require(Call::start, "ako_require_equal");
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
    return ako::sample_budget(settings_.training, samples_of_all(settings_, samples_));
}

Brought LibraryPeer::brought(std::span<const float> initial, bool of_lowest) const {
    // The digests say that something differs; these lines say what, in the most common cases.
    const std::string sizes = "parameters: " + std::to_string(parameter_count_) + " in " +
                              std::to_string(tensors_.size()) + " tensors\n";
    DataDescription data;
    if (settings_.data.sharding != Sharding::own) {  // else others' may differ
        data.train.count = samples_;
        data.digest = data_digest_;
    }
    const std::size_t said = must_equal_.size();
    const std::size_t room = said < must_equal_bytes_max ? must_equal_bytes_max - said : 0;
    const std::string beginning =
        std::string("initial: ") + (of_lowest ? "of the lowest peer" : "the same at all") + "\n";
    return {.tensors = tensors_,
            .initial = {initial.begin(), initial.end()},
            .initial_of_lowest = of_lowest,
            .sample_count = samples_,
            .sample_budget = sample_budget(),
            .must_equal = sizes + beginning + layout_text(tensors_, room) + must_equal_,
            .data = std::move(data)};
}

void LibraryPeer::start(std::span<const float> initial, bool of_lowest) {
    require(Call::start, "ako_start");
    if (tensors_.empty()) throw WrongCall("ako_start: ako_set_layout comes before");
    if (samples_ == 0) throw WrongCall("ako_start: ako_set_data comes before");
    check_own_samples(settings_, self_, samples_);
    if (of_lowest && !entry_of(settings_.exchange).lends_initial)
        throw at_key(settings_, "exchange.mode",
                     StartupError("the initial parameters of the lowest peer are taken over in "
                                  "the mode ako only",
                                  "begin with the same parameters at all peers"));
    if (!all_finite(initial))
        throw StartupError("an initial parameter is not finite", "look at how the model is made");
    const std::size_t vector_bytes = parameter_count_ * sizeof(float);
    const MemoryPlan memory =
        plan_memory(settings_, parameter_count_,
                    {{"newest update", "M", vector_bytes}, {"library", "", library_bytes}});
    check_memory(settings_, memory);
    const WiringCalls calls = run_.member_calls([this] { return stops_.of_this_peer(); });
    auto wiring = std::make_unique<Wiring>(settings_, self_, brought(initial, of_lowest),
                                           EarlierRun{}, calls, stops_.count());
    update_.resize(parameter_count_);
    run_.begin(*wiring, tensors_, {parameter_count_, sample_budget(), memory});
    wiring_ = std::move(wiring);
    driver_.start(wiring_->exchange(), run_.metrics());
}

// ---- rounds

std::optional<Next> LibraryPeer::begin_round(Time at_most, std::span<float> parameters) {
    require(Call::begin_round, "ako_begin_round");
    const Time until = wiring_->clock().now() + at_most;
    std::optional<Next> next = driver_.begin_round({0, parameter_count_}, until);
    if (next && next->kind == Next::Kind::train) {
        const std::span<const float> replica = wiring_->exchange().replica();
        std::copy(replica.begin(), replica.end(), parameters.begin());
        run_.metrics().reached(RoundMoment::gradient_begun);
    }
    return next;
}

Result<void> LibraryPeer::end_round(std::span<const float> parameters, std::optional<float> loss) {
    require(Call::end_round, "ako_end_round");
    run_.metrics().reached(RoundMoment::gradient_ended);
    const Exchange& exchange = wiring_->exchange();
    loss = known_loss(loss, exchange.standing().round + 1);
    if (const auto farewell = losses_.end())
        return driver_.give_up(
            *farewell, farewell->why + ", the first in round " + std::to_string(farewell->since));
    const std::span<const float> replica = exchange.replica();
    for (std::size_t k = 0; k < update_.size(); ++k) update_[k] = parameters[k] - replica[k];
    return driver_.end_round(Update{update_}, {settings_.training.batch.local, loss});
}

std::optional<float> LibraryPeer::known_loss(std::optional<float> loss, Round round) {
    if (losses_.take(loss, round)) return loss;
    Metrics& metrics = run_.metrics();
    metrics.loss_not_finite();
    if (metrics.newest().losses_not_finite == 1)
        run_.log().notice()("the loss of round " + std::to_string(round) +
                            " is not finite: after " + std::to_string(LossWatch::in_a_row_max) +
                            " such rounds in a row this peer ends");
    return std::nullopt;
}

void LibraryPeer::copy_anchor(std::span<float> out) {
    require(Call::anchor, "ako_copy_anchor");
    // Between rounds it would wait for the others, for as long as they like.
    const bool between = driver_.state() != RunDriver::State::in_round;
    if (between && !entry_of(settings_.exchange).every_round)
        throw WrongCall("ako_copy_anchor: within a round only, in the mode local-sgd");
    wiring_->exchange().copy_parameters(out);
}

void LibraryPeer::announce(Verdict verdict) {
    require(Call::announce, "ako_announce");
    if (!is_share(verdict.accuracy)) throw WrongCall("ako_announce: an accuracy is 0 .. 1");
    if (!(verdict.progress >= 0 && verdict.progress <= 1))
        throw WrongCall("ako_announce: progress is 0 .. 1");
    verdict.accuracy = std::clamp(verdict.accuracy, 0.0F, 1.0F);
    run_.metrics().milestone_passed({standing().round, verdict.progress, {}});
    driver_.announce(verdict);
}

Standing LibraryPeer::standing() const {
    return wiring_ == nullptr ? Standing{} : wiring_->exchange().standing();
}

// ---- the end

bool LibraryPeer::step_finish(Time at_most, std::span<float> out) {
    require(Call::finish, "ako_step_finish");
    if (driver_.over()) return true;
    if (!driver_.finish(update_, wiring_->clock().now() + at_most, farewell_)) return false;
    if (!driver_.has_model()) return true;
    driver_.judge();
    std::copy(update_.begin(), update_.end(), out.begin());
    driver_.outcome().parameters = std::move(update_);
    return true;
}

void LibraryPeer::set_final_verdict(float accuracy, std::optional<float> loss) {
    require(Call::final_verdict, "ako_final_result");
    if (!driver_.has_model()) throw WrongCall("ako_final_result: there is no model");
    if (result_) throw WrongCall("ako_final_result: ako_report has said it already");
    if (!is_share(accuracy)) throw WrongCall("ako_final_result: an accuracy is 0 .. 1");
    driver_.outcome().verdict =
        Verdict{standing().progress, std::clamp(accuracy, 0.0F, 1.0F), loss};
}

const PeerResult* LibraryPeer::report() {
    if (!driver_.over()) return nullptr;
    if (result_) return &*result_;
    wiring_->transport().stop(wiring_->clock().now());
    TrainingOutcome& outcome = driver_.outcome();
    if (!outcome.parameters.empty() && !row_major(tensors_, strides_))
        outcome.parameters = to_row_major(tensors_, strides_, outcome.parameters);
    result_ = run_.end(outcome, samples_of_all(settings_, samples_), {});
    return &*result_;
}

void LibraryPeer::leave_training() {
    stops_.ask(StopKind::peer);
    // A second request to stop asks for an end without waiting.
    const bool alone = entry_of(settings_.exchange).goes_on() && stops_.of_this_peer();
    if (!alone || stops_.count().load() > 2) return;
    const Time until = wiring_->clock().now() + leaving_max;
    std::vector<float> unused(parameter_count_);
    while (!driver_.over() && wiring_->clock().now() < until) {
        if (driver_.trains())
            begin_round(leaving_step, unused);
        else
            step_finish(leaving_step, unused);
    }
}

void LibraryPeer::fails(std::string_view why) {
    if (farewell_.cause == EndCause::program) return;
    const std::string_view line = why.substr(0, why.find_first_of("\r\n"));
    farewell_ = {EndCause::program, 0, first_bytes(printable(line), Farewell::why_bytes_max)};
}

void LibraryPeer::leave_unfinished() {
    if (wiring_ == nullptr) return;
    if (driver_.trains()) {
        if (farewell_.cause == EndCause::finished) farewell_.cause = EndCause::left;
        leave_training();
    }
    if (!driver_.over()) {
        // The final exchange of a program that has gone must not count as one that it finished.
        wiring_->exchange().close(farewell_);
        run_.log().notice()("left: the program closed its peer before the end");
    } else if (!result_) {
        report();
    }
}

// ---- what there is to see

const MetricsLine& LibraryPeer::metrics() {
    if (wiring_ == nullptr) throw WrongCall("ako_metrics: ako_start comes before");
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
