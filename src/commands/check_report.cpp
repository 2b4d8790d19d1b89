#include "src/commands/check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "ako/mode_table.h"
#include "ako/transport.h"
#include "models/catalog.h"
#include "src/config/fields.h"
#include "src/native_peer/training_data.h"
#include "src/numbers/answer_time.h"
#include "src/numbers/batch_plan.h"
#include "src/reporting/warnings.h"
#include "src/results/number_text.h"
#include "src/training/checkpoint_pace.h"

namespace ako {

namespace {

constexpr double bits_per_byte = 8;
constexpr double mega = 1e6;
constexpr double infinite = std::numeric_limits<double>::infinity();

std::string line(const std::string& name, const std::string& value) {
    return fmt::format("#   {:<34} {}\n", name, value);
}

/// What the peers of one kind send in one round or sync, and who they are or to whom. `beside`
/// peers that send more for what they do besides.
std::string sent_text(const SentBytes& sent, bool beside, std::size_t others) {
    const std::string bytes = bytes_text(sent.bytes);
    switch (sent.way) {
        case SentBytes::Way::to_all:
            return fmt::format("{} ({} to each of {} others)", bytes,
                               bytes_text(sent.bytes / static_cast<double>(others)), others);
        case SentBytes::Way::to_successor:
            return bytes + " to its successor";
        case SentBytes::Way::to_partners:
            return bytes + (beside ? " (the others)" : " to its partners");
        case SentBytes::Way::of_surplus:
            return bytes + " (a surplus peer)";
        case SentBytes::Way::of_partner:
            return bytes + " (the partner of a surplus peer)";
        case SentBytes::Way::of_worker:
            return bytes + (beside ? " (the others)" : " (a worker)");
        case SentBytes::Way::of_server:
            return bytes + " (a server)";
        case SentBytes::Way::of_both:
            return bytes + (beside ? " (a server as well)" : " (pushes and answers)");
    }
    return "";
}

/// What one peer sends in one round.
std::string sent_text(const ModeCosts& costs, std::size_t peer_count) {
    if (costs.sent.empty() || peer_count == 1) return "nothing";
    const SentBytes& first = costs.sent.front();
    const bool beside = costs.sent.size() > 1 && (first.way == SentBytes::Way::of_both ||
                                                  first.way == SentBytes::Way::of_partner);
    std::string text;
    for (const SentBytes& sent : costs.sent)
        text += (text.empty() ? "" : ", ") + sent_text(sent, beside, peer_count - 1);
    if (first.at_most) text = "as much as the links take, at most " + text;
    if (first.rounds == 1) return text;
    return fmt::format("{}: {} every {} rounds", bytes_text(first.per_round()), text, first.rounds);
}

/// The share of these bytes that goes over the link with the most of them.
double largest_share(const SentBytes& sent, const ModeSettings& mode) {
    const auto servers = static_cast<double>(mode.servers().size());
    const auto workers = static_cast<double>(mode.workers().size());
    switch (sent.way) {
        case SentBytes::Way::to_all:
            return 1 / static_cast<double>(mode.peer_count() - 1);
        case SentBytes::Way::to_successor:
            return 1;
        case SentBytes::Way::to_partners:
        case SentBytes::Way::of_surplus:
        case SentBytes::Way::of_partner:
            return sent.link_share;
        case SentBytes::Way::of_worker:
            return 1 / servers;
        case SentBytes::Way::of_server:
            return 1 / workers;
        case SentBytes::Way::of_both:
            // A server's part goes to each other worker, and to each other server one is pushed.
            return (servers > 1 ? 2 : 1) / (servers + workers - 2);
    }
    return 1;
}

/// What the peer and the link with the most carry in a round.
struct Load {
    double peer_bytes = 0;
    double link_bytes = 0;
};

Load heaviest(const ModeCosts& costs, const ModeSettings& mode) {
    Load load;
    for (const SentBytes& sent : costs.sent) {
        load.peer_bytes = std::max(load.peer_bytes, sent.per_round());
        load.link_bytes = std::max(load.link_bytes, sent.per_round() * largest_share(sent, mode));
    }
    return load;
}

double mbit_of(double bytes) { return bytes * bits_per_byte / mega; }

std::string limit_text(const RateLimit& limit) {
    return fmt::format("{:.3g} Mbit/s ({})", limit.mbit, limit.where);
}

/// What the limits of the file let through, and at which of them it ends.
std::string limited_rounds(const Settings& settings, const ModeCosts& costs, const Load& load) {
    if (costs.sent.front().at_most && costs.row) {
        const auto link = slowest_link(settings, settings.peers.size() - 1);
        if (!link) return "";
        const auto row = static_cast<double>(costs.row->element_count() * sizeof(float));
        return line("all parameters over one link in",
                    fmt::format("{:.2g} s at {}", mbit_of(row) / link->mbit, limit_text(*link)));
    }
    const auto link = slowest_link(settings, 0);
    const std::optional<double>& egress = settings.exchange.egress_mbit_max;
    const double by_link = link ? link->mbit / mbit_of(load.link_bytes) : infinite;
    const double by_peer = egress ? *egress / mbit_of(load.peer_bytes) : infinite;
    if (by_link == infinite && by_peer == infinite) return "";
    const RateLimit first =
        by_peer < by_link ? RateLimit{*egress, "exchange.egress_mbit_max"} : *link;
    // With so many partitions a round of Ako does not wait for the links: the cycle only takes
    // more.
    return line(costs.row ? "P as set, up to" : "at most",
                fmt::format("{:.2g} rounds per second at {}", std::min(by_link, by_peer),
                            limit_text(first)));
}

}  // namespace

std::optional<RateLimit> slowest_link(const Settings& settings, std::size_t links) {
    const ExchangeSettings& exchange = settings.exchange;
    std::optional<RateLimit> slowest;
    const auto take = [&](double mbit, const std::string& where) {
        if (!slowest || mbit < slowest->mbit) slowest = RateLimit{mbit, where};
    };
    if (exchange.link_mbit) take(*exchange.link_mbit, "exchange.link_mbit");
    for (const LinkLimit& limit : exchange.link_limits)
        take(limit.mbit, fmt::format("the link from {} to {}", settings.peers[limit.from].name,
                                     settings.peers[limit.to].name));
    if (exchange.egress_mbit_max && links > 0)
        take(*exchange.egress_mbit_max / static_cast<double>(links),
             fmt::format("exchange.egress_mbit_max, shared by {} links", links));
    return slowest;
}

namespace {

std::string samples_text(const Settings& settings, std::uint64_t samples, std::size_t workers) {
    if (settings.data.sharding == Sharding::shuffled)
        return fmt::format("{}, all in an order of its own", grouped(samples));
    if (settings.data.sharding == Sharding::own) {
        std::vector<std::string> each;
        for (const PeerSettings& peer : settings.peers)
            if (peer.samples > 0) each.push_back(grouped(peer.samples));
        return fmt::format("its own: {}", fmt::join(each, ", "));
    }
    if (!shards_follow(settings))
        return fmt::format("{}, a shard of its own", grouped(samples / workers));
    const std::size_t portions =
        portions_of(samples, BatchPlan(settings.training, settings.peers.size()).share_min(),
                    settings.peers.size());
    return fmt::format("of all {}, in {} portions a pass", grouped(samples), portions);
}

/// What is told of a batch that all peers have together.
std::string global_batch_lines(const Settings& settings, const BatchPlan& plan,
                               std::size_t workers) {
    const BatchSettings& batch = settings.training.batch;
    const std::size_t first = plan.global(0, 0), share = plan.share(first, 0, workers);
    const std::size_t at_once = samples_at_once(batch);
    std::string text = line("a round of all peers",
                            fmt::format("{} samples, in parts of {} or fewer", grouped(first),
                                        grouped(std::min(at_once, share))));
    if (batch.schedule.kind == BatchScheduleKind::steps)
        text += line("which grow", fmt::format("to {} by the end", grouped(plan.global(1, 0))));
    if (plan.grows_by_noise())
        text += line("which grow", fmt::format("as the noise of gradients allows, to {} at most",
                                               grouped(plan.global(1, BatchPlan::doublings_max))));
    return text + line("learning rate",
                       fmt::format("{:g} times {:.3g} (rate_rule: {}; it is for {} samples)",
                                   settings.training.learning_rate, plan.rate_factor(0, 0),
                                   written_value(settings, "training.batch.rate_rule"),
                                   grouped(batch.local * workers)));
}

std::string learners_line(const Settings& settings) {
    const TrainingSettings& training = settings.training;
    if (!has_learners(training, settings.exchange)) return "";
    if (training.learners == 0)
        return line("learners of a peer",
                    "1 at first, then as many as bring samples per second (auto)");
    return line("learners of a peer", fmt::format("{}, with {} samples each", training.learners,
                                                  grouped(training.batch.local)));
}

}  // namespace

std::string data_report(const Settings& settings, const DataCounts& counts) {
    std::string text = "#\n# data\n";
    const std::size_t workers = place_among_workers(settings, 0).count;
    if (!needs_data(settings.model.kind)) {
        text += line("samples it stands for", grouped(counts.train));
    } else {
        text += line("training samples", fmt::format("{}, and {} to test on", grouped(counts.train),
                                                     grouped(counts.test)));
        text += line("samples per peer", samples_text(settings, counts.train, workers));
    }
    const BatchPlan plan(settings.training, workers);
    const std::uint64_t rounds = plan.rounds(counts.budget);
    const std::size_t batch = plan.share(plan.global(0, 0), 0, workers);
    const std::uint64_t rounds_of_all =
        plan.local_only() ? (counts.budget + batch - 1) / batch : rounds * workers;
    text += line("rounds of all peers together",
                 fmt::format("{} ({} samples)", grouped(rounds_of_all), grouped(counts.budget)));
    const bool adapts = settings.training.learners == 0;  // to more than the first has
    text += line("rounds per peer",
                 fmt::format("{}{} of {} samples, if all are equally fast",
                             adapts ? "at most " : "", grouped(rounds), grouped(batch)));
    text += learners_line(settings);
    return plan.local_only() ? text : text + global_batch_lines(settings, plan, workers);
}

/// When an elastic ring begins, and how it goes on without some of its peers.
std::string elastic_start_report(const Settings& settings) {
    const ExchangeSettings& exchange = settings.exchange;
    const std::size_t peers = settings.peers.size();
    const std::size_t majority = peers / 2 + 1;
    const std::size_t enough = exchange.start_peers_min > 0 ? exchange.start_peers_min : majority;
    std::string text = line("training begins",
                            fmt::format("when all {} peers are there, or after {:g} s with {} "
                                        "or more",
                                        peers, exchange.start_wait_s, std::max(enough, majority)));
    text += line("who is lost or leaves",
                 "is left out: the others make the round again without it, from the same "
                 "gradients");
    text += line("with fewer than " + std::to_string(enough),
                 fmt::format("they wait for others, at most {:g} s (finish_timeout_s)",
                             exchange.finish_timeout_s));
    const bool momentum = settings.training.momentum > 0;
    return text +
           line("who comes later, or comes back",
                fmt::format("takes {} from the members, {} in parts from all of them; they compute "
                            "meanwhile, and wait for the rest",
                            momentum ? "parameters and momentum" : "the parameters",
                            momentum ? "2 M" : "M"));
}

std::string start_report(const Settings& settings) {
    const ExchangeSettings& exchange = settings.exchange;
    const std::size_t peers = settings.peers.size();
    const ModeEntry& mode = entry_of(exchange);
    if (mode.is_alone() || peers == 1) return "";
    std::string text = "#\n# start and end\n";
    if (mode.arrivals == Arrivals::into_epochs) return text + elastic_start_report(settings);
    const std::string all = fmt::format("when all {} peers are there", peers);
    if (mode.arrivals == Arrivals::nobody) {
        text +=
            line("training begins", fmt::format("{}, within {:g} s", all, exchange.start_wait_s));
        return text + line("who comes later", "cannot join in this mode");
    }
    const std::size_t majority = peers / 2 + 1;
    const std::size_t enough = exchange.start_peers_min > 0 ? exchange.start_peers_min : majority;
    text += line("training begins", exchange.start_wait_s == 0
                                        ? "at once, with whoever is there"
                                        : fmt::format("{}, or after {:g} s with {} or more", all,
                                                      exchange.start_wait_s, enough));
    text += line("who comes later, or comes back",
                 "takes all rows from the others, then trains with them");
    return text +
           line("who never comes",
                fmt::format("leaves its slot empty: {} of the file's {} peers agree at the end",
                            majority, peers));
}

std::string checkpoints_report(const Settings& settings, const ModeCosts& costs) {
    const TrainingSettings& training = settings.training;
    if (!training.keeps_checkpoints() || training.checkpoint_every == 0) return "";
    std::string text = "#\n# checkpoints\n";
    if (!training.paces_checkpoints())
        return text + line("every", fmt::format("{:g} epochs", training.checkpoint_every));
    text += line("as often as pays",
                 fmt::format("by what they take, and a fault in {:g} h (mtbf_h); at most {:g} % of "
                             "the time of training",
                             training.mtbf_h, 100 * checkpoint_share_max));
    const auto bytes = static_cast<double>(costs.checkpoint.bytes);
    const double after = least_interval(expected_cost(costs.checkpoint.bytes));
    return text + line("the first one", fmt::format("after {:.2g} to {:.2g} s, of {:.1f} MB", after,
                                                    2 * after, bytes / 1e6));
}

std::string time_outs_report(const Settings& settings) {
    const ExchangeSettings& exchange = settings.exchange;
    if (entry_of(exchange).is_alone() || settings.peers.size() == 1) return "";
    std::string text = "#\n# time-outs\n";
    text += line("a peer is lost", fmt::format("after {} ms without a byte (life_timeout_ms); it "
                                               "says something every {} ms",
                                               exchange.life_timeout_ms, exchange.heartbeat_ms));
    text += line("to connect", fmt::format("{} ms for each address",
                                           dial_timeout / std::chrono::milliseconds(1)));
    if (entry_of(exchange).arrivals != Arrivals::into_rows) {
        return text +
               line("the end", fmt::format("{:g} s (finish_timeout_s)", exchange.finish_timeout_s));
    }
    text +=
        line("an answer of a peer", fmt::format("its round trip and round as seen, and four times "
                                                "how far they vary: {} to {} ms, and {} "
                                                "before that (answer_ms in the metrics)",
                                                AnswerTime::least / std::chrono::milliseconds(1),
                                                AnswerTime::longest / std::chrono::milliseconds(1),
                                                AnswerTime::first / std::chrono::milliseconds(1)));
    text += line("the end", fmt::format("{:g} s in which nothing moves (finish_timeout_s), a "
                                        "quarter of it for the last rows",
                                        exchange.finish_timeout_s));
    return text + line("to serve or to leave",
                       fmt::format("{:g} s (leave_timeout_s), two fifths of it once finished",
                                   exchange.leave_timeout_s));
}

std::string traffic_report(const Settings& settings, const ModeCosts& costs) {
    std::string text = "#\n# what one peer sends\n";
    text += line("bytes per round", sent_text(costs, settings.peers.size()));
    if (costs.row)
        text += line("blocks of a row",
                     fmt::format("{} of {} kB", costs.row->count(),
                                 costs.row->block_elements() * sizeof(float) / 1024));
    const Load load = heaviest(costs, mode_settings(settings));
    if (load.link_bytes == 0 || settings.peers.size() == 1) return text;
    text +=
        line("one link carries",
             fmt::format("{} per round{}: {:.3g} Mbit/s at one round per second",
                         bytes_text(load.link_bytes), costs.sent.front().at_most ? " at most" : "",
                         mbit_of(load.link_bytes)));
    return text + limited_rounds(settings, costs, load);
}

}  // namespace ako
