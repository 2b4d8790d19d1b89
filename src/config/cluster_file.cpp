#include "src/config/cluster_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ako/error.h"
#include "src/config/config_file.h"
#include "src/config/fields.h"
#include "src/config/overrides.h"
#include "src/config/peer_list.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// Where a complaint about `path` points to: its value, or the start of the file.
std::string place(const ConfigValue& tree, const std::string& path) {
    const ConfigValue* value = tree.at(path);
    return value != nullptr ? value->where : tree.where;
}

/// Refuses a file without the keys that have no default.
void require(const ConfigValue& tree, const Settings& settings) {
    std::vector<std::pair<std::string, std::string>> required = {
        {"run", "the run's name"},
        {"model", "the name of a network or a list of layers"},
        {"peers", "the peers"}};
    if (settings.model.kind == ModelKind::layers && settings.model.layers.empty())
        required.push_back(
            {"model.name",
             "mlp, lenet, cifar-quick, resnet20, synthetic or external, or model.input and "
             "model.layers"});
    else if (settings.model.kind == ModelKind::layers)
        required.push_back({"model.input", "[height, width, channels] of an image"});
    if (needs_data(settings.model.kind))
        required.push_back({"data.path", "the folder with the data set"});
    if (settings.training.batch.schedule.kind == BatchScheduleKind::steps)
        required.push_back(
            {"training.batch.schedule.at", "the shares of the run at which it grows"});
    if (settings.training.schedule.kind == RateScheduleKind::steps)
        required.push_back({"training.schedule.at", "the shares of the run at which it falls"});
    for (const auto& [key, expected] : required) {
        const ConfigValue* value = tree.at(key);
        if (value == nullptr || value->kind == ConfigValue::Kind::null)
            refuse(place(tree, key), key, expected, "nothing");
    }
}

/// With `evaluate: after`, what needs a verdict while training cannot be had.
void check_evaluation(const ConfigValue& tree, const TrainingSettings& training) {
    if (training.evaluate == EvaluateWhen::during) return;
    if (training.target_accuracy)
        refuse(place(tree, "training.target_accuracy"), "training.target_accuracy",
               "null with training.evaluate: after", fmt::format("{}", *training.target_accuracy),
               "nobody knows the accuracy before the end; use evaluate: during");
}

/// Learners end a round with an update, on a thread each.
void check_learners(const ConfigValue& tree, const Settings& settings) {
    const TrainingSettings& training = settings.training;
    if (training.learners == 1) return;
    const auto refuse_learners = [&](const std::string& expected, const char* why) {
        refuse(place(tree, "training.learners"), "training.learners", expected,
               written_value(settings, "training.learners"), why);
    };
    const Mode mode = settings.exchange.mode;
    if (mode == Mode::ring || mode == Mode::parameter_server)
        refuse_learners("1 with this exchange.mode",
                        "it exchanges gradients, and learners end a round with an update: use sma, "
                        "ako or local");
    if (mode == Mode::local_sgd)
        refuse_learners("1 with exchange.mode: local-sgd",
                        "its local rounds are those of one optimizer for each peer: use sma, ako "
                        "or local");
    if (training.threads > 1)
        refuse(place(tree, "training.threads"), "training.threads",
               fmt::format("1 with training.learners: {}",
                           written_value(settings, "training.learners")),
               fmt::to_string(training.threads), "each learner is a thread");
}

/// What learners, with small batches of their own, have no use for.
void check_batch_of_learners(const ConfigValue& tree, const Settings& settings) {
    const TrainingSettings& training = settings.training;
    if (!has_learners(training, settings.exchange)) return;
    const std::string with = training.learners == 1
                                 ? std::string("with exchange.mode: sma")
                                 : fmt::format("with training.learners: {}",
                                               written_value(settings, "training.learners"));
    const auto refuse_key = [&](const char* key, const char* expected, const std::string& found) {
        refuse(place(tree, key), key, fmt::format("{} {}", expected, with), found,
               "each learner has a small batch of its own, training.batch.local");
    };
    if (training.optimizer == OptimizerKind::lars) refuse_key("training.optimizer", "sgd", "lars");
    if (training.batch.global_target > 0)
        refuse_key("training.batch.global_target", "none",
                   fmt::to_string(training.batch.global_target));
    if (training.batch.schedule.kind != BatchScheduleKind::constant)
        refuse_key("training.batch.schedule.kind", "constant",
                   written_value(settings, "training.batch.schedule.kind"));
}

/// What a program that brings its model cannot have.
void check_external(const ConfigValue& tree, const Settings& settings) {
    if (settings.model.kind != ModelKind::external) return;
    const auto refuse_key = [&](const char* key, const char* expected, const std::string& found,
                                const char* why) {
        refuse(place(tree, key), key, expected, found, why);
    };
    if (has_learners(settings.training, settings.exchange)) {
        const bool by_mode = settings.exchange.mode == Mode::sma;
        refuse_key(
            by_mode ? "exchange.mode" : "training.learners",
            by_mode ? "ako, local-sgd or local with model: external" : "1 with model: external",
            by_mode ? "sma" : written_value(settings, "training.learners"),
            "learners are replicas of a network of ako's own, and the program brings its "
            "model");
    }
    const Mode mode = settings.exchange.mode;
    if (mode == Mode::ring || mode == Mode::parameter_server)
        refuse_key("exchange.mode", "ako, local-sgd or local with model: external",
                   mode == Mode::ring ? "ring" : "parameter-server",
                   "this mode exchanges gradients, and the program's own optimizer gives updates");
    if (settings.training.evaluate == EvaluateWhen::after)
        refuse_key("training.evaluate", "during with model: external", "after",
                   "only the program can evaluate its model");
    if (settings.training.checkpoint_every > 0)
        refuse_key("training.checkpoint_every", "0 with model: external",
                   fmt::format("{}", settings.training.checkpoint_every),
                   "the optimizer's state is the program's: save it there, with the anchor");
    if (!settings.model.initial.empty())
        refuse_key("model.initial", "nothing with model: external", settings.model.initial,
                   "the program brings its initial parameters");
}

/// A batch in parts, and one that all peers have together.
void check_batch(const ConfigValue& tree, const Settings& settings) {
    const BatchSettings& batch = settings.training.batch;
    const auto refuse_key = [&tree](const char* key, const std::string& expected,
                                    const std::string& found, const char* why) {
        refuse(place(tree, key), key, expected, found, why);
    };
    const bool grows = batch.schedule.kind != BatchScheduleKind::constant;
    const std::string schedule = written_value(settings, "training.batch.schedule.kind");
    if (batch.accumulate > batch.local)
        refuse_key("training.batch.accumulate", fmt::format("at most local ({})", batch.local),
                   fmt::to_string(batch.accumulate), "a part has one image or more");
    if (batch.global_target > 0 && batch.global_target < settings.peers.size())
        refuse_key("training.batch.global_target",
                   fmt::format("none or at least the {} peers of the file", settings.peers.size()),
                   fmt::to_string(batch.global_target), "a peer has one image or more");
    if (grows && settings.exchange.mode == Mode::parameter_server)
        refuse_key("training.batch.schedule.kind", "constant with exchange.mode: parameter-server",
                   schedule, "its servers make the steps, and hear of no batch that grows");
    if (settings.training.optimizer == OptimizerKind::lars &&
        settings.exchange.mode == Mode::parameter_server)
        refuse_key("training.optimizer", "sgd with exchange.mode: parameter-server", "lars",
                   "a server has pieces of layers, and their sizes are not that of the layer");
    if (settings.exchange.runs_ahead() && settings.training.optimizer == OptimizerKind::lars)
        refuse_key("training.optimizer", "sgd with exchange.rounds_ahead: 1", "lars",
                   "its steps are made bucket by bucket, and not by whole layers");
    const ModelKind model = settings.model.kind;
    if (model != ModelKind::external && model != ModelKind::synthetic) return;
    const bool external = model == ModelKind::external;
    const std::string with = external ? "with model: external" : "with model: synthetic";
    const char* const why =
        external
            ? "the program draws its batches itself, and may add up several before its step"
            : "its gradient takes as long, and has as much noise, for whatever part of a batch";
    if (batch.accumulate > 1)
        refuse_key("training.batch.accumulate", "1 " + with, fmt::to_string(batch.accumulate), why);
    if (batch.schedule.kind == BatchScheduleKind::automatic || (external && grows))
        refuse_key("training.batch.schedule.kind",
                   (external ? "constant " : "constant or steps ") + with, schedule, why);
    if (external && batch.global_target > 0)
        refuse_key("training.batch.global_target", "none " + with,
                   fmt::to_string(batch.global_target), why);
}

/// What an elastic ring has no form of.
void check_elastic(const ConfigValue& tree, const Settings& settings) {
    const ExchangeSettings& exchange = settings.exchange;
    if (!exchange.is_elastic()) return;
    const auto refuse_key = [&](const char* key, const char* expected, const char* why) {
        refuse(place(tree, key), key, std::string(expected) + " with exchange.elastic",
               written_value(settings, key), why);
    };
    if (settings.training.batch.schedule.kind == BatchScheduleKind::automatic)
        refuse_key("training.batch.schedule.kind", "constant or steps",
                   "what one member wishes does not reach a newcomer");
    if (settings.training.optimizer == OptimizerKind::lars)
        refuse_key("training.optimizer", "sgd",
                   "its steps are made bucket by bucket, and not by whole layers");
    if (exchange.all_reduce != AllReduce::ring)
        refuse_key("exchange.all_reduce", "ring",
                   "a butterfly has no form that goes on without who is lost");
    if (exchange.rounds_ahead > 0)
        refuse_key("exchange.rounds_ahead", "0",
                   "what is made again after a loss is one round, and not two");
}

/// What no field can check by itself.
void check_relations(const ConfigValue& tree, const Settings& settings) {
    check_evaluation(tree, settings.training);
    check_external(tree, settings);
    check_batch(tree, settings);
    check_learners(tree, settings);
    check_batch_of_learners(tree, settings);
    check_elastic(tree, settings);
    const ExchangeSettings& exchange = settings.exchange;
    if (exchange.life_timeout_ms <= 2 * exchange.heartbeat_ms)
        refuse(place(tree, "exchange.life_timeout_ms"), "exchange.life_timeout_ms",
               fmt::format("more than twice heartbeat_ms ({})", exchange.heartbeat_ms),
               fmt::to_string(exchange.life_timeout_ms),
               "one late heartbeat must not make a peer lost");
    if (exchange.finish_timeout_s <= exchange.finish_exchange_s)
        refuse(place(tree, "exchange.finish_timeout_s"), "exchange.finish_timeout_s",
               fmt::format("more than finish_exchange_s ({})", exchange.finish_exchange_s),
               fmt::format("{}", exchange.finish_timeout_s),
               "the agreement only begins after finish_exchange_s if a peer is slow");
    if (exchange.start_peers_min > settings.peers.size())
        refuse(place(tree, "exchange.start_peers_min"), "exchange.start_peers_min",
               fmt::format("majority or at most the {} peers of the file", settings.peers.size()),
               fmt::to_string(exchange.start_peers_min));
}

/// Where nobody waits for anybody a silent peer is soon taken for lost: it costs the others little.
/// Where all wait for each other its loss is the end of the run, so that a pause is waited for;
/// the transport names it within seconds all the same, and a peer that died is known at once by
/// its closed connection.
unsigned life_timeout_ms_default(const ExchangeSettings& exchange) {
    const bool in_step = exchange.mode == Mode::ring || exchange.mode == Mode::local_sgd ||
                         exchange.mode == Mode::sma ||
                         (exchange.mode == Mode::parameter_server && exchange.server.clock_gap_max);
    if (exchange.is_elastic()) return ExchangeSettings{}.life_timeout_ms;  // it is soon made good
    return in_step ? 30'000 : ExchangeSettings{}.life_timeout_ms;
}

/// Servers of the file, and who else there must be.
void check_roles(const ConfigValue& tree, const Settings& settings) {
    const ExchangeSettings& exchange = settings.exchange;
    const auto servers = static_cast<std::size_t>(
        std::count_if(settings.peers.begin(), settings.peers.end(),
                      [](const PeerSettings& peer) { return peer.role == Role::server; }));
    const bool dedicated = exchange.mode == Mode::parameter_server &&
                           exchange.server.placement == Placement::dedicated;
    if (servers > 0 && !dedicated)
        refuse(place(tree, "peers"), "peers", "no peer with role: server",
               fmt::format("{}", servers),
               "only exchange.mode: parameter-server with placement: dedicated has such peers");
    const bool needs_all = exchange.mode != Mode::ako && exchange.mode != Mode::local;
    if (needs_all && exchange.start_wait_s == 0 && settings.peers.size() > 1)
        refuse(place(tree, "exchange.start_wait_s"), "exchange.start_wait_s",
               "a number above 0 with this mode, which begins when all peers are there", "0");
    if (exchange.mode != Mode::parameter_server) return;
    if (dedicated && servers != exchange.server.count)
        refuse(place(tree, "exchange.servers"), "exchange.servers",
               fmt::format("as many as peers with role: server ({})", servers),
               fmt::to_string(exchange.server.count));
    if (dedicated && servers == settings.peers.size())
        refuse(place(tree, "peers"), "peers", "at least one worker", "servers only");
    if (!dedicated && exchange.server.count > settings.peers.size())
        refuse(place(tree, "exchange.servers"), "exchange.servers",
               fmt::format("at most the {} peers of the file", settings.peers.size()),
               fmt::to_string(exchange.server.count));
}

/// What the pixels of the published sets are brought to mean 0 and deviation 1 with, over all
/// training images, scaled to 0 .. 1; arrays of one's own are taken as they are.
void set_default_normalisation(DataSettings& data) {
    std::vector<double> mean{0}, deviation{1};
    if (data.format == DataFormat::idx) mean = {0.1307}, deviation = {0.3081};
    if (data.format == DataFormat::cifar10)
        mean = {0.4914, 0.4822, 0.4465}, deviation = {0.247, 0.2435, 0.2616};
    if (data.mean.empty()) data.mean = mean;
    if (data.deviation.empty()) data.deviation = deviation;
}

/// Absolute and tidy; relative to `base`, or to the working folder if set on the command line.
std::string absolute_path(const ConfigValue* value, const std::string& path, const fs::path& base) {
    if (path.empty()) return path;
    const bool from_command_line = value != nullptr && value->from_command_line;
    const fs::path start = from_command_line ? fs::current_path() : base;
    std::string text = (start / path).lexically_normal().string();
    if (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

/// Where links lead now: what runs/latest is may change before it is read, and nobody could tell
/// afterwards what it had been. As it is if there is nothing.
std::string followed(const std::string& path) {
    std::error_code error;
    const fs::path real = path.empty() ? fs::path() : fs::canonical(path, error);
    return error || real.empty() ? path : real.string();
}

void read_fields(const ConfigValue& tree, Settings& settings) {
    for (const Field& field : all_fields()) {
        const ConfigValue* value = tree.at(field.path);
        if (value == nullptr) continue;
        if (field.applies && !field.applies(settings))
            refuse(value->where, field.path, fmt::format("it only with {}", field.applies_with),
                   value->description());
        field.read(*value, settings);
        settings.places.put(field.path, value->where);
    }
    const ConfigValue* peers = tree.at("peers");
    for (std::size_t place = 0; peers != nullptr && place < peers->entries.size(); ++place) {
        const ConfigEntry& peer = peers->entries[place];
        settings.places.put(fmt::format("peers.{}", place), peer.value.where);
        for (const ConfigEntry& entry : peer.value.entries)
            settings.places.put(fmt::format("peers.{}.{}", place, entry.key), entry.value.where);
    }
}

/// Which fields are written.
enum class Fields { all, shared, of_what_was_learned };

bool is_among(const Field& field, Fields fields, const Settings& settings) {
    if (fields == Fields::all || field.scope == Scope::shared) return true;
    return fields == Fields::shared && field.scope == Scope::lockstep &&
           settings.exchange.goes_on_together();
}

std::string write_fields(const Settings& settings, Fields fields) {
    std::string text;
    std::vector<std::string> open;  // the groups that the line before stands in
    for (const Field& field : all_fields()) {
        if (field.applies && !field.applies(settings)) continue;
        if (!is_among(field, fields, settings)) continue;
        std::vector<std::string> parts = split_path(field.path);
        const std::string key = parts.back();
        parts.pop_back();
        for (std::size_t depth = 0; depth < parts.size(); ++depth) {
            if (depth < open.size() && open[depth] == parts[depth]) continue;
            open.resize(depth);
            text += fmt::format("{:{}}{}:\n", "", 2 * depth, parts[depth]);
            open.push_back(parts[depth]);
        }
        open.resize(parts.size());
        const std::string value = field.write(settings);
        text += fmt::format("{:{}}{}:{}{}\n", "", 2 * parts.size(), key,
                            value.starts_with('\n') ? "" : " ", value);
    }
    return text;
}

std::string digest_text(const Settings& settings, Fields fields) {
    std::string text = write_fields(settings, fields) + "peers:";
    for (const PeerSettings& peer : settings.peers)
        text += " " + peer.name + (peer.role == Role::server ? " (server)" : "");
    return text + "\n";
}

}  // namespace

Settings read_cluster_text(const std::string& text, const std::string& file,
                           const std::vector<std::string>& overrides) {
    return read_cluster_tree(parse_config(text, file), file, overrides);
}

Settings read_cluster_tree(ConfigValue tree, const std::string& file,
                           const std::vector<std::string>& overrides) {
    if (tree.kind == ConfigValue::Kind::null) tree.kind = ConfigValue::Kind::map;
    if (tree.kind != ConfigValue::Kind::map)
        refuse(tree.where, "the file", "keys and values", tree.description());
    expand_shorthands(tree);
    apply_overrides(tree, overrides);
    refuse_unknown_keys(tree);
    Settings settings;
    settings.file = file;
    settings.output = "runs";
    read_fields(tree, settings);
    require(tree, settings);
    if (tree.at("exchange.life_timeout_ms") == nullptr)
        settings.exchange.life_timeout_ms = life_timeout_ms_default(settings.exchange);
    check_relations(tree, settings);
    check_roles(tree, settings);
    const fs::path here = fs::current_path();
    const fs::path folder = (here / file).parent_path();
    settings.data.path = absolute_path(tree.at("data.path"), settings.data.path, folder);
    settings.cluster_key_file =
        absolute_path(tree.at("cluster_key_file"), settings.cluster_key_file, folder);
    settings.model.initial =
        followed(absolute_path(tree.at("model.initial"), settings.model.initial, folder));
    set_default_normalisation(settings.data);
    settings.output = absolute_path(tree.at("output"), settings.output, here);
    return settings;
}

Settings read_cluster_file(const std::string& file, const std::vector<std::string>& overrides) {
    return read_cluster_text(read_config_text(file), file, overrides);
}

std::string write_cluster_text(const Settings& settings) {
    return write_fields(settings, Fields::all);
}

std::string training_digest_text(const Settings& settings) {
    return digest_text(settings, Fields::shared);
}

std::string checkpoint_digest_text(const Settings& settings) {
    return digest_text(settings, Fields::of_what_was_learned);
}

std::vector<std::string> peer_names(const Settings& settings) {
    std::vector<std::string> names;
    for (const PeerSettings& peer : settings.peers) names.push_back(peer.name);
    return names;
}

PeerIndex peer_by_name(const Settings& settings, const std::string& name) {
    return find_peer(settings, name, settings.file, "--peer");
}

}  // namespace ako
