#include "src/compare/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "ako/types.h"
#include "src/compare/plan_modes.h"
#include "src/config/cluster_file.h"
#include "src/config/config_file.h"
#include "src/config/field_types.h"
#include "src/config/fields.h"
#include "src/config/overrides.h"
#include "src/config/path_variables.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// A comparison of more than this many values of one kind runs for years.
constexpr std::size_t list_length_max = 64;
/// As deploy/testbed: the system takes no quota below 1 ms, and the period is 10 ms.
constexpr double cpus_min = 0.1;
constexpr const char* example = "experiments/compare-mnist/plan.yaml";

const std::vector<std::string> top_keys = {
    "name",        "cluster",        "settings", "target_accuracy",  "machines",
    "rates_mbit",  "seeds",          "modes",    "learning_rates",   "batch_per_peer",
    "epochs",      "evaluate_every", "alone",    "baselines",        "screening",
    "composition", "lost_peer",      "testbed",  "cell_minutes_max", "output"};
const std::vector<std::string> screening_keys = {"rate_mbit", "epochs", "minutes_max", "finalists"};
const std::vector<std::string> composition_keys = {"epochs"};
const std::vector<std::string> loss_keys = {"machine", "after_s"};
const std::vector<std::string> testbed_keys = {"use", "name", "cpus"};

void refuse_unknown(const ConfigValue& map, const std::string& prefix,
                    const std::vector<std::string>& keys) {
    for (const ConfigEntry& entry : map.entries) {
        if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
        if (prefix.empty() && (entry.key == "run" || entry.key == "peers"))
            throw StartupError(fmt::format("{}: unknown key {}", entry.where, entry.key),
                               "this looks like a cluster file, which `ako launch` and `ako "
                               "train` run; a plan names one under `cluster`");
        const std::string nearest = nearest_key(entry.key, keys);
        throw StartupError(fmt::format("{}: unknown key {}{}", entry.where, prefix, entry.key),
                           nearest.empty()
                               ? "all keys of a plan are in experiments/compare-example.yaml"
                               : fmt::format("did you mean {}{}?", prefix, nearest));
    }
}

/// The value of a key; nullptr if it is not there or null.
const ConfigValue* present(const ConfigValue& map, const std::string& key) {
    const ConfigEntry* entry = map.find(key);
    const bool there = entry != nullptr && entry->value.kind != ConfigValue::Kind::null;
    return there ? &entry->value : nullptr;
}

/// The elements of a list, or the one value itself.
std::vector<const ConfigValue*> elements(const ConfigValue& value, const std::string& key,
                                         const std::string& expected) {
    std::vector<const ConfigValue*> found;
    if (value.kind != ConfigValue::Kind::list) found.push_back(&value);
    for (const ConfigEntry& entry : value.entries) {
        if (value.kind == ConfigValue::Kind::list) found.push_back(&entry.value);
    }
    if (found.empty() || found.size() > list_length_max)
        refuse(value.where, key, expected, value.description());
    return found;
}

/// A list of different values, each read by `read`.
template <class Value, class Read>
std::vector<Value> read_list(const ConfigValue& value, const std::string& key,
                             const std::string& expected, Read read) {
    std::vector<Value> list;
    for (const ConfigValue* element : elements(value, key, expected)) {
        Value one = read(*element);
        if (std::find(list.begin(), list.end(), one) != list.end())
            refuse(element->where, key, "every value once", element->description() + " again");
        list.push_back(std::move(one));
    }
    return list;
}

std::vector<double> read_numbers(const ConfigValue& value, const std::string& key, Bounds bounds) {
    return read_list<double>(value, key, "a list of numbers", [&](const ConfigValue& one) {
        return read_bounded(one, key, bounds);
    });
}

template <class Number>
std::vector<Number> read_wholes(const ConfigValue& value, const std::string& key, Number low,
                                Number high) {
    const std::string expected = fmt::format("a whole number from {} to {}", low, high);
    return read_list<Number>(value, key, "a list of whole numbers", [&](const ConfigValue& one) {
        const std::uint64_t number = read_whole(one, key, expected);
        if (number < low || number > high) refuse(one.where, key, expected, one.description());
        return static_cast<Number>(number);
    });
}

bool is_none(const ConfigValue& value) {
    return value.kind == ConfigValue::Kind::null ||
           (value.kind == ConfigValue::Kind::scalar && value.text == "none");
}

std::optional<double> read_one_rate(const ConfigValue& value, const std::string& key) {
    if (is_none(value)) return std::nullopt;
    const Bounds bounds{.low = 0.01, .high = 1e6};
    const std::string expected = bounds.description() + ", or none";
    const double mbit = read_number(value, key, expected);
    if (!bounds.hold(mbit)) refuse(value.where, key, expected, value.description());
    return mbit;
}

/// One rate for all machines, or a list with one for each.
Rate read_rate(const ConfigValue& value, const std::string& key) {
    if (value.kind != ConfigValue::Kind::list) return {{read_one_rate(value, key)}};
    if (value.entries.size() < 2)
        refuse(value.where, key, "a rate, or a list of one per machine", value.description());
    Rate rate{{}};
    for (const ConfigEntry& entry : value.entries)
        rate.mbit.push_back(read_one_rate(entry.value, key));
    return rate;
}

/// Refuses a list of `count` that is not as long as there are machines; `what` it should have of
/// each.
void check_one_per_machine(const ConfigValue& value, const std::string& key, std::size_t count,
                           const std::string& what, const Plan& plan) {
    for (const std::size_t machines : plan.machines) {
        if (count != machines)
            refuse(value.where, key, fmt::format("{} for each of {} machines", what, machines),
                   value.description());
    }
}

void check_rate(const ConfigValue& value, const std::string& key, const Rate& rate,
                const Plan& plan) {
    if (!rate.even()) check_one_per_machine(value, key, rate.mbit.size(), "one rate", plan);
}

/// A share of a core for all machines, or a list with one for each.
std::vector<double> read_cpus(const ConfigValue& value, const Plan& plan) {
    std::vector<double> cpus;
    for (const ConfigValue* one : elements(value, "testbed.cpus", "a number or a list of numbers"))
        cpus.push_back(read_bounded(*one, "testbed.cpus", {.low = cpus_min, .high = 256}));
    if (value.kind == ConfigValue::Kind::list)
        check_one_per_machine(value, "testbed.cpus", cpus.size(), "one number, or one", plan);
    return cpus;
}

void read_cluster(const ConfigValue& tree, Plan& plan) {
    const ConfigValue* value = present(tree, "cluster");
    if (value == nullptr)
        refuse(tree.where, "cluster", "a cluster file, or its keys and values", "nothing");
    if (value->kind == ConfigValue::Kind::map) {
        plan.cluster = *value;
        plan.cluster_file = plan.file;
        return;
    }
    read_text(*value, "cluster", "the path of a cluster file");
    const std::string path = expand_variables(*value, "cluster");
    const fs::path base = value->from_command_line ? fs::path() : fs::path(plan.file).parent_path();
    plan.cluster_file = (base / path).lexically_normal().string();
    plan.cluster = parse_config(read_config_text(plan.cluster_file), plan.cluster_file);
}

/// With peers of its own if the plan's cluster has none: their names and places are the plan's.
ClusterDefaults defaults_of(const Plan& plan) {
    std::vector<std::string> overrides;
    if (plan.cluster.find("run") == nullptr) overrides.emplace_back("run=compare");
    const ConfigEntry* peers = plan.cluster.find("peers");
    ClusterDefaults defaults;
    if (peers != nullptr) defaults.machines = peers->value.entries.size();
    overrides.emplace_back("peers=[{name: a, address: \"127.0.0.1:1\"}]");
    overrides.emplace_back("exchange.link_limits=[]");
    const Settings settings = read_cluster_tree(plan.cluster, plan.cluster_file, overrides);
    defaults.learning_rate = settings.training.learning_rate;
    defaults.batch = settings.training.batch.local;
    defaults.epochs = settings.training.epochs;
    defaults.seed = settings.seed;
    defaults.warm_up = settings.training.schedule.warm_up;
    defaults.local_rounds = settings.exchange.local_sgd.rounds;
    std::vector<std::string> keys = server_keys();
    keys.emplace_back("training.learners");
    for (const Field& field : all_fields()) {
        if (std::find(keys.begin(), keys.end(), field.path) != keys.end())
            defaults.told.push_back({field.path, field.write(settings)});
    }
    return defaults;
}

void read_lists(const ConfigValue& tree, Plan& plan) {
    plan.defaults = defaults_of(plan);
    const ClusterDefaults& defaults = plan.defaults;
    if (const ConfigValue* value = present(tree, "target_accuracy"))
        plan.target_accuracy =
            read_numbers(*value, "target_accuracy", {.low = 0, .high = 1, .low_open = true});
    std::sort(plan.target_accuracy.begin(), plan.target_accuracy.end());
    plan.machines = {defaults.machines};
    if (const ConfigValue* value = present(tree, "machines"))
        plan.machines = read_wholes<std::size_t>(*value, "machines", 2, peers_max);
    else if (defaults.machines < 2)
        refuse(tree.where, "machines", "how many, or a cluster with its peers", "nothing");
    plan.seeds = {defaults.seed};
    if (const ConfigValue* value = present(tree, "seeds"))
        plan.seeds = read_wholes<std::uint64_t>(*value, "seeds", 0,
                                                std::numeric_limits<std::int64_t>::max());
    plan.learning_rates = {defaults.learning_rate};
    if (const ConfigValue* value = present(tree, "learning_rates"))
        plan.learning_rates =
            read_numbers(*value, "learning_rates", {.low = 0, .high = 100, .low_open = true});
    std::sort(plan.learning_rates.begin(), plan.learning_rates.end());
    plan.batch_per_peer = {defaults.batch};
    if (const ConfigValue* value = present(tree, "batch_per_peer"))
        plan.batch_per_peer = read_wholes<std::size_t>(*value, "batch_per_peer", 1, 65'536);
    const Bounds positive{.low = 0, .high = 1e6, .low_open = true};
    plan.epochs = defaults.epochs;
    if (const ConfigValue* value = present(tree, "epochs"))
        plan.epochs = read_bounded(*value, "epochs", positive);
    plan.evaluate_every = plan.epochs / 16;
    if (const ConfigValue* value = present(tree, "evaluate_every"))
        plan.evaluate_every = read_bounded(*value, "evaluate_every", positive);
    plan.rates = {Rate{}};
    if (const ConfigValue* value = present(tree, "rates_mbit")) {
        plan.rates = read_list<Rate>(*value, "rates_mbit", "a list of rates",
                                     [](const auto& one) { return read_rate(one, "rates_mbit"); });
        for (const Rate& rate : plan.rates) check_rate(*value, "rates_mbit", rate, plan);
    }
}

void read_screening(const ConfigValue& tree, Plan& plan) {
    const ConfigValue* map = present(tree, "screening");
    if (map == nullptr || is_none(*map)) return;
    if (map->kind != ConfigValue::Kind::map)
        refuse(map->where, "screening", "none, or keys and values", map->description());
    refuse_unknown(*map, "screening.", screening_keys);
    ScreeningPlan screening;
    screening.rate = plan.rates[plan.rates.size() / 2];
    if (const ConfigValue* value = present(*map, "rate_mbit")) {
        screening.rate = read_rate(*value, "screening.rate_mbit");
        check_rate(*value, "screening.rate_mbit", screening.rate, plan);
    }
    screening.epochs = plan.epochs / 8;
    if (const ConfigValue* value = present(*map, "epochs"))
        screening.epochs = read_bounded(*value, "screening.epochs",
                                        {.low = 0, .high = plan.epochs, .low_open = true});
    if (const ConfigValue* value = present(*map, "minutes_max"))
        screening.minutes_max = read_bounded(*value, "screening.minutes_max",
                                             {.low = 0, .high = 1e6, .low_open = true});
    if (const ConfigValue* value = present(*map, "finalists"))
        screening.finalists = read_wholes<unsigned>(*value, "screening.finalists", 1, 64).front();
    plan.screening = screening;
}

void read_composition(const ConfigValue& tree, Plan& plan) {
    const ConfigEntry* entry = tree.find("composition");
    if (entry != nullptr && is_none(entry->value)) return;
    CompositionPlan composition;
    composition.epochs = plan.epochs / 8;
    if (entry != nullptr) {
        const ConfigValue& map = entry->value;
        if (map.kind != ConfigValue::Kind::map)
            refuse(map.where, "composition", "none, or keys and values", map.description());
        refuse_unknown(map, "composition.", composition_keys);
        if (const ConfigValue* value = present(map, "epochs"))
            composition.epochs = read_bounded(*value, "composition.epochs",
                                              {.low = 0, .high = plan.epochs, .low_open = true});
    }
    plan.composition = composition;
}

void read_loss(const ConfigValue& tree, Plan& plan) {
    const ConfigValue* map = present(tree, "lost_peer");
    if (map == nullptr || is_none(*map)) return;
    if (map->kind != ConfigValue::Kind::map)
        refuse(map->where, "lost_peer", "none, or machine and after_s", map->description());
    refuse_unknown(*map, "lost_peer.", loss_keys);
    const ConfigValue* machine = present(*map, "machine");
    const ConfigValue* after = present(*map, "after_s");
    if (machine == nullptr || after == nullptr)
        refuse(map->where, "lost_peer", "machine and after_s", map->description());
    const std::size_t fewest = *std::min_element(plan.machines.begin(), plan.machines.end());
    PeerLoss loss;
    loss.machine = read_wholes<std::size_t>(*machine, "lost_peer.machine", 1, fewest).front() - 1;
    loss.after_s = read_bounded(*after, "lost_peer.after_s", {.low = 0, .high = 1e6});
    plan.loss = loss;
}

void read_testbed(const ConfigValue& tree, Plan& plan) {
    const ConfigValue* map = present(tree, "testbed");
    if (map == nullptr) return;
    if (map->kind != ConfigValue::Kind::map)
        refuse(map->where, "testbed", "keys and values", map->description());
    refuse_unknown(*map, "testbed.", testbed_keys);
    if (const ConfigValue* value = present(*map, "use")) {
        const std::string expected = "auto, always or never";
        const std::string word = read_text(*value, "testbed.use", expected);
        if (word != "auto" && word != "always" && word != "never")
            refuse(value->where, "testbed.use", expected, value->description());
        plan.testbed.use = word == "auto"     ? NetworkChoice::automatic
                           : word == "always" ? NetworkChoice::testbed
                                              : NetworkChoice::paced;
    }
    if (const ConfigValue* value = present(*map, "name")) {
        const std::string expected = "at most 32 letters a-z and digits";
        plan.testbed.name = read_text(*value, "testbed.name", expected);
        const bool plain =
            std::all_of(plan.testbed.name.begin(), plan.testbed.name.end(), [](char letter) {
                return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
            });
        if (!plain || plan.testbed.name.empty() || plan.testbed.name.size() > 32)
            refuse(value->where, "testbed.name", expected, value->description());
    }
    if (const ConfigValue* value = present(*map, "cpus"))
        plan.testbed.cpus = read_cpus(*value, plan);
}

void read_rest(const ConfigValue& tree, Plan& plan) {
    plan.baselines = {std::string(mode_table::server.word), std::string(mode_table::ring.word)};
    if (const ConfigValue* value = present(tree, "baselines"))
        plan.baselines =
            read_list<std::string>(*value, "baselines", "names of contenders or modes",
                                   [](const auto& one) { return read_text(one, "baselines"); });
    for (const std::string& name : plan.baselines) {
        const ConfigValue* value = present(tree, "baselines");
        const bool known = std::any_of(plan.modes.begin(), plan.modes.end(), [&](const auto& one) {
            return one.name == name || one.mode == name;
        });
        if (value != nullptr && !known)
            refuse(value->where, "baselines", "names of this plan's modes", name);
    }
    if (const ConfigValue* value = present(tree, "cell_minutes_max"))
        plan.cell_minutes_max =
            read_bounded(*value, "cell_minutes_max", {.low = 0, .high = 1e6, .low_open = true});
    fs::path output = fs::path("runs") / ("compare-" + plan.name);
    if (const ConfigValue* value = present(tree, "output")) {
        read_text(*value, "output", "the folder for results");
        output = expand_variables(*value, "output");
    }
    plan.output = fs::absolute(output).lexically_normal().string();
}

/// The name of the comparison, by which its folder is called.
void read_name(const ConfigValue& tree, Plan& plan) {
    const ConfigValue* value = present(tree, "name");
    if (value == nullptr) refuse(tree.where, "name", "the comparison's name", "nothing");
    Settings settings;
    run_name_field().read(*value, settings);
    plan.name = settings.run;
}

}  // namespace

Plan read_plan_text(const std::string& text, const std::string& file,
                    const std::vector<std::string>& overrides) {
    ConfigValue tree = parse_config(text, file);
    if (tree.kind == ConfigValue::Kind::null) tree.kind = ConfigValue::Kind::map;
    if (tree.kind != ConfigValue::Kind::map)
        refuse(tree.where, "the file", "keys and values", tree.description());
    apply_overrides(tree, overrides);
    refuse_unknown(tree, "", top_keys);
    Plan plan;
    plan.file = file;
    plan.text = text;
    plan.overrides = overrides;
    read_name(tree, plan);
    read_cluster(tree, plan);
    if (const ConfigValue* value = present(tree, "settings"))
        plan.settings = read_assignments(*value, "settings");
    read_lists(tree, plan);
    const ConfigValue* modes = present(tree, "modes");
    if (modes == nullptr) refuse(tree.where, "modes", "the modes to compare", "nothing");
    plan.modes = read_modes(*modes);
    if (auto alone = read_alone(present(tree, "alone"), tree.where))
        plan.modes.push_back(std::move(*alone));
    Variant elsewhere = plan.settings;  // which win over the cluster file
    const Variant& told = plan.defaults.told;
    elsewhere.insert(elsewhere.end(), told.begin(), told.end());
    for (Contender& contender : plan.modes) complete_variants(contender, elsewhere);
    read_screening(tree, plan);
    read_composition(tree, plan);
    read_loss(tree, plan);
    read_testbed(tree, plan);
    read_rest(tree, plan);
    return plan;
}

Plan read_plan(const std::string& file, const std::vector<std::string>& overrides) {
    return read_plan_text(read_config_text(file, "a plan", example), file, overrides);
}

}  // namespace ako
