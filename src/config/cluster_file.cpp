#include "src/config/cluster_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ako/error.h"
#include "src/config/config_file.h"
#include "src/config/conflicts.h"
#include "src/config/fields.h"
#include "src/config/overrides.h"
#include "src/config/peer_list.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

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
            refuse(place_in(tree, key), key, expected, "nothing");
    }
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
    if (fields == Fields::all) return !field.is_retired || settings.retired.contains(field.path);
    if (field.scope == Scope::shared) return true;
    return fields == Fields::shared && field.scope == Scope::lockstep &&
           entry_of(settings.exchange).goes_on_together();
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
        text += " " + peer.name + (peer.role == Role::server ? " (server)" : "") +
                (peer.samples > 0 ? fmt::format(" ({} samples)", peer.samples) : "");
    return text + "\n";
}

/// The tree with all that the command line says.
void take_overrides(ConfigValue& tree, const std::vector<std::string>& overrides) {
    if (tree.kind == ConfigValue::Kind::null) tree.kind = ConfigValue::Kind::map;
    if (tree.kind != ConfigValue::Kind::map)
        refuse(tree.where, "the file", "keys and values", tree.description());
    expand_shorthands(tree);
    apply_overrides(tree, overrides);
}

bool is_open(const ConfigValue* mode) { return mode != nullptr && mode->text == "auto"; }

}  // namespace

Settings read_cluster_text(const std::string& text, const std::string& file,
                           const std::vector<std::string>& overrides) {
    return read_cluster_tree(parse_config(text, file), file, overrides);
}

Settings read_cluster_tree(ConfigValue tree, const std::string& file,
                           const std::vector<std::string>& overrides) {
    take_overrides(tree, overrides);
    refuse_unknown_keys(tree);
    if (const ConfigValue* mode = tree.at("exchange.mode"); is_open(mode))
        throw StartupError(mode->where +
                               ": exchange.mode: auto is chosen by ako launch, ako train "
                               "and ako check alone",
                           "write the mode that `ako predict` names");
    Settings settings;
    settings.file = file;
    settings.output = "runs";
    read_fields(tree, settings);
    require(tree, settings);
    if (tree.at("exchange.life_timeout_ms") == nullptr)
        settings.exchange.life_timeout_ms = entry_of(settings.exchange).life_timeout_ms;
    refuse_conflicts(tree, settings);
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

bool leaves_mode_open(ConfigValue tree, const std::vector<std::string>& overrides) {
    take_overrides(tree, overrides);
    return is_open(tree.at("exchange.mode"));
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

std::string default_checkpoint_text(const Settings& settings) {
    Settings defaults;
    defaults.exchange.mode = settings.exchange.mode;
    return checkpoint_digest_text(defaults);
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
