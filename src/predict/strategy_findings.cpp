// What stops a strategy, in the kinds of the oracle (strategies.h). Its table tells limitations,
// which are inherent in a strategy, from bottlenecks, which are the system's. Here a bottleneck is
// what would not be there with links of any rate, with input that is ready, or with more memory.
#include <algorithm>

#include "src/predict/strategies.h"
#include "src/predict/strategy_costs.h"

namespace ako {

namespace {

/// What takes less of a step, or of the memory, is not worth a word.
constexpr double share_worth_a_word = 0.1;

class Findings {
  public:
    Findings(const StrategyQuestion& question, const StrategyAnswer& answer)
        : question_(question), answer_(answer) {}

    std::vector<StrategyFinding> all() {
        if (question_.machines > 1) {
            communication();
            congestion();
            computing();
            memory_redundancy();
        }
        input();
        memory_of_machine();
        number_of_elements();
        std::stable_sort(found_.begin(), found_.end(), [](const auto& one, const auto& other) {
            return one.seconds > other.seconds;
        });
        return std::move(found_);
    }

  private:
    void add(FindingKind kind, bool limitation, double seconds, const std::string& text) {
        found_.push_back({kind, limitation, seconds, text});
    }
    void add_if_long(FindingKind kind, bool limitation, double seconds, const std::string& text) {
        if (seconds > 0 && seconds >= share_worth_a_word * answer_.step_s)
            add(kind, limitation, seconds, text);
    }
    bool is(std::initializer_list<Strategy> any) const {
        return std::find(any.begin(), any.end(), answer_.strategy) != any.end();
    }

    bool too_large() const {
        const double there = question_.system.memory_bytes;
        return there > 0 && answer_.memory_bytes > there;
    }

    void communication() {
        add_if_long(FindingKind::gradient_exchange, true, answer_.gradient_s,
                    "the gradients of all parameters that several machines have are exchanged in "
                    "every step, however many machines there are");
        const double passes = answer_.forward_s + answer_.backward_s;
        if (is({Strategy::filter, Strategy::channel, Strategy::data_filter}))
            add_if_long(FindingKind::layer_wise_communication, true, passes,
                        "machines exchange what goes into or comes out of every layer that mixes "
                        "channels, and wait for it in both passes");
        else
            add_if_long(FindingKind::point_to_point, true, passes,
                        is({Strategy::pipeline})
                            ? "each stage waits for what the one before it sends"
                            : "machines give their neighbours rows, and all rows are gathered "
                              "before the layers that read them all");
    }

    /// What the rate of the links holds up: what would not be there with links without a limit.
    void congestion() {
        StrategyQuestion free = question_;
        free.system.link_bytes_per_s = 0;
        free.group = is({Strategy::data_filter, Strategy::data_spatial}) ? answer_.group : 0;
        // Else a free network may divide the layers elsewhere, and that is another plan. With more
        // machines than layers there is one division only.
        if (answer_.stages.size() == question_.machines) free.stages = answer_.stages;
        const double held_up =
            answer_.communication_s() - answer_of(free, answer_.strategy).communication_s();
        add_if_long(FindingKind::congestion, false, held_up,
                    question_.system.machines_per_link > 1
                        ? "several machines send through one link"
                        : "the links are full: at a higher rate this time is not there");
    }

    void computing() {
        StrategyQuestion one = question_;
        one.machines = 1;
        one.group = 0;
        const StrategyAnswer alone = data_parallel(one);
        const double machines = static_cast<double>(question_.machines);
        add_if_long(FindingKind::workload_balance, true,
                    answer_.compute_s - alone.compute_s / machines,
                    is({Strategy::pipeline})
                        ? "the stages are of unlike length, and wait while the first segment comes "
                          "and the last goes"
                        : "parts are of unlike size, too small to be computed as fast, or there on "
                          "every machine");
        add_if_long(FindingKind::weight_update, true, answer_.update_s - alone.update_s / machines,
                    "several machines make the same update");
        alone_bytes_ = alone.memory_bytes;
    }

    void memory_redundancy() {
        const double machines = static_cast<double>(question_.machines);
        const double more = answer_.memory_bytes - alone_bytes_ / machines;
        if (more < share_worth_a_word * answer_.memory_bytes) return;
        const bool samples = is({Strategy::data, Strategy::spatial, Strategy::data_spatial});
        if (is({Strategy::pipeline}))
            add(FindingKind::memory_redundancy, true, 0,
                "one stage holds more than its part of the network");
        else
            add(FindingKind::memory_redundancy, true, 0,
                samples ? "every machine holds all parameters"
                        : "every machine holds what goes into or comes out of a layer as a whole");
    }

    void input() {
        const double others = answer_.compute_s + answer_.update_s + answer_.communication_s();
        add_if_long(FindingKind::input, false, answer_.input_s - others,
                    "samples are not ready as fast as they are trained on");
    }

    void memory_of_machine() {
        if (too_large())
            add(FindingKind::memory_redundancy, false, 0,
                "a machine has not the memory that a step takes");
    }

    void number_of_elements() {
        const std::size_t most = answer_.machines_max;
        const std::string why = std::to_string(most) + ": " + answer_.machines_max_why;
        const auto say = [&](const std::string& text) {
            add(FindingKind::number_of_elements, true, 0, text);
        };
        if (question_.machines > most)
            say("at most " + why);
        else if (2 * question_.machines > most)
            say("twice as many are not possible, at most " + why);
        else if (!answer_.possible && !too_large())
            say("not with groups of " + std::to_string(answer_.group) + ", at most " + why);
    }

    const StrategyQuestion& question_;
    const StrategyAnswer& answer_;
    double alone_bytes_ = 0;
    std::vector<StrategyFinding> found_;
};

}  // namespace

StrategyAnswer answer_of(const StrategyQuestion& question, Strategy strategy) {
    switch (strategy) {
        case Strategy::data:
            return data_parallel(question);
        case Strategy::spatial:
            return spatial_parallel(question);
        case Strategy::filter:
            return filter_parallel(question);
        case Strategy::channel:
            return channel_parallel(question);
        case Strategy::pipeline:
            return pipeline_parallel(question);
        case Strategy::data_filter:
            return data_filter_parallel(question);
        case Strategy::data_spatial:
            break;
    }
    return data_spatial_parallel(question);
}

std::vector<StrategyFinding> findings_of(const StrategyQuestion& question,
                                         const StrategyAnswer& answer) {
    return Findings(question, answer).all();
}

std::vector<StrategyAnswer> ranked_strategies(const StrategyQuestion& question) {
    std::vector<StrategyAnswer> answers;
    for (const Strategy strategy : all_strategies) {
        answers.push_back(answer_of(question, strategy));
        answers.back().findings = findings_of(question, answers.back());
    }
    std::stable_sort(answers.begin(), answers.end(),
                     [](const StrategyAnswer& one, const StrategyAnswer& other) {
                         if (one.possible != other.possible) return one.possible;
                         return one.step_s < other.step_s;
                     });
    return answers;
}

const char* word(Strategy strategy) {
    switch (strategy) {
        case Strategy::data:
            return "data";
        case Strategy::spatial:
            return "spatial";
        case Strategy::filter:
            return "filter";
        case Strategy::channel:
            return "channel";
        case Strategy::pipeline:
            return "pipeline";
        case Strategy::data_filter:
            return "data+filter";
        case Strategy::data_spatial:
            break;
    }
    return "data+spatial";
}

const char* word(FindingKind kind) {
    switch (kind) {
        case FindingKind::gradient_exchange:
            return "gradient exchange";
        case FindingKind::layer_wise_communication:
            return "layer-wise communication";
        case FindingKind::point_to_point:
            return "point to point";
        case FindingKind::congestion:
            return "congestion";
        case FindingKind::input:
            return "input";
        case FindingKind::memory_redundancy:
            return "memory redundancy";
        case FindingKind::weight_update:
            return "weight update";
        case FindingKind::workload_balance:
            return "workload balance";
        case FindingKind::number_of_elements:
            break;
    }
    return "number of elements";
}

}  // namespace ako
