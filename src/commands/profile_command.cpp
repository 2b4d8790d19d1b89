// See profile_command.h.
#include "src/commands/profile_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "ako/error.h"
#include "src/commands/chosen_mode.h"
#include "src/compare/provenance.h"
#include "src/predict/measure_machine.h"
#include "src/predict/network_profile.h"
#include "src/system/child_process.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "machine";
}

}  // namespace

ExitStatus profile(const ProfileOptions& options) {
    std::vector<std::string> overrides = options.overrides;
    const Settings settings = read_for_all_modes(options.file, overrides);
    if (options.name == network_profile_name)
        throw StartupError("--name network: the measured links of a cluster have that name",
                           "choose another one");
    if (settings.model.kind == ModelKind::external)
        throw StartupError(options.file +
                               ": a program brings this network: there is nothing here "
                               "to measure",
                           "run it, and predict from its run: ako predict runs/latest");
    if (settings.model.kind == ModelKind::synthetic)
        throw StartupError(options.file + ": model: synthetic waits instead of computing",
                           "profile a network: --set model=lenet");
    make_folder_for(options.output, "-o");
    const auto say = [](const std::string& what) {
        fmt::print("measuring {} ..\n", what);
        std::fflush(stdout);
    };
    const MachineProfile found = measure_machine(settings, {own_program(), this_machine(), say});
    const std::string file = fmt::format("{}/{}.json", options.output,
                                         options.name.empty() ? host_name() : options.name);
    write_whole_file(file, to_json_text(found));
    const GradientProfile gradient = found.gradient_of(settings.training.batch.local);
    fmt::print(
        "a round of {} samples: {:.1f} ms of processor, {:.0f} % of it in {} layers' steps\n",
        gradient.batch, (gradient.seconds + found.round_s) * 1e3,
        100 * gradient.seconds / (gradient.seconds + found.round_s), gradient.steps.size() - 1);
    for (const auto& [mode, exchange] : found.exchange)
        fmt::print("exchange, {:<17} {:.2f} s of processor for a GB that is sent or taken\n",
                   mode + ":", exchange.s_per_byte * 1e9);
    if (found.quota_cores > 0)
        fmt::print("quota: {:g} cores, filled anew every {:g} ms\n", found.quota_cores,
                   found.quota_period_s * 1e3);
    fmt::print("profile: {}\n", file);
    return exit_ok;
}

}  // namespace ako
