#include "src/config/fields.h"

#include <algorithm>

#include "ako/assert.h"
#include "src/config/key_rows.h"
#include "src/config/peer_list.h"

namespace ako {

namespace {

std::vector<Field> make_rows() {
    std::vector<Field> rows;
    rows.push_back(run_name_field()
                       .means("names the results, runs/<run>-<time>/", "required")
                       .shown_as("example"));
    rows.push_back(whole_field("seed", Scope::shared, AKO_MEMBER(seed), 0,
                               std::numeric_limits<std::int64_t>::max())
                       .means("of the initial parameters and of the order of the data")
                       .told());
    add_model_keys(rows);
    add_data_keys(rows);
    add_training_keys(rows);
    rows.push_back(peers_field().means("the same list in the same order for everyone", "required"));
    add_exchange_keys(rows);
    rows.push_back(
        whole_field("memory_mb_max", Scope::own, AKO_MEMBER(memory_mb_max), 1, 100'000'000)
            .means("training refuses to start if a peer would need more, in MB"));
    rows.push_back(
        as_path(text_field("output", Scope::own, AKO_MEMBER(output), "the folder for results"))
            .means("the folder for results; relative to where the command is "
                   "started",
                   "runs")
            .shown_as("runs"));
    rows.push_back(
        as_path(optional_text_field("cluster_key_file", Scope::own, AKO_MEMBER(cluster_key_file),
                                    "the file with the cluster's key"))
            .means("The file with the secret of the cluster, the same on every "
                   "peer: who does not hold it is refused. Relative to this file; "
                   "`openssl rand -hex 32 > cluster.key && chmod 600 cluster.key` "
                   "makes one. null: none, which is allowed on loopback and "
                   "private addresses only."));
    rows.push_back(
        observe_address_field().means("where browsers (/) and Prometheus (/metrics) find the first "
                                      "peer of the file, the next one at the next port, and so on; "
                                      "whoever gets there may read it. null: nowhere"));
    return rows;
}

std::vector<std::string> make_keys() {
    std::vector<std::string> keys;
    for (const Field& field : all_fields())
        if (!field.is_retired) keys.push_back(field.path);
    for (const ListKey& key : list_keys()) keys.push_back(key.path);
    return keys;
}

}  // namespace

Field Field::means(std::string text, std::string default_text) && {
    meaning = std::move(text);
    standard = std::move(default_text);
    return std::move(*this);
}

Field Field::only_with(std::string text, std::function<bool(const Settings&)> holds) && {
    applies_with = std::move(text);
    applies = std::move(holds);
    return std::move(*this);
}

Field Field::of_modes(std::vector<std::string> names) && {
    modes = std::move(names);
    return std::move(*this);
}

Field Field::shown_as(std::string value) && {
    example = std::move(value);
    return std::move(*this);
}

Field Field::told() && {
    is_told = true;
    return std::move(*this);
}

bool Field::heeded_by(const ModeEntry& mode) const {
    return modes.empty() || std::any_of(modes.begin(), modes.end(), [&](const std::string& name) {
               return name == mode.word || name == mode.name;
           });
}

const std::vector<Field>& all_fields() {
    static const std::vector<Field> rows = make_rows();
    return rows;
}

const Field& field_at(const std::string& path) {
    const std::vector<Field>& fields = all_fields();
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&path](const Field& field) { return field.path == path; });
    AKO_ASSERT(found != fields.end(), path);
    return *found;
}

std::string written_value(const Settings& settings, const std::string& path) {
    return field_at(path).write(settings);
}

bool heeds(const Settings& settings, const std::string& path) {
    return field_at(path).heeded_by(entry_of(settings.exchange));
}

const std::vector<std::string>& known_keys() {
    static const std::vector<std::string> keys = make_keys();
    return keys;
}

bool reads_keys_below(const std::string& path) {
    return path == "model.layers" || path == "exchange.consistency";
}

}  // namespace ako
