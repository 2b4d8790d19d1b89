#include "src/commands/check_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "ako/error.h"
#include "ako/exchange_times.h"
#include "models/catalog.h"
#include "src/commands/check_plan.h"
#include "src/commands/check_report.h"
#include "src/commands/chosen_mode.h"
#include "src/commands/wrapped_text.h"
#include "src/config/cluster_file.h"
#include "src/config/field_types.h"
#include "src/config/layer_fields.h"
#include "src/config/path_variables.h"
#include "src/native_peer/initial_parameters.h"
#include "src/native_peer/network_memory.h"
#include "src/native_peer/training_data.h"
#include "src/reporting/warnings.h"
#include "src/results/number_text.h"
#include "src/wiring/link_safety.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

namespace {

constexpr double mb = 1e6;

void print_network(const Network& network) {
    fmt::print("# network: {} parameters, M = {}\n", grouped(network.parameter_count()),
               bytes_text(static_cast<double>(network.parameter_count() * sizeof(float))));
    for (const Tensor& tensor : network.tensors()) {
        std::string shape;
        for (const std::size_t extent : tensor.shape)
            shape += fmt::format("{}{}", shape.empty() ? "" : " x ", extent);
        fmt::print("#   {:<34} {:<24} {:>10}\n", tensor.name, shape,
                   grouped(tensor.element_count()));
    }
}

void print_memory(const Settings& settings, const MemoryPlan& plan) {
    fmt::print("#\n# memory of one peer, n = {} peers                                   MB\n",
               settings.peers.size());
    for (const MemoryTerm& term : plan.terms)
        fmt::print("#   {:<34} {:<24} {:>10.1f}\n", term.name, term.formula,
                   static_cast<double>(term.bytes) / mb);
    fmt::print("#   {:<34} {:<24} {:>10.1f}\n", "sum", "", static_cast<double>(plan.bytes()) / mb);
    fmt::print("#   {:<34} {:<24} {:>10.1f}\n", "allowed", "memory_mb_max",
               static_cast<double>(settings.memory_mb_max));
}

/// A row over the slowest link takes longer than the end waits for it: said with what to do.
void warn_of_slow_rows(const Settings& settings, const ModeCosts& costs) {
    if (!costs.row || settings.peers.size() < 2) return;
    const auto slowest = slowest_link(settings, settings.peers.size() - 1);
    if (!slowest) return;
    const auto row_bytes = static_cast<double>(costs.row->element_count() * sizeof(float));
    const double row_s = row_bytes * 8 / 1e6 / slowest->mbit;
    const ExchangeSettings& exchange = settings.exchange;
    const double wait_s = seconds_of(times_of(exchange).finish_exchange);
    if (row_s <= wait_s) return;
    fmt::print(
        "#\n# warning: a row takes {:.0f} s at {:.3g} Mbit/s ({}), longer than\n"
        "#   {:.0f} s, a quarter of finish_timeout_s: what has not come by then of a peer's last\n"
        "#   rounds is left out of the agreed model, and the end takes as long for the peer "
        "behind\n"
        "#   that link. Raise finish_timeout_s above {:.0f} s, or the rate, or train a smaller\n"
        "#   network.\n",
        row_s, slowest->mbit, slowest->where, wait_s, row_s * exchange.finish_timeout_s / wait_s);
}

/// Wide enough for a convolution with all its keys, inside a residual too.
constexpr int layer_columns = 68;

void print_layers(const ModelSettings& named) {
    const ModelSettings model = written_out(named);
    const LayerList list = build_layers(model.input, model.layers);
    fmt::print("model:\n  {:<{}}  # height, width, channels\n  layers:\n",
               "input: " + shape_text(model.input), layer_columns - 2);
    auto outlined = list.outline.begin();
    for (const LayerLine& line : layer_lines(model.layers)) {
        if (!line.layer) {
            fmt::print("{}\n", line.text);
            continue;
        }
        const std::size_t parameters = outlined->parameter_count;
        fmt::print("{:<{}}  # {}{}\n", line.text, layer_columns, shape_text(outlined->output),
                   parameters == 0
                       ? std::string()
                       : fmt::format("  {}: {} parameters", outlined->name, grouped(parameters)));
        ++outlined;
    }
    if (!model.initial.empty()) fmt::print("  initial: {}\n", quote(keep_dollars(model.initial)));
}

/// Less is known of a model that a program brings: neither its size nor its data.
ExitStatus check_external(const std::string& file, const Settings& settings) {
    fmt::print("# {} as resolved\n{}\n", file, write_cluster_text(settings));
    fmt::print("# the network and its data: a program that uses Ako as a library brings them\n");
    fmt::print("{}{}", start_report(settings), time_outs_report(settings));
    check_links(settings);
    return exit_ok;
}

}  // namespace

ExitStatus check_model(const std::string& file, const std::vector<std::string>& overrides) {
    const Settings settings = read_with_choice(file, overrides);
    if (settings.model.kind == ModelKind::synthetic)
        throw StartupError(file + ": model: synthetic has no layers to show",
                           "name another network: --set model=lenet");
    const auto network = make_network(settings.model);
    fmt::print("# the network of {}: {} parameters\n", file, grouped(network->parameter_count()));
    print_layers(settings.model);
    return exit_ok;
}

ExitStatus check(const std::string& file, const std::vector<std::string>& overrides) {
    if (holds_plan(file)) return check_plan(file, overrides);
    const Settings settings = read_with_choice(file, overrides);
    if (settings.model.kind == ModelKind::external) return check_external(file, settings);
    const auto network = make_network(settings.model);
    const ModeCosts costs = mode_costs(settings, network->parameter_count());
    const MemoryPlan plan =
        plan_memory(settings, {network->parameter_count(), training_data_bytes(settings)});
    // What takes more than is allowed is shown, and not read.
    std::optional<TrainingData> data;
    if (fits(settings, plan)) {
        if (!settings.model.initial.empty()) initial_parameters(settings, *network);
        data.emplace(settings);
    }
    // YAML throughout, so that the output is itself a cluster file.
    fmt::print("# {} as resolved\n{}\n", file, write_cluster_text(settings));
    print_network(*network);
    print_memory(settings, plan);
    check_memory(settings, plan);
    const std::uint64_t budget = data->sample_budget();
    fmt::print("{}{}{}{}{}",
               data_report(settings, {data->sample_count(), data->test_set().count, budget}),
               start_report(settings), checkpoints_report(settings, costs),
               time_outs_report(settings), traffic_report(settings, costs));
    for (const std::string& note : data->notes()) fmt::print("#\n{}", wrapped(note, "# "));
    warn_of_slow_rows(settings, costs);
    for (const std::string& warning : warnings(settings, {network->parameter_count(), budget}))
        fmt::print("#\n{}", wrapped("warning: " + warning, "# "));
    check_links(settings);
    return exit_ok;
}

}  // namespace ako
