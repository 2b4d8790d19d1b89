#include "src/commands/check_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/compare/cell_settings.h"
#include "src/compare/plan.h"
#include "src/config/config_file.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

void print_line(const std::string& name, const std::string& value) {
    fmt::print("  {:<18} {}\n", name, value);
}

template <class List>
std::string joined(const List& list) {
    return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace

bool holds_plan(const std::string& file) {
    const ConfigValue tree = parse_config(read_config_text(file), file);
    for (const ConfigEntry& entry : tree.entries) {
        if (is_key_of_plan(entry.key)) return true;
    }
    return false;
}

ExitStatus check_plan(const std::string& file, const std::vector<std::string>& overrides) {
    const Plan plan = read_plan(file, overrides);
    check_contenders(plan);
    std::vector<std::string> modes, rates;
    for (const Contender& contender : plan.modes) modes.push_back(contender.name);
    for (const Rate& rate : plan.rates) rates.push_back(rate.text());
    fmt::print("{} is a plan of a comparison, {}:\n", file, plan.name);
    print_line("cluster", plan.cluster_file == file ? "in the plan itself" : plan.cluster_file);
    print_line("modes", joined(modes));
    print_line("machines", joined(plan.machines));
    print_line("rates", joined(rates));
    print_line("seeds", joined(plan.seeds));
    print_line("learning rates", joined(plan.learning_rates));
    print_line("batch per peer", joined(plan.batch_per_peer));
    print_line("epochs", fmt::format("{}", plan.epochs));
    print_line("screening", plan.screening ? "yes" : "none");
    print_line("results", plan.output);
    fmt::print("`ako compare {0} --list` lists its cells, `ako compare {0}` runs them\n", file);
    return exit_ok;
}

}  // namespace ako
