// See strategies.h. "Oracle" is the publication named there, and so are its symbols: alpha is the
// latency of a message, beta the seconds of a byte.
#include "src/predict/strategies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "ako/assert.h"
#include "src/predict/strategy_costs.h"

namespace ako {

namespace {

/// A pass of a layer of which a machine has so much of the samples, and of these so much along
/// another.
double seconds_of(const PassTime& pass, double samples, Along along, double share) {
    if (pass.whole_s <= 0) return 0;
    return pass.of(Along::samples, samples) * pass.of(along, share) / pass.whole_s;
}

/// What the machines of one group do, of whom each has a part of every sample of the group.
class Group {
  public:
    /// `samples`: the group's share of the batch; `input`: what a machine needs of each sample.
    Group(const DividedNetwork& network, StrategyAnswer& answer, double samples, double input = 1)
        : network_(network), answer_(answer), samples_(samples) {
        activations_ = network_.input_bytes(0) * samples_ * input;
        answer_.input_s = activations_ * network_.system().input_s_per_byte;
    }

    void compute(std::size_t layer, Along along, double share) {
        const StrategyLayer& of = network_.layers()[layer];
        answer_.compute_s += seconds_of(of.forward, samples_, along, share) +
                             seconds_of(of.backward, samples_, along, share);
    }
    void forward(const Traffic& traffic) {
        answer_.forward_s += traffic.seconds;
        answer_.sent_bytes += traffic.bytes;
    }
    void backward(const Traffic& traffic) {
        answer_.backward_s += traffic.seconds;
        answer_.sent_bytes += traffic.bytes;
    }
    /// Bytes of a whole batch, of which a machine keeps a share.
    void keep(double bytes, double share) { activations_ += bytes * samples_ * share; }
    void keep_parameters(double bytes, double share) {
        parameters_ += bytes * share;
        answer_.update_s += bytes * share * network_.system().update_s_per_byte;
    }
    double of_group(double bytes) const { return bytes * samples_; }
    double parameters() const { return parameters_; }
    void end() { answer_.memory_bytes = network_.memory_of(parameters_, activations_); }

  private:
    const DividedNetwork& network_;
    StrategyAnswer& answer_;
    const double samples_;
    double activations_ = 0, parameters_ = 0;
};

void gradient(StrategyAnswer& answer, const Traffic& traffic) {
    answer.gradient_s += traffic.seconds;
    answer.sent_bytes += traffic.bytes;
}

StrategyAnswer finished(StrategyAnswer answer, const StrategyQuestion& question) {
    const double memory = question.system.memory_bytes;
    answer.possible = answer.possible && question.machines <= answer.machines_max &&
                      (memory <= 0 || answer.memory_bytes <= memory);
    answer.projected = answer.strategy != Strategy::data;
    const double work = answer.compute_s + answer.update_s + answer.communication_s();
    answer.step_s = std::max(work, answer.input_s);  // the next batch is made ready beside
    return answer;
}

/// Oracle, spatial: a layer's computing / p, for each layer of windows 2 alpha + B halo beta there
/// and back, and then the rows are gathered. Here what is gathered goes through the rest of the
/// network on every machine as a whole, and the first layer's halo is read from the data.
void spatial_group(const DividedNetwork& network, std::size_t machines, Group& group) {
    for (std::size_t l = 0; l < network.tail(); ++l) {
        const StrategyLayer& layer = network.layers()[l];
        const double share = share_of(layer.output.height, machines);
        group.compute(l, Along::rows, share);
        group.keep(network.output_bytes(l), share);
        const Halo halo = halo_of(layer, machines);
        if (l == 0 || halo.rows == 0) continue;
        const double row = group.of_group(network.row_bytes(l));
        Traffic there = messages(network.system(), static_cast<double>(halo.messages),
                                 row * static_cast<double>(halo.rows));
        there.bytes = row * static_cast<double>(halo.both_ways) / 2;
        group.forward(there);
        group.backward(there);
    }
    if (network.tail() < network.size() && machines > 1) {
        const std::size_t height = network.layers()[network.tail()].input.height;
        const double padded = network.input_bytes(network.tail()) * share_of(height, machines) *
                              static_cast<double>(machines);
        group.forward(all_gather(network.system(), machines, group.of_group(padded)));
        group.keep(network.input_bytes(network.tail()), 1);
    }
    for (std::size_t l = network.tail(); l < network.size(); ++l) {
        group.compute(l, Along::rows, 1);
        group.keep(network.output_bytes(l), 1);
    }
    group.keep_parameters(network.parameter_bytes(0, network.size()), 1);
}

/// Oracle, filter: a layer's computing and update / p; between two layers all-gather forward and
/// all-reduce backward, 3 (p - 1) (alpha + B |y| beta / p) in all. Here exchanged is what goes into
/// a layer that mixes, after pools made it smaller, and the scores are gathered for the loss.
void filter_group(const DividedNetwork& network, std::size_t machines, Group& group) {
    double share = 1;    // of the channels between layers
    double padding = 1;  // equal parts, of which some are not full
    bool first = true;
    for (std::size_t l = 0; l < network.size(); ++l) {
        const StrategyLayer& layer = network.layers()[l];
        if (layer.mixes) {
            if (!first && machines > 1) {
                const double bytes = group.of_group(network.input_bytes(l));
                group.forward(all_gather(network.system(), machines, bytes * padding));
                group.backward(all_reduce(network.system(), machines, bytes));
                group.keep(network.input_bytes(l), 1);
            }
            first = false;
            share = share_of(layer.output.channels, machines);
            padding = share * static_cast<double>(machines);
        }
        group.compute(l, Along::filters, share);
        group.keep(network.output_bytes(l), share);
        group.keep_parameters(network.parameter_bytes(l, l + 1), share);
    }
    const double scores = group.of_group(network.output_bytes(network.size() - 1));
    group.forward(all_gather(network.system(), machines, scores * padding));
}

/// Oracle, channel: as filter, but that all-reduce is forward and all-gather backward, of |y|. Here
/// the first layer that mixes is divided by output channels: its input is the data, of which every
/// machine has all, so that nothing is exchanged; and of the scores all know the gradient.
void channel_group(const DividedNetwork& network, std::size_t machines, Group& group) {
    double share = 1;  // of the channels between layers
    bool first = true;
    for (std::size_t l = 0; l < network.size(); ++l) {
        const StrategyLayer& layer = network.layers()[l];
        if (!layer.mixes || first) {
            if (layer.mixes) share = share_of(layer.output.channels, machines);
            group.compute(l, Along::filters, share);
            group.keep_parameters(network.parameter_bytes(l, l + 1), share);
            group.keep(network.output_bytes(l), share);
            first = first && !layer.mixes;
            continue;
        }
        const bool last = l == network.last_that_mixes();
        const double bytes = group.of_group(network.output_bytes(l));
        group.compute(l, Along::channels, share);
        group.keep_parameters(network.parameter_bytes(l, l + 1), share);
        group.forward(all_reduce(network.system(), machines, bytes));
        share = last ? 1 : share_of(layer.output.channels, machines);
        group.keep(network.output_bytes(l), share);
        if (last || machines == 1) continue;
        group.keep(network.output_bytes(l), 1);
        const double padded = bytes * share * static_cast<double>(machines);
        group.backward(all_gather(network.system(), machines, padded));
    }
}

/// `make` with the group that was asked for, or the best.
StrategyAnswer of_groups(const StrategyQuestion& question,
                         StrategyAnswer (*make)(const StrategyQuestion&, std::size_t)) {
    const std::size_t machines = question.machines;
    if (question.group > 0) {
        AKO_ASSERT(machines % question.group == 0, "groups of unlike size");
        return make(question, question.group);
    }
    StrategyAnswer best = make(question, machines);  // one group: where no other is
    bool found = false;
    for (std::size_t group = 2; group < machines; ++group) {
        if (machines % group != 0) continue;
        StrategyAnswer answer = make(question, group);
        const bool better =
            answer.possible == best.possible ? answer.step_s < best.step_s : answer.possible;
        if (!found || better) best = std::move(answer);
        found = true;
    }
    return best;
}

/// `limit`: machines that a group may have, `why` in words.
StrategyAnswer hybrid(const StrategyQuestion& question, Strategy strategy, std::size_t group_size,
                      std::size_t limit, const std::string& why) {
    StrategyAnswer answer;
    answer.strategy = strategy;
    answer.group = group_size;
    answer.machines_max = limit * question.batch;
    answer.machines_max_why = "a sample for each group, and within a group " + why;
    answer.possible = group_size <= limit && question.machines / group_size <= question.batch;
    return answer;
}

/// Oracle, data+filter: filter in each group with B / p1 samples, and then
/// 2 (p1 - 1) (alpha + |w| beta / p) among those that have the same filters.
StrategyAnswer data_filter_of(const StrategyQuestion& question, std::size_t group_size) {
    const DividedNetwork network(question);
    StrategyAnswer answer =
        hybrid(question, Strategy::data_filter, group_size, network.least_channels(network.size()),
               "an output channel of each layer for each machine");
    const std::size_t groups = question.machines / group_size;
    Group group(network, answer, share_of(question.batch, groups));
    filter_group(network, group_size, group);
    group.end();
    gradient(answer, all_reduce(network.system(), groups, group.parameters()));
    return finished(std::move(answer), question);
}

/// Oracle, data+spatial: spatial in each group with B / p1 samples, and the gradient exchanged by
/// all. Here those of a group have the same gradient of what follows the rows, so that it goes from
/// group to group only.
StrategyAnswer data_spatial_of(const StrategyQuestion& question, std::size_t group_size) {
    const DividedNetwork network(question);
    StrategyAnswer answer = hybrid(question, Strategy::data_spatial, group_size,
                                   network.least_rows(), "a row of each layer for each machine");
    const std::size_t groups = question.machines / group_size;
    Group group(network, answer, share_of(question.batch, groups),
                share_of(network.layers().front().input.height, group_size));
    spatial_group(network, group_size, group);
    group.end();
    const double windows = network.parameter_bytes(0, network.tail());
    const double rest = network.parameter_bytes(network.tail(), network.size());
    if (windows > 0) gradient(answer, all_reduce(network.system(), question.machines, windows));
    if (rest > 0) gradient(answer, all_reduce(network.system(), groups, rest));
    return finished(std::move(answer), question);
}

/// Each stage of a pipeline: the layers [first, end).
struct Stage {
    std::size_t first = 0, end = 0;
};

std::vector<Stage> stages_from(const std::vector<std::size_t>& firsts, std::size_t layers) {
    std::vector<Stage> stages;
    for (std::size_t s = 0; s < firsts.size(); ++s)
        stages.push_back({firsts[s], s + 1 < firsts.size() ? firsts[s + 1] : layers});
    return stages;
}

/// What stands in the way of a pipeline: its slowest station, and what all its links take.
struct Hindrance {
    double slowest_s = 0, links_s = 0;

    bool operator<(const Hindrance& other) const {
        return std::tie(slowest_s, links_s) < std::tie(other.slowest_s, other.links_s);
    }
};

/// Consecutive layers for each machine so that the slowest station, stage or link, takes as little
/// time as it can for a batch; of those that are alike in this, with the least on the links. Every
/// stage has a layer while there are any.
std::vector<Stage> stages_of(const DividedNetwork& network, std::size_t machines) {
    const std::size_t count = network.size(), stages = std::min(machines, count);
    std::vector<double> before(count + 1, 0);  // [l] seconds of the layers before l
    for (std::size_t l = 0; l < count; ++l)
        before[l + 1] =
            before[l] + network.layers()[l].forward.whole_s + network.layers()[l].backward.whole_s;
    const double never = std::numeric_limits<double>::infinity();
    // best[s][end]: of the layers before `end` in s + 1 stages; began[s][end]: the last one's first
    std::vector<std::vector<Hindrance>> best(stages,
                                             std::vector<Hindrance>(count + 1, {never, never}));
    std::vector<std::vector<std::size_t>> began(stages, std::vector<std::size_t>(count + 1, 0));
    for (std::size_t end = 1; end <= count; ++end) best[0][end] = {before[end], 0};
    for (std::size_t s = 1; s < stages; ++s)
        for (std::size_t end = s + 1; end <= count; ++end)
            for (std::size_t first = s; first < end; ++first) {
                const Hindrance& earlier = best[s - 1][first];
                const double link = 2 * network.link_s(network.handed_on_bytes(first));
                const Hindrance with{
                    std::max({earlier.slowest_s, link, before[end] - before[first]}),
                    earlier.links_s + link};
                if (with < best[s][end]) {
                    best[s][end] = with;
                    began[s][end] = first;
                }
            }
    std::vector<Stage> found(stages);
    for (std::size_t s = stages, end = count; s-- > 0; end = began[s][end])
        found[s] = {began[s][end], end};
    return found;
}

/// One pass over a pipeline of `segments` that are alike: the first goes through every station, and
/// each of the others comes out one period of the slowest station later.
double pass_over(const std::vector<double>& stations, std::size_t segments) {
    double all = 0, slowest = 0;
    for (const double station : stations) {
        all += station;
        slowest = std::max(slowest, station);
    }
    return all + static_cast<double>(segments - 1) * slowest;
}

/// The stations of a pass: stages, and with `links` what carries a segment from one to the next.
struct Pipeline {
    const DividedNetwork& network;
    std::vector<Stage> stages;
    double segment = 1;  ///< share of the batch

    std::vector<double> stations(PassTime StrategyLayer::*pass, bool links) const {
        const StrategySystem& system = network.system();
        std::vector<double> all;
        for (std::size_t s = 0; s < stages.size(); ++s) {
            double seconds = 0;
            for (std::size_t l = stages[s].first; l < stages[s].end; ++l)
                seconds += (network.layers()[l].*pass).of(Along::samples, segment);
            if (links && s > 0) seconds += held_up(s, system.take_s_per_byte);
            if (links && s + 1 < stages.size()) seconds += held_up(s + 1, system.send_s_per_byte);
            all.push_back(seconds);
            if (links && s + 1 < stages.size()) all.push_back(carried(s + 1));
        }
        return all;
    }
    /// Of a segment on its way into stage `s`.
    double bytes(std::size_t s) const { return network.handed_on_bytes(stages[s].first) * segment; }

  private:
    double held_up(std::size_t s, double s_per_byte) const {
        return network.system().call_s / 2 + bytes(s) * s_per_byte;
    }
    double carried(std::size_t s) const {
        return network.system().latency_s + network.link_s(bytes(s));
    }
};

}  // namespace

double PassTime::of(Along along, double share) const {
    PartTime above{1, whole_s};
    for (const PartTime& below : parts[static_cast<std::size_t>(along)]) {
        if (share >= below.share) {
            const double rise = (above.seconds - below.seconds) / (above.share - below.share);
            return std::min(whole_s, below.seconds + rise * (share - below.share));
        }
        above = below;
    }
    if (above.share >= 1) return whole_s * share;
    const double rise = (whole_s - above.seconds) / (1 - above.share);
    const double fixed = std::clamp(above.seconds - rise * above.share, 0.0, above.seconds);
    return std::min(whole_s, fixed + (above.seconds - fixed) * share / above.share);
}

/// Oracle, data: computing / p, the update as a whole, 2 (p - 1) (alpha + |w| beta / p).
StrategyAnswer data_parallel(const StrategyQuestion& question) {
    const DividedNetwork network(question);
    StrategyAnswer answer;
    answer.strategy = Strategy::data;
    answer.machines_max = question.batch;
    answer.machines_max_why = "a sample for each machine";
    Group group(network, answer, share_of(question.batch, question.machines));
    for (std::size_t l = 0; l < network.size(); ++l) {
        group.compute(l, Along::samples, 1);
        group.keep(network.output_bytes(l), 1);
    }
    group.keep_parameters(network.parameter_bytes(0, network.size()), 1);
    group.end();
    gradient(answer, all_reduce(network.system(), question.machines, group.parameters()));
    return finished(std::move(answer), question);
}

StrategyAnswer spatial_parallel(const StrategyQuestion& question) {
    const DividedNetwork network(question);
    StrategyAnswer answer = data_spatial_of(question, question.machines);
    answer.strategy = Strategy::spatial;
    answer.machines_max = network.least_rows();
    answer.machines_max_why = "a row of each layer for each machine";
    return finished(std::move(answer), question);
}

StrategyAnswer filter_parallel(const StrategyQuestion& question) {
    const DividedNetwork network(question);
    StrategyAnswer answer = data_filter_of(question, question.machines);
    answer.strategy = Strategy::filter;
    answer.machines_max = network.least_channels(network.size());
    answer.machines_max_why = "an output channel of each layer for each machine";
    return finished(std::move(answer), question);
}

StrategyAnswer channel_parallel(const StrategyQuestion& question) {
    const DividedNetwork network(question);
    StrategyAnswer answer;
    answer.strategy = Strategy::channel;
    answer.group = question.machines;
    answer.machines_max = network.least_channels(network.last_that_mixes());
    answer.machines_max_why = "an input channel of each layer but the first for each machine";
    Group group(network, answer, 1);
    channel_group(network, question.machines, group);
    group.end();
    return finished(std::move(answer), question);
}

/// Oracle, pipeline: (p + S - 1) / S of the longest stage's passes, the longest update, and
/// 2 (p + S - 2) (alpha + B / S |y| beta) of the largest |y| between stages. Here each stage and
/// each link has its own time, and links carry while stages compute; where all are alike and links
/// take no time it is the same.
StrategyAnswer pipeline_parallel(const StrategyQuestion& question) {
    const DividedNetwork network(question);
    AKO_ASSERT(question.stages.empty() || question.stages.size() == question.machines,
               "stages without a machine, or machines without a stage");
    StrategyAnswer answer;
    answer.strategy = Strategy::pipeline;
    answer.group = question.machines;
    answer.machines_max = network.size();
    answer.machines_max_why = "a layer for each machine";
    // One machine has no use for segments.
    const std::size_t segments =
        question.machines == 1 ? 1 : std::min(question.segments, question.batch);
    const Pipeline line{network,
                        question.stages.empty() ? stages_of(network, question.machines)
                                                : stages_from(question.stages, network.size()),
                        share_of(question.batch, segments)};
    const auto pass = [&](PassTime StrategyLayer::*of, bool links) {
        return pass_over(line.stations(of, links), segments);
    };
    const double forward = pass(&StrategyLayer::forward, false);
    const double backward = pass(&StrategyLayer::backward, false);
    answer.compute_s = forward + backward;
    answer.forward_s = pass(&StrategyLayer::forward, true) - forward;
    answer.backward_s = pass(&StrategyLayer::backward, true) - backward;
    for (std::size_t s = 0; s < line.stages.size(); ++s) {
        const Stage& stage = line.stages[s];
        answer.stages.push_back(stage.first);
        const double parameters = network.parameter_bytes(stage.first, stage.end);
        double activations = network.handed_on_bytes(stage.first);
        for (std::size_t l = stage.first; l < stage.end; ++l)
            activations += network.output_bytes(l);
        const double sent =
            static_cast<double>(segments) *
            ((s > 0 ? line.bytes(s) : 0) + (s + 1 < line.stages.size() ? line.bytes(s + 1) : 0));
        answer.update_s = std::max(answer.update_s, parameters * question.system.update_s_per_byte);
        answer.memory_bytes =
            std::max(answer.memory_bytes, network.memory_of(parameters, activations));
        answer.sent_bytes = std::max(answer.sent_bytes, sent);
    }
    answer.input_s = network.input_bytes(0) * question.system.input_s_per_byte;
    return finished(std::move(answer), question);
}

StrategyAnswer data_filter_parallel(const StrategyQuestion& question) {
    return of_groups(question, data_filter_of);
}

StrategyAnswer data_spatial_parallel(const StrategyQuestion& question) {
    return of_groups(question, data_spatial_of);
}

}  // namespace ako
