#include "src/config/fields.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "ako/assert.h"
#include "src/config/consistency.h"
#include "src/config/field_types.h"
#include "src/config/layer_list.h"
#include "src/config/peer_list.h"

namespace ako {

// A member of Settings, reachable from a const and from a mutable one.
// NOLINTBEGIN(bugprone-macro-parentheses): a member's name takes none
#define AKO_MEMBER(member) \
    [](auto& settings) -> auto& { return settings.member; }
// NOLINTEND(bugprone-macro-parentheses)

namespace {

constexpr double a_day_s = 86'400;
/// 1 Tbit/s: more than any link there is, so anything above it is a slip of the unit.
constexpr double mbit_limit = 1e6;

void add_model(std::vector<Field>& fields) {
    const auto with = [&fields](Field field, auto applies, const char* applies_with) {
        field.applies = [=](const Settings& settings) { return applies(settings.model); };
        field.applies_with = applies_with;
        fields.push_back(std::move(field));
    };
    // A model is a list of layers unless it has a name, so the list is read first.
    const auto listed = [](const ModelSettings& model) { return model.kind == ModelKind::layers; };
    with(input_shape_field(), listed, "model.layers");
    with(layers_field(), listed, "model.input");
    const Field name = choice_field<ModelKind>("model.name", Scope::shared, AKO_MEMBER(model.kind),
                                               {{"mlp", ModelKind::mlp},
                                                {"lenet", ModelKind::lenet},
                                                {"cifar-quick", ModelKind::cifar_quick},
                                                {"resnet20", ModelKind::resnet20},
                                                {"synthetic", ModelKind::synthetic},
                                                {"external", ModelKind::external}});
    const auto named = [](const ModelSettings& model) {
        return model.kind != ModelKind::layers || (model.layers.empty() && model.input.height == 0);
    };
    with(name, named, "neither model.input nor model.layers");
    const auto synthetic = [&with](Field field) {
        with(
            std::move(field),
            [](const ModelSettings& model) { return model.kind == ModelKind::synthetic; },
            "model.name: synthetic");
    };
    synthetic(whole_field("model.parameters", Scope::shared, AKO_MEMBER(model.parameters), 1,
                          4'000'000'000));
    synthetic(number_field("model.compute_ms", Scope::shared, AKO_MEMBER(model.compute_ms),
                           {.low = 0, .high = 60'000}));
    synthetic(whole_field("model.samples", Scope::shared, AKO_MEMBER(model.samples), 1,
                          1'000'000'000'000));
    synthetic(number_field("model.noise", Scope::shared, AKO_MEMBER(model.noise),
                           {.low = 0, .high = 1e6}));
    // Not shared: Hello carries the digest of the parameters themselves.
    fields.push_back(optional_text_field("model.initial", Scope::own, AKO_MEMBER(model.initial),
                                         "a safetensors file"));
}

void add_data(std::vector<Field>& fields) {
    fields.push_back(choice_field<DataFormat>(
        "data.format", Scope::shared, AKO_MEMBER(data.format),
        {{"idx", DataFormat::idx}, {"cifar10", DataFormat::cifar10}, {"npy", DataFormat::npy}}));
    fields.push_back(optional_text_field("data.path", Scope::own, AKO_MEMBER(data.path),
                                         "the folder with the data set"));
    fields.push_back(channel_numbers_field("data.normalisation.mean", Scope::shared,
                                           AKO_MEMBER(data.mean), {.low = -1e6, .high = 1e6}));
    fields.push_back(channel_numbers_field("data.normalisation.deviation", Scope::shared,
                                           AKO_MEMBER(data.deviation),
                                           {.low = 0, .high = 1e6, .low_open = true}));
    fields.push_back(whole_field("data.augmentation.crop", Scope::shared,
                                 AKO_MEMBER(data.augmentation.crop), 0, 256));
    fields.push_back(choice_field<bool>("data.augmentation.flip", Scope::shared,
                                        AKO_MEMBER(data.augmentation.flip),
                                        {{"true", true}, {"false", false}}));
    fields.push_back(choice_field<Sharding>("data.sharding", Scope::shared,
                                            AKO_MEMBER(data.sharding),
                                            {{"disjoint", Sharding::disjoint},
                                             {"shuffled", Sharding::shuffled},
                                             {"elastic", Sharding::elastic}}));
}

void add_schedule(std::vector<Field>& fields) {
    fields.push_back(choice_field<RateScheduleKind>("training.schedule.kind", Scope::shared,
                                                    AKO_MEMBER(training.schedule.kind),
                                                    {{"constant", RateScheduleKind::constant},
                                                     {"cosine", RateScheduleKind::cosine},
                                                     {"steps", RateScheduleKind::steps}}));
    fields.push_back(number_field("training.schedule.warm_up", Scope::shared,
                                  AKO_MEMBER(training.schedule.warm_up),
                                  {.low = 0, .high = 1, .high_open = true}));
    const auto steps = [&fields](Field field) {
        field.applies = [](const Settings& settings) {
            return settings.training.schedule.kind == RateScheduleKind::steps;
        };
        field.applies_with = "training.schedule.kind: steps";
        fields.push_back(std::move(field));
    };
    steps(rising_numbers_field("training.schedule.at", Scope::shared,
                               AKO_MEMBER(training.schedule.at)));
    steps(number_field("training.schedule.factor", Scope::shared,
                       AKO_MEMBER(training.schedule.factor),
                       {.low = 0, .high = 1, .low_open = true}));
}

void add_batch(std::vector<Field>& fields) {
    const auto shared = Scope::shared;
    fields.push_back(
        whole_field("training.batch.local", shared, AKO_MEMBER(training.batch.local), 1, 65'536));
    fields.push_back(whole_field("training.batch.accumulate", Scope::own,
                                 AKO_MEMBER(training.batch.accumulate), 1, 65'536));
    fields.push_back(whole_or_word_field("training.batch.global_target", shared,
                                         AKO_MEMBER(training.batch.global_target), "none",
                                         global_batch_max));
    fields.push_back(choice_field<BatchScheduleKind>("training.batch.schedule.kind", shared,
                                                     AKO_MEMBER(training.batch.schedule.kind),
                                                     {{"constant", BatchScheduleKind::constant},
                                                      {"steps", BatchScheduleKind::steps},
                                                      {"auto", BatchScheduleKind::automatic}}));
    const auto steps = [&fields](Field field) {
        field.applies = [](const Settings& settings) {
            return settings.training.batch.schedule.kind == BatchScheduleKind::steps;
        };
        field.applies_with = "training.batch.schedule.kind: steps";
        fields.push_back(std::move(field));
    };
    steps(rising_numbers_field("training.batch.schedule.at", shared,
                               AKO_MEMBER(training.batch.schedule.at)));
    steps(whole_field("training.batch.schedule.factor", shared,
                      AKO_MEMBER(training.batch.schedule.factor), 2, 1'024));
    fields.push_back(choice_field<RateRule>(
        "training.batch.rate_rule", shared, AKO_MEMBER(training.batch.rate_rule),
        {{"linear", RateRule::linear}, {"sqrt", RateRule::sqrt}, {"none", RateRule::none}}));
}

void add_training(std::vector<Field>& fields) {
    const auto shared = Scope::shared;
    add_batch(fields);
    fields.push_back(
        choice_field<OptimizerKind>("training.optimizer", shared, AKO_MEMBER(training.optimizer),
                                    {{"sgd", OptimizerKind::sgd}, {"lars", OptimizerKind::lars}}));
    Field trust =
        number_field("training.trust_coefficient", shared, AKO_MEMBER(training.trust_coefficient),
                     {.low = 0, .high = 1, .low_open = true});
    trust.applies = [](const Settings& settings) {
        return settings.training.optimizer == OptimizerKind::lars;
    };
    trust.applies_with = "training.optimizer: lars";
    fields.push_back(std::move(trust));
    fields.push_back(number_field("training.learning_rate", shared,
                                  AKO_MEMBER(training.learning_rate),
                                  {.low = 0, .high = 100, .low_open = true}));
    add_schedule(fields);
    fields.push_back(number_field("training.momentum", shared, AKO_MEMBER(training.momentum),
                                  {.low = 0, .high = 1, .high_open = true}));
    fields.push_back(choice_field<bool>("training.nesterov", shared, AKO_MEMBER(training.nesterov),
                                        {{"true", true}, {"false", false}}));
    fields.push_back(number_field("training.weight_decay", shared,
                                  AKO_MEMBER(training.weight_decay), {.low = 0, .high = 1}));
    fields.push_back(number_field("training.epochs", shared, AKO_MEMBER(training.epochs),
                                  {.low = 0, .high = 1e6, .low_open = true}));
    fields.push_back(optional_number_field("training.target_accuracy", shared,
                                           AKO_MEMBER(training.target_accuracy),
                                           {.low = 0, .high = 1, .low_open = true}));
    fields.push_back(number_field("training.evaluate_every", shared,
                                  AKO_MEMBER(training.evaluate_every), {.low = 0, .high = 1e6}));
    fields.push_back(choice_field<EvaluateWhen>(
        "training.evaluate", Scope::own, AKO_MEMBER(training.evaluate),
        {{"during", EvaluateWhen::during}, {"after", EvaluateWhen::after}}));
    // Of marks that differ none may be everybody's.
    fields.push_back(number_field("training.checkpoint_every", Scope::lockstep,
                                  AKO_MEMBER(training.checkpoint_every), {.low = 0, .high = 1e6}));
    fields.push_back(
        whole_field("training.threads", Scope::own, AKO_MEMBER(training.threads), 1, 256));
    // Shared: what others say of their rounds is held against it.
    fields.push_back(whole_or_word_field("training.learners", shared, AKO_MEMBER(training.learners),
                                         "auto", learners_max));
    fields.push_back(number_field("training.averaging_momentum", shared,
                                  AKO_MEMBER(training.averaging_momentum),
                                  {.low = 0, .high = 1, .high_open = true}));
}

void add_rates(std::vector<Field>& fields) {
    const Bounds rate{.low = 0.01, .high = mbit_limit};
    fields.push_back(optional_number_field("exchange.egress_mbit_max", Scope::own,
                                           AKO_MEMBER(exchange.egress_mbit_max), rate));
    fields.push_back(optional_number_field("exchange.link_mbit", Scope::own,
                                           AKO_MEMBER(exchange.link_mbit), rate));
    fields.push_back(link_limits_field(rate));
}

/// `exchange.mode`, and what only one mode heeds. A file may hold the keys of all of them, so that
/// one key alone is another between two runs that are compared.
void add_modes(std::vector<Field>& fields) {
    const auto shared = Scope::shared;
    fields.push_back(choice_field<Mode>("exchange.mode", shared, AKO_MEMBER(exchange.mode),
                                        {{"ako", Mode::ako},
                                         {"ring", Mode::ring},
                                         {"parameter-server", Mode::parameter_server},
                                         {"local-sgd", Mode::local_sgd},
                                         {"sma", Mode::sma},
                                         {"local", Mode::local}}));
    fields.push_back(choice_field<Rule>("exchange.rule", shared, AKO_MEMBER(exchange.rule),
                                        {{"anchored", Rule::anchored}, {"plain", Rule::plain}}));
    fields.push_back(choice_field<Precision>(
        "exchange.precision", Scope::own, AKO_MEMBER(exchange.precision),
        {{"adaptive", Precision::adaptive}, {"float32", Precision::float32}}));
    fields.push_back(whole_or_word_field("exchange.partitions", Scope::own,
                                         AKO_MEMBER(exchange.partitions), "auto", 1'000'000));
    // Shared: a peer that is not held back would leave one that is behind for good.
    fields.push_back(whole_or_word_field("exchange.staleness_rounds_max", shared,
                                         AKO_MEMBER(exchange.staleness_rounds_max), "none",
                                         1'000'000));
    fields.push_back(choice_field<bool>("exchange.elastic", shared, AKO_MEMBER(exchange.elastic),
                                        {{"true", true}, {"false", false}}));
    fields.push_back(
        choice_field<AllReduce>("exchange.all_reduce", shared, AKO_MEMBER(exchange.all_reduce),
                                {{"ring", AllReduce::ring}, {"butterfly", AllReduce::butterfly}}));
    fields.push_back(
        whole_field("exchange.rounds_ahead", shared, AKO_MEMBER(exchange.rounds_ahead), 0, 1));
    fields.push_back(
        whole_field("exchange.servers", shared, AKO_MEMBER(exchange.server.count), 1, peers_max));
    fields.push_back(choice_field<Placement>(
        "exchange.placement", shared, AKO_MEMBER(exchange.server.placement),
        {{"co-located", Placement::co_located}, {"dedicated", Placement::dedicated}}));
    fields.push_back(consistency_field());
    fields.push_back(whole_field("exchange.local_rounds", shared,
                                 AKO_MEMBER(exchange.local_sgd.rounds), 1, 1'000'000));
    fields.push_back(number_field("exchange.outer_learning_rate", shared,
                                  AKO_MEMBER(exchange.local_sgd.outer_learning_rate),
                                  {.low = 0, .high = 100, .low_open = true}));
    fields.push_back(number_field("exchange.outer_momentum", shared,
                                  AKO_MEMBER(exchange.local_sgd.outer_momentum),
                                  {.low = 0, .high = 1, .high_open = true}));
}

void add_exchange(std::vector<Field>& fields) {
    add_modes(fields);
    add_rates(fields);
    const auto seconds = [&fields](const char* path, Scope scope, auto member) {
        fields.push_back(number_field(path, scope, member, {.low = 0, .high = a_day_s}));
    };
    const auto milliseconds = [&fields](const char* path, Scope scope, auto member) {
        fields.push_back(whole_field(path, scope, member, 1, 600'000));
    };
    seconds("exchange.start_wait_s", Scope::own, AKO_MEMBER(exchange.start_wait_s));
    fields.push_back(whole_or_word_field("exchange.start_peers_min", Scope::own,
                                         AKO_MEMBER(exchange.start_peers_min), "majority",
                                         peers_max));
    // A peer that beats more slowly than another listens would be lost to it, so these are shared.
    milliseconds("exchange.heartbeat_ms", Scope::shared, AKO_MEMBER(exchange.heartbeat_ms));
    milliseconds("exchange.life_timeout_ms", Scope::shared, AKO_MEMBER(exchange.life_timeout_ms));
    milliseconds("exchange.connect_timeout_ms", Scope::own,
                 AKO_MEMBER(exchange.connect_timeout_ms));
    fields.push_back(whole_or_word_field("exchange.want_timeout_ms", Scope::own,
                                         AKO_MEMBER(exchange.want_timeout_ms), "auto", 600'000));
    seconds("exchange.leave_timeout_s", Scope::own, AKO_MEMBER(exchange.leave_timeout_s));
    // So are these: a peer that gives up before the others propose would end without them.
    seconds("exchange.finish_exchange_s", Scope::shared, AKO_MEMBER(exchange.finish_exchange_s));
    seconds("exchange.finish_timeout_s", Scope::shared, AKO_MEMBER(exchange.finish_timeout_s));
    seconds("exchange.finish_linger_s", Scope::shared, AKO_MEMBER(exchange.finish_linger_s));
}

#undef AKO_MEMBER

std::vector<Field> make_fields() {
    std::vector<Field> fields;
    fields.push_back(run_name_field());
    fields.push_back(whole_field(
        "seed", Scope::shared, [](auto& settings) -> auto& { return settings.seed; }, 0,
        std::numeric_limits<std::int64_t>::max()));
    add_model(fields);
    add_data(fields);
    add_training(fields);
    // Before the exchange, whose link limits name peers.
    fields.push_back(peers_field());
    add_exchange(fields);
    fields.push_back(whole_field(
        "memory_mb_max", Scope::own, [](auto& settings) -> auto& { return settings.memory_mb_max; },
        1, 100'000'000));
    fields.push_back(text_field(
        "output", Scope::own, [](auto& settings) -> auto& { return settings.output; },
        "the folder for results"));
    fields.push_back(optional_text_field(
        "cluster_key_file", Scope::own,
        [](auto& settings) -> auto& { return settings.cluster_key_file; },
        "the file with the cluster's key"));
    fields.push_back(observe_address_field());
    return fields;
}

}  // namespace

const std::vector<Field>& all_fields() {
    static const std::vector<Field> fields = make_fields();
    return fields;
}

std::string written_value(const Settings& settings, const std::string& path) {
    const std::vector<Field>& fields = all_fields();
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&path](const Field& field) { return field.path == path; });
    AKO_ASSERT(found != fields.end(), path);
    return found->write(settings);
}

namespace {

std::vector<std::string> make_keys() {
    std::vector<std::string> keys;
    for (const Field& field : all_fields()) keys.push_back(field.path);
    for (const ListKey& key : list_keys()) keys.push_back(key.path);
    return keys;
}

}  // namespace

const std::vector<std::string>& known_keys() {
    static const std::vector<std::string> keys = make_keys();
    return keys;
}

bool reads_keys_below(const std::string& path) {
    return path == "model.layers" || path == "exchange.consistency";
}

}  // namespace ako
