// See chosen_mode.h.
#include "src/commands/chosen_mode.h"

#include <fmt/format.h>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/commands/prediction_inputs.h"
#include "src/config/cluster_file.h"
#include "src/config/config_file.h"

namespace ako {

namespace {

ConfigValue tree_of(const std::string& file) { return parse_config(read_config_text(file), file); }

Settings read_any_mode(const ConfigValue& tree, const std::string& file,
                       std::vector<std::string>& overrides) {
    if (leaves_mode_open(tree, overrides))
        overrides.push_back(fmt::format("exchange.mode={}", mode_table::entries.front().word));
    return read_cluster_tree(tree, file, overrides);
}

}  // namespace

Settings read_for_all_modes(const std::string& file, std::vector<std::string>& overrides) {
    return read_any_mode(tree_of(file), file, overrides);
}

Settings read_with_choice(const std::string& file, const std::vector<std::string>& overrides) {
    const ConfigValue tree = tree_of(file);
    if (!leaves_mode_open(tree, overrides)) return read_cluster_tree(tree, file, overrides);
    PredictOptions options;
    options.file = file;
    options.overrides = overrides;
    const Settings any = read_any_mode(tree, file, options.overrides);
    options.machines = std::to_string(any.peers.size());
    Grounds grounds;
    const std::vector<MachineProfile> profiles = read_profiles(options, any, grounds);
    const PredictionQuestion question = question_of(options, any, grounds);
    const Prediction prediction = predict(question, base_of(options, any, profiles));
    const TableOf table = tables_of(prediction).front();
    const auto best = choices(prediction, table.rate_mbit, table.batch, options.goal);
    if (best.empty())
        throw StartupError(file +
                               ": exchange.mode: auto: there is no mode of which it is known how "
                               "long it takes to a target",
                           "write a mode, such as exchange.mode: ring");
    fmt::print(stderr, "ako: exchange.mode: auto: {}\n", choice_text(best, options.goal));
    for (const std::string& ground : grounds) fmt::print(stderr, "ako: {}\n", ground);
    std::vector<std::string> chosen = overrides;
    const std::vector<std::string>& mode = best.front()->mode.overrides;
    chosen.insert(chosen.end(), mode.begin(), mode.end());
    return read_cluster_tree(tree, file, chosen);
}

}  // namespace ako
