#include "src/reporting/peer_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "ako/mode_table.h"
#include "models/shard.h"
#include "src/numbers/digest.h"
#include "src/reporting/learning_verdict.h"
#include "src/results/rates.h"
#include "src/results/summary.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {
namespace {

std::vector<std::string> names_of(const std::vector<PeerIndex>& peers, const Settings& settings) {
    std::vector<std::string> names;
    names.reserve(peers.size());
    for (const PeerIndex peer : peers) names.push_back(settings.peers[peer].name);
    return names;
}

/// Does nobody else train on what is in a worker's shard?
bool shards_apart(const Settings& settings) {
    return needs_data(settings.model.kind) && settings.data.sharding != Sharding::shuffled &&
           !shards_follow(settings);
}

/// Samples in the data shard of a worker.
std::uint64_t shard_size(const Settings& settings, PeerIndex worker, std::uint64_t item_count) {
    if (settings.data.sharding == Sharding::own) return settings.peers[worker].samples;
    const auto [place, count] = place_among_workers(settings, worker);
    return disjoint_shard(item_count, place, count).count;
}

/// A worker's name, how many samples are in its shard, and on how many it has trained.
template <class Shard>
Shard shard_of(PeerIndex worker, const Settings& settings, const FinishReport& report,
               std::uint64_t item_count) {
    return {settings.peers[worker].name, shard_size(settings, worker, item_count),
            report.samples.at(worker)};
}

/// The shards of lost workers, and how much of them was seen; none where others train on them too.
std::vector<LostShard> lost_shards(const Settings& settings, const FinishReport& report,
                                   std::uint64_t item_count) {
    std::vector<LostShard> shards;
    if (!shards_apart(settings)) return shards;
    for (const PeerIndex peer : report.lost) {
        if (settings.peers[peer].role != Role::worker) continue;
        shards.push_back(shard_of<LostShard>(peer, settings, report, item_count));
    }
    return shards;
}

/// Each peer that left, when, and how much it had seen of a shard that nobody else trains on.
std::vector<LeftPeer> left_peers(const Settings& settings, const FinishReport& report,
                                 std::uint64_t item_count) {
    std::vector<LeftPeer> found;
    for (const EarlyLeave& left : report.left_early) {
        LeftPeer& it = found.emplace_back();
        it.peer = settings.peers[left.peer].name;
        it.rounds = left.round;
        it.at = left.progress;
        it.farewell = left.farewell;
        if (!shards_apart(settings) || settings.peers[left.peer].role != Role::worker) continue;
        const auto shard = shard_of<ShardPasses>(left.peer, settings, report, item_count);
        it.samples = shard.samples;
        it.seen = shard.seen;
    }
    return found;
}

/// Did it stay to the end?
bool stayed(const FinishReport& report, PeerIndex peer) {
    const bool lost = std::find(report.lost.begin(), report.lost.end(), peer) != report.lost.end();
    return !lost && std::none_of(report.left_early.begin(), report.left_early.end(),
                                 [peer](const EarlyLeave& left) { return left.peer == peer; });
}

/// How often each worker that stayed has seen its shard; nothing where others train on it too, or
/// nobody hears of the others.
std::vector<ShardPasses> shard_passes(const Settings& settings, const FinishReport& report,
                                      std::uint64_t item_count) {
    std::vector<ShardPasses> shards;
    if (!shards_apart(settings) || entry_of(settings.exchange).is_alone()) return shards;
    for (PeerIndex peer = 0; peer < report.samples.size(); ++peer) {
        if (!stayed(report, peer) || settings.peers[peer].role != Role::worker) continue;
        shards.push_back(shard_of<ShardPasses>(peer, settings, report, item_count));
    }
    return shards;
}

/// The last point of the curve: the parameters that stay.
CurvePoint final_point(const TrainingOutcome& outcome, double seconds) {
    CurvePoint point;
    point.seconds = seconds;
    point.round = outcome.report.rounds;
    point.samples = outcome.report.samples_total;
    point.progress = outcome.verdict->progress;
    point.accuracy = static_cast<double>(outcome.verdict->accuracy);
    point.loss = loss_of(*outcome.verdict);
    return point;
}

/// Where the learning rate is said.
std::string rate_text(const Settings& settings) {
    if (settings.model.kind == ModelKind::external)
        return "the learning rate of the program's optimizer";
    return fmt::format("training.learning_rate ({})", settings.training.learning_rate);
}

/// Judges a training that came to its own end and was no mere try: has it learned?
void judge_learning(PeerResult& result, const Settings& settings, const LossTrend& losses,
                    std::optional<double> chance) {
    if (!settings.training.must_learn) return;
    if (result.ending != Ending::finished || result.rounds == 0) return;
    const double round = static_cast<double>(result.samples) / static_cast<double>(result.rounds);
    if (static_cast<double>(result.samples_total) < judged_rounds_min * round) return;
    const std::string wrong = why_not_learned(result.accuracy, chance, losses.ends());
    if (wrong.empty()) return;
    result.ending = Ending::not_learned;
    result.exit = entry_of(result.ending).exit;
    result.why =
        fmt::format("{}; look at {} and at the labels (training.must_learn: false ends with 0)",
                    wrong, rate_text(settings));
}

}  // namespace

std::string numbers_remedy(const Settings& settings, const TrainingOutcome& outcome) {
    if (outcome.ending != Ending::numbers) return "";
    if (outcome.numbers_of)
        return fmt::format(
            "look at the data, the learning rate and the log of peer {}, or bound every step with "
            "training.clip",
            settings.peers[*outcome.numbers_of].name);
    const char* const rises = settings.model.kind == ModelKind::external
                                  ? ", or let it rise at first"
                              : settings.training.schedule.warm_up > 0
                                  ? ""
                                  : ", or let it rise with training.schedule.warm_up: 0.05";
    return "lower " + rate_text(settings) + rises;
}

PeerResult make_result(const Settings& settings, PeerIndex self, const TrainingOutcome& outcome,
                       Metrics& metrics, std::uint64_t item_count, std::optional<double> chance) {
    const FinishReport& report = outcome.report;
    const MetricsLine& last = metrics.last();
    const bool alone = entry_of(settings.exchange).is_alone();
    PeerResult result = result_of_line(last);
    result.name = settings.peers[self].name;
    result.role = settings.peers[self].role;
    result.ending = outcome.ending;
    result.why = outcome.why;
    if (outcome.ending == Ending::numbers) result.why += "; " + numbers_remedy(settings, outcome);
    result.exit = entry_of(outcome.ending).exit;
    result.seconds = last.time;
    result.finish_seconds = report.seconds;
    result.finish_waiting_seconds = report.waiting_seconds;
    result.finish_serving_seconds = report.serving_seconds;
    result.waited_for = names_of(report.waited_for, settings);
    result.samples_total = report.samples_total;
    result.training_began = metrics.training_began();
    result.egress_mbit = metrics.egress_mbit();
    result.figures = metrics.figures();
    result.curve = metrics.curve();
    if (gave_up(outcome.ending)) return result;
    if (outcome.verdict) {
        result.accuracy = rounded(outcome.verdict->accuracy);
        if (outcome.verdict->loss) result.loss = rounded(*outcome.verdict->loss);
        result.curve.push_back(final_point(outcome, metrics.seconds_to_end()));
    }
    if (!alone && result.rounds > 0)
        result.samples_beyond =
            samples_beyond(report.samples_total, metrics.sample_budget(),
                           static_cast<double>(result.samples) / static_cast<double>(result.rounds),
                           settings.peers.size());
    if (report.stopped_early()) {
        result.stopped_at = report.progress;
        result.asked_by = names_of(report.asked, settings);
        if (outcome.ending != Ending::not_identical)
            result.why = stopped_early_text(report.progress, asked_text(result.asked_by));
    }
    if (!report.why_not.empty()) result.why = report.why_not;
    result.agreed = report.agreed;
    // A peer that trains alone has nothing to compare.
    result.identical = report.identical && !alone;
    if (report.agreed || result.accuracy) result.digest = hex(report.digest);
    result.finished_with = names_of(report.finished_with, settings);
    result.lost_peers = names_of(report.lost, settings);
    result.lost_shards = lost_shards(settings, report, item_count);
    result.left_peers = left_peers(settings, report, item_count);
    result.seen = report.seen;
    result.handed_to = names_of(report.handed_to, settings);
    result.shards = shard_passes(settings, report, item_count);
    judge_learning(result, settings, metrics.loss_trend(), chance);
    return result;
}

void log_ending(const PeerResult& result, const std::function<void(const std::string&)>& log) {
    if (result.ending == Ending::left) {
        log(left_peer_text(result.left_peers.back()));
        return log(handed_over_text(result));
    }
    if (const std::string losses = losses_text(result); !losses.empty()) log(losses);
    const bool trained = result.accuracy || result.agreed || result.rounds > 0;
    if (gave_up(result.ending) || !trained) return log(fmt::format("stopped: {}", result.why));
    if (result.stopped_at) log(stopped_early_text(*result.stopped_at, asked_text(result.asked_by)));
    std::string word = entry_of(result.ending).word;
    std::replace(word.begin(), word.end(), '_', ' ');
    if (result.role == Role::server) return log(fmt::format("{}: all workers have ended", word));
    const std::string accuracy =
        result.accuracy ? fmt::format("test accuracy {:.2f} %, ", *result.accuracy * 100) : "";
    if (result.samples_beyond > 0) log(beyond_budget_text(result));
    for (const LostShard& shard : result.lost_shards) log(lost_shard_text(shard));
    for (const LeftPeer& left : result.left_peers) log(left_peer_text(left));
    if (result.seen) log(seen_text(*result.seen, result.samples_total));
    if (const std::string waiting = waiting_text(result); !waiting.empty())
        log(fmt::format("at the end {}", waiting));
    if (const std::string uneven = uneven_shards_text(result.shards); !uneven.empty()) log(uneven);
    if (!result.agreed)
        return log(fmt::format("no agreement: {}{}", result.why,
                               accuracy.empty() ? "" : "; " + accuracy + "of this peer's own"));
    log(fmt::format("{}: {}digest {}", word, accuracy, short_digest(result.digest)));
    if (result.ending == Ending::not_learned) log(result.why);
    if (result.identical) log(identical_text(result.digest, result.finished_with));
    if (result.exit == exit_no_agreement) log(differs_text(result.name, result.digest));
}

}  // namespace ako
