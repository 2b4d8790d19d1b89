#include "src/results/summary.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "src/results/json_number.h"
#include "src/results/number_text.h"

namespace ako {

namespace {

using nlohmann::ordered_json;

/// Signals that a process sends itself by a bug, rather than being sent them.
bool is_crash(int exit) {
    return exit == -SIGABRT || exit == -SIGSEGV || exit == -SIGBUS || exit == -SIGFPE ||
           exit == -SIGILL || exit == 1 || exit == 127 ||
           (exit > exit_interrupted && exit != exit_left);
}

std::string how_it_ended(const PeerResult& peer) {
    const std::string after = fmt::format("after round {}", peer.rounds);
    if (peer.exit < 0) return fmt::format("ended by signal {} {}", -peer.exit, after);
    return fmt::format("exit {} {}{}{}", peer.exit, after, peer.why.empty() ? "" : ": ", peer.why);
}

/// Seconds from when the first peer began to when each did; none unless it is known of every peer
/// that has points.
std::map<std::string, double> begins(const std::vector<PeerResult>& peers) {
    std::optional<Time> first;
    for (const PeerResult& peer : peers) {
        if (!peer.training_began && !peer.curve.empty()) return {};
        if (peer.training_began)
            first = std::min(first.value_or(Time::max()), *peer.training_began);
    }
    std::map<std::string, double> seconds;
    for (const PeerResult& peer : peers) {
        if (!peer.training_began) continue;
        const Time later = *peer.training_began - *first;
        seconds[peer.name] = seconds_of(later);
    }
    return seconds;
}

std::uint64_t total_egress(const std::vector<PeerResult>& peers) {
    std::uint64_t sum = 0;
    for (const PeerResult& peer : peers) sum += peer.egress_bytes;
    return sum;
}

ordered_json bottleneck_json(const Bottleneck& bottleneck) {
    if (bottleneck.kind == Bottleneck::Kind::unknown) return nullptr;
    return ordered_json::parse(to_json_text(bottleneck));
}

}  // namespace

std::vector<std::string> Summary::finished_with() const {
    std::vector<std::string> names;
    if (finisher() == nullptr) return names;
    if (!seen_by.empty()) return peers.front().finished_with;
    for (const PeerResult& peer : peers) {
        if (peer.agreed) names.push_back(peer.name);
    }
    return names;
}

const PeerResult* Summary::finisher() const {
    for (const PeerResult& peer : peers) {
        // Who only served has no replica; a program may have evaluated nothing.
        const bool trained = peer.role == Role::worker && peer.rounds > 0;
        if (peer.agreed && (peer.accuracy || trained)) return &peer;
    }
    return nullptr;
}

Curve Summary::curve(EvaluateWhen evaluated) const {
    Curve curve;
    curve.evaluated = evaluated;
    curve.began = begins(peers);
    const auto add = [&curve](const PeerResult& peer, CurvePoint point) {
        const auto began = curve.began.find(peer.name);
        if (began != curve.began.end()) point.seconds += began->second;
        curve.points.push_back(point);
    };
    // One that only serves has no parameters to judge.
    const PeerResult* last = nullptr;
    for (const PeerResult& peer : peers) {
        if (peer.accuracy && (last == nullptr || (peer.agreed && !last->agreed))) last = &peer;
    }
    for (const PeerResult& peer : peers) {
        const std::size_t final_points = peer.accuracy && !peer.curve.empty() ? 1 : 0;
        for (std::size_t k = 0; k + final_points < peer.curve.size(); ++k) add(peer, peer.curve[k]);
        if (last == nullptr && !peer.curve.empty()) curve.peer = peer.name;
    }
    std::stable_sort(
        curve.points.begin(), curve.points.end(),
        [](const auto& one, const auto& other) { return one.progress < other.progress; });
    if (last != nullptr) {
        curve.peer = last->name;
        if (!last->curve.empty()) add(*last, last->curve.back());
    }
    return curve;
}

void Summary::keep_begins_between(Time from, Time to) {
    for (PeerResult& peer : peers) {
        const bool here =
            peer.training_began && *peer.training_began >= from && *peer.training_began <= to;
        if (!here) peer.training_began.reset();
    }
}

std::vector<LostShard> Summary::lost_shards() const {
    std::vector<LostShard> shards;
    for (const PeerResult& peer : peers) {
        if (!peer.agreed) continue;
        for (const LostShard& heard : peer.lost_shards) {
            const auto known =
                std::find_if(shards.begin(), shards.end(),
                             [&](const LostShard& shard) { return shard.peer == heard.peer; });
            if (known == shards.end())
                shards.push_back(heard);
            else
                known->seen = std::max(known->seen, heard.seen);
        }
    }
    return shards;
}

std::vector<LeftPeer> Summary::left_peers() const {
    std::vector<LeftPeer> left;
    for (const PeerResult& peer : peers) merge_left_peers(left, peer.left_peers);
    const std::vector<std::string> finished = finished_with();
    std::erase_if(left, [&](const LeftPeer& it) {
        return std::find(finished.begin(), finished.end(), it.peer) != finished.end();
    });
    return left;
}

bool Summary::replicas_identical() const {
    const PeerResult* first = finisher();
    // One alone cannot compare digests here; it did so when it finished.
    if (!seen_by.empty() && !peers.front().identical) return false;
    return first != nullptr && std::all_of(peers.begin(), peers.end(), [&](const auto& peer) {
               // A peer that agreed and exits so has been told of parameters that differ.
               const bool differs = peer.exit == exit_no_agreement;
               return !peer.agreed || (peer.digest == first->digest && !differs);
           });
}

ExitStatus Summary::exit_status() const {
    if (!seen_by.empty()) return static_cast<ExitStatus>(peers.front().exit);
    const auto any = [this](auto condition) {
        return std::any_of(peers.begin(), peers.end(), condition);
    };
    // Parameters that differ are worse than any interrupt, as for the peer itself.
    if (any([](const PeerResult& peer) { return peer.agreed && peer.exit == exit_no_agreement; }))
        return exit_no_agreement;
    if (interrupted) return exit_interrupted;
    if (any([](const PeerResult& peer) { return is_crash(peer.exit); })) return exit_crash;
    for (const ExitStatus status : {exit_start_up, exit_numbers, exit_broken, exit_no_agreement}) {
        if (any([status](const PeerResult& peer) { return peer.exit == status; })) return status;
    }
    if (!alone && !replicas_identical()) return exit_no_agreement;
    if (any([](const PeerResult& peer) { return peer.exit == exit_not_written; }))
        return exit_not_written;
    if (any([](const PeerResult& peer) { return peer.exit == exit_not_learned; }))
        return exit_not_learned;
    // A peer that was asked to end by someone else than launch ended as asked, but nobody who
    // waits for the whole training must take this for it.
    return stopped_at() ? exit_stopped_early : exit_ok;
}

std::optional<double> Summary::stopped_at() const {
    if (alone && !interrupted) return std::nullopt;  // the others went on
    for (const PeerResult& peer : peers) {
        if (peer.agreed && peer.stopped_at) return peer.stopped_at;
    }
    return std::nullopt;
}

std::vector<std::string> Summary::asked_by() const {
    std::vector<std::string> names;
    if (!stopped_at()) return names;
    for (const PeerResult& peer : peers) {
        for (const std::string& name : peer.asked_by) {
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
    }
    return names;
}

double Summary::finish_seconds() const {
    double longest = 0;
    for (const PeerResult& peer : peers) longest = std::max(longest, peer.finish_seconds);
    return longest;
}

const PeerResult* Summary::longest_waiter() const {
    const auto longest =
        std::max_element(peers.begin(), peers.end(), [](const auto& one, const auto& other) {
            return one.finish_waiting_seconds < other.finish_waiting_seconds;
        });
    return longest == peers.end() ? nullptr : &*longest;
}

std::string Summary::json() const {
    const PeerResult* first = finisher();
    const PeerResult* waiter = longest_waiter();
    ordered_json json = {{"run", run}, {"seconds", seconds}};
    json["seen_by"] = seen_by.empty() ? ordered_json(nullptr) : ordered_json(seen_by);
    json["accuracy"] = or_null(first != nullptr ? first->accuracy : std::nullopt);
    json["replicas_identical"] = !alone && replicas_identical();
    json["finished_with"] = finished_with();
    json["digest"] = first != nullptr ? first->digest : "";
    json["finish_seconds"] = finish_seconds();
    json["finish_waiting_seconds"] = waiter != nullptr ? waiter->finish_waiting_seconds : 0;
    json["waited_for"] = waiter != nullptr ? waiter->waited_for : std::vector<std::string>();
    json["samples"] = first != nullptr ? first->samples_total : 0;
    json["samples_beyond"] = first != nullptr ? first->samples_beyond : 0;
    json["egress_bytes"] = total_egress(peers);
    json["exit"] = static_cast<int>(exit_status());
    json["interrupted"] = interrupted;
    json["stopped_at"] = or_null(stopped_at());
    json["asked_by"] = asked_by();
    std::set<std::string> lost;
    for (const PeerResult& peer : peers)
        lost.insert(peer.lost_peers.begin(), peer.lost_peers.end());
    json["lost_peers"] = lost;
    json["lost_shards"] = lost_shards_json(lost_shards());
    json["left_peers"] = left_peers_json(left_peers());
    json["seen"] = first != nullptr ? seen_json(first->seen, first->samples_total) : nullptr;
    json["bottleneck"] = bottleneck_json(bottleneck);
    json["peers"] = ordered_json::array();
    for (const PeerResult& peer : peers) {
        ordered_json& entry = json["peers"].emplace_back();
        entry = {{"name", peer.name},
                 {"role", peer.role == Role::server ? "server" : "worker"},
                 {"restarts", peer.restarts},
                 {"rounds", peer.rounds},
                 {"samples", peer.samples},
                 {"losses_not_finite", peer.losses_not_finite},
                 {"egress_bytes", peer.egress_bytes},
                 {"ingress_bytes", peer.ingress_bytes},
                 {"digest", peer.digest},
                 {"lost_peers", peer.lost_peers},
                 {"exit", peer.exit},
                 {"why", peer.why},
                 {"egress_mbit", or_null(peer.egress_mbit)}};
        add_figures(entry, peer.figures);
    }
    json["others"] = ordered_json::array();
    for (const OtherPeer& other : others)
        json["others"].push_back({{"name", other.name},
                                  {"standing", word(other.standing)},
                                  {"standing_s", other.standing_s},
                                  {"why", other.why},
                                  {"rounds", other.rounds},
                                  {"samples", other.samples}});
    // A folder's name need not be UTF-8.
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string Summary::text(const std::string& folder) const {
    const PeerResult* first = finisher();
    std::string text;
    if (const auto at = stopped_at())
        text = stopped_early_text(*at, interrupted ? "interrupted" : asked_text(asked_by())) + "\n";
    text += fmt::format("time: {:.1f} s", seconds);
    if (first != nullptr)
        text += fmt::format(", of it {:.2f} s for the final exchange", finish_seconds());
    const std::string waiting = longest_waiter() ? waiting_text(*longest_waiter()) : "";
    if (!waiting.empty()) text += (first != nullptr ? " and " : ", of it ") + waiting;
    text += "\n";
    if (first != nullptr && first->accuracy)
        text += fmt::format("test accuracy: {:.2f} %\n", *first->accuracy * 100);
    text += fmt::format("bytes sent: {}", bytes_text(static_cast<double>(total_egress(peers))));
    if (peers.size() > 1) text += fmt::format(" by {} peers", peers.size());
    text += "\n";
    if (bottleneck.kind != Bottleneck::Kind::unknown)
        text += fmt::format("bottleneck: {}\n", bottleneck.text());
    for (const PeerResult& peer : peers) {
        if (peer.restarts > 0)
            text +=
                fmt::format("{} died and was started again {}\n", peer.name,
                            peer.restarts == 1 ? "once" : fmt::format("{} times", peer.restarts));
        const bool as_usual = peer.agreed || peer.exit == exit_left;  // which is told below
        if (!as_usual || peer.exit == exit_not_written || peer.exit == exit_not_learned)
            text += fmt::format("{}: {}\n", peer.name, how_it_ended(peer));
        if (const std::string losses = losses_text(peer); !losses.empty())
            text += fmt::format("{}: {}\n", peer.name, losses);
    }
    if (first != nullptr && first->samples_beyond > 0) text += beyond_budget_text(*first) + "\n";
    for (const LostShard& shard : lost_shards()) text += lost_shard_text(shard) + "\n";
    for (const LeftPeer& left : left_peers()) text += left_peer_text(left) + "\n";
    if (first != nullptr && first->seen)
        text += seen_text(*first->seen, first->samples_total) + "\n";
    if (const std::string uneven = first != nullptr ? uneven_shards_text(first->shards) : "";
        !uneven.empty())
        text += uneven + "\n";
    const bool trained = std::any_of(peers.begin(), peers.end(),
                                     [](const PeerResult& peer) { return peer.rounds > 0; });
    if (first == nullptr)
        text += trained ? "replicas identical: no (no agreement was reached)\n"
                        : "no model: no peer made a round\n";
    else if (alone)
        text += "every peer trained alone (exchange.mode: local): no replicas to compare\n";
    else if (replicas_identical())
        text += identical_text(first->digest, finished_with()) + "\n";
    else
        for (const PeerResult& peer : peers) text += differs_text(peer.name, peer.digest) + "\n";
    return text + fmt::format("results: {}\n", folder);
}

PeerResult result_of_line(const MetricsLine& last) {
    PeerResult result;
    result.rounds = last.round;
    result.samples = last.samples;
    result.losses_not_finite = last.losses_not_finite;
    result.egress_bytes = last.egress_bytes;
    result.ingress_bytes = last.ingress_bytes;
    return result;
}

Summary summary_of_one(const std::string& run, bool alone, const PeerResult& result,
                       const MetricsLine& last) {
    Summary summary;
    summary.run = run;
    summary.seen_by = result.name;
    summary.seconds = result.seconds;
    summary.interrupted = result.ending == Ending::interrupted;
    summary.alone = alone;
    summary.peers = {result};
    if (alone) return summary;  // who exchanges nothing hears of nobody
    for (const LinkLine& link : last.links)
        summary.others.push_back({link.peer, standing_of(link), last.time - link.since, link.why,
                                  link.round, link.samples});
    return summary;
}

}  // namespace ako
