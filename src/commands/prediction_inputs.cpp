// See prediction_inputs.h.
#include "src/commands/prediction_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <thread>

#include "ako/error.h"
#include "ako/network.h"
#include "models/catalog.h"
#include "src/compare/provenance.h"
#include "src/config/cluster_file.h"
#include "src/config/config_file.h"
#include "src/native_peer/network_memory.h"
#include "src/native_peer/training_data.h"
#include "src/predict/network_digest.h"
#include "src/predict/network_profile.h"
#include "src/predict/run_calibration.h"
#include "src/predict/run_profile.h"
#include "src/system/build_info.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t machines_max = 64;

template <class Number>
std::vector<Number> counts_in(const std::string& text, const std::string& what, double most) {
    std::vector<Number> counts;
    for (const double number : numbers_in(text, what)) {
        if (number < 1 || number > most || number != std::floor(number))
            throw StartupError(
                fmt::format("{}: {:g} is no whole number from 1 to {:g}", what, number, most),
                "write such as 1,2,4 or 1..16");
        counts.push_back(static_cast<Number>(number));
    }
    return counts;
}

/// The file of the options with theirs and further overrides.
ReadSettings reader_of(const PredictOptions& options) {
    const ConfigValue tree = parse_config(read_config_text(options.file), options.file);
    return [tree, file = options.file,
            overrides = options.overrides](const std::vector<std::string>& more) {
        std::vector<std::string> all = overrides;
        all.insert(all.end(), more.begin(), more.end());
        return read_cluster_tree(tree, file, all);
    };
}

bool on_one_machine(const Settings& settings) {
    return std::all_of(settings.peers.begin(), settings.peers.end(), [](const PeerSettings& peer) {
        return peer.address.starts_with("127.") || peer.address.starts_with("localhost:");
    });
}

/// What peers held in a run is more than they would alone, by as much as their plans differ.
void leave_exchange_out(const PredictOptions& options, const Settings& settings,
                        std::map<std::string, MachineProfile>& profiles) {
    const MemoryOfRun run{profiles.begin()->second.parameter_count, training_data_bytes(settings)};
    const Settings alone = reader_of(options)({"exchange.mode=local"});
    const std::size_t with = plan_memory(settings, run).usual_bytes();
    const std::size_t without = plan_memory(alone, run).usual_bytes();
    for (auto& [name, profile] : profiles)
        if (profile.process_bytes + without > with)
            profile.process_bytes = profile.process_bytes + without - with;
}

/// Of a program's network only a run can tell.
void refuse_program_without_run(const PredictOptions& options, const Settings& settings) {
    if (settings.model.kind != ModelKind::external) return;
    if (options.run_folder.empty() || !options.runs.empty())
        throw StartupError(options.file +
                               ": a program brings this network, of which only one run "
                               "at a time tells what machines make of it",
                           "train, and predict from that run: ako predict runs/latest");
}

/// The profiles that lie in the folder; never none.
std::map<std::string, MachineProfile> measured(const PredictOptions& options) {
    std::map<std::string, MachineProfile> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(options.profiles, error))
        if (entry.path().extension() == ".json" && entry.path().stem() != network_profile_name)
            found[entry.path().stem()] = read_profile(entry.path());
    if (found.empty())
        throw StartupError(
            options.profiles + ": no profile of a machine lies there",
            fmt::format("measure this one: ako profile {} -o {}", options.file, options.profiles));
    return found;
}

/// The profiles that the run makes. Throws StartupError: no run that tells of this network.
std::map<std::string, MachineProfile> made_of_run(const PredictOptions& options,
                                                  const Settings& settings, Grounds& grounds) {
    const double cores = on_one_machine(settings) ? std::thread::hardware_concurrency() : 0;
    auto profiles = profiles_of_run(options.run_folder, cores, grounds);
    if (profiles.begin()->second.network != network_digest(settings))
        throw StartupError(options.run_folder +
                               ": its network, or training.threads, is another "
                               "one than --set makes of it",
                           "leave that --set out, or profile that network: ako profile FILE");
    if (settings.model.kind != ModelKind::external) leave_exchange_out(options, settings, profiles);
    return profiles;
}

std::string network_file(const PredictOptions& options) {
    return fmt::format("{}/{}.json", options.profiles, network_profile_name);
}

/// A measurement holds for the machines and the limit that it was made with.
void require_measured(const PredictOptions& options, const Settings& settings,
                      const NetworkProfile& network) {
    const std::string file = network_file(options);
    const std::string again =
        fmt::format("measure all again: ako check {} --network -o {}; or say what links carry, "
                    "Mbit/s: --rates 100",
                    options.file, options.profiles);
    for (const PeerSettings& peer : settings.peers) {
        const NetworkProfile::Peer* known = network.find(peer.name);
        if (known == nullptr)
            throw StartupError(
                fmt::format("{}: the links of peer {} were not measured", file, peer.name), again);
        if (known->address != peer.address)
            throw StartupError(fmt::format("{}: peer {} was at {} when links were measured, and is "
                                           "at {} in the cluster file",
                                           file, peer.name, known->address, peer.address),
                               again);
    }
    const double limit = settings.exchange.egress_mbit_max.value_or(0);
    const double measured_with = network.egress_mbit_max;
    if (measured_with > 0 && (limit == 0 || limit > measured_with))
        throw StartupError(fmt::format("{}: links were measured with exchange.egress_mbit_max: "
                                       "{:g}, which the cluster file does not say",
                                       file, measured_with),
                           again);
}

/// As the peers of the file have measured them, and no more than the file lets a machine send.
/// Throws StartupError: one of them was not there.
void take_measured_links(const PredictOptions& options, const Settings& settings,
                         PredictionQuestion& question, Grounds& grounds) {
    const NetworkProfile network = read_network_profile(network_file(options));
    require_measured(options, settings, network);
    const double goodput = question.goodput > 0 ? question.goodput : tcp_goodput;
    constexpr double no_limit = std::numeric_limits<double>::infinity();
    const double limit = settings.exchange.egress_mbit_max.value_or(no_limit);
    double least = no_limit, most = 0;
    for (const PeerSettings& peer : settings.peers) {
        MachineLink link = network.of(peer.name);
        link.egress_mbit = std::min(limit, link.egress_mbit / goodput);
        link.ingress_mbit /= goodput;
        least = std::min({least, link.egress_mbit, link.ingress_mbit});
        most = std::max({most, link.egress_mbit, link.ingress_mbit});
        question.links.push_back(link);
    }
    question.rates_mbit = {least < 1 ? least : std::round(least * 10) / 10};
    if (options.latency_ms == 0) question.latency_s = network.latency_s();
    grounds.push_back(fmt::format("{}: links of {:.3g} to {:.3g} Mbit/s, {:.2g} ms one way",
                                  network_file(options), least, most, question.latency_s * 1e3));
    if (const std::size_t asked =
            *std::max_element(question.machines.begin(), question.machines.end());
        asked > settings.peers.size())
        grounds.push_back(fmt::format("assumed: machines beyond those {} have links as the last",
                                      settings.peers.size()));
}

/// What the links of the question carry, from the first that says it.
void take_links(const PredictOptions& options, const Settings& settings, bool together,
                PredictionQuestion& question, Grounds& grounds) {
    if (!options.rates.empty()) {
        question.rates_mbit = numbers_in(options.rates, "--rates");
        grounds.push_back(fmt::format("assumed: links of {} Mbit/s, {:g} ms one way", options.rates,
                                      options.latency_ms));
    } else if (settings.exchange.link_mbit || !settings.exchange.link_limits.empty()) {
        throw StartupError(options.file +
                               ": it limits what single pairs of peers carry, and a "
                               "prediction knows what each machine does",
                           "say that, Mbit/s: --rates 100");
    } else if (!together && fs::exists(network_file(options))) {
        take_measured_links(options, settings, question, grounds);
    } else if (const auto& egress = settings.exchange.egress_mbit_max; egress || together) {
        question.rates_mbit = {egress.value_or(0)};
        if (egress) grounds.push_back(fmt::format("exchange.egress_mbit_max: {:g}", *egress));
    } else {
        throw StartupError(options.file + ": nothing says what its links carry",
                           "measure them: ako check FILE --network; or say it, Mbit/s of each "
                           "machine: `ako predict` "
                           "takes --rates 20,100,1000, and the file exchange.egress_mbit_max: 100");
    }
}

}  // namespace

std::vector<double> numbers_in(const std::string& text, const std::string& what) {
    const auto number = [&](const std::string& word) {
        char* end = nullptr;
        const double value = std::strtod(word.c_str(), &end);
        if (word.empty() || *end != '\0' || !std::isfinite(value) || value <= 0)
            throw StartupError(fmt::format("{}: '{}' is no number above 0", what, word),
                               "write such as 1,2,4 or 1..16");
        return value;
    };
    std::vector<double> numbers;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string word = text.substr(from, comma - from);
        from = comma + 1;
        const std::size_t dots = word.find("..");
        if (dots == std::string::npos) {
            numbers.push_back(number(word));
            continue;
        }
        const double last = number(word.substr(dots + 2));
        for (double next = number(word.substr(0, dots)); next < last; next *= 2)
            numbers.push_back(next);
        numbers.push_back(last);
    }
    return numbers;
}

PredictOptions with_run_folder(PredictOptions options) {
    std::error_code error;
    if (!fs::is_directory(options.file, error)) return options;
    if (options.profiles_named)
        throw StartupError(
            fmt::format("--profile {}: {} is the folder of a run, which is a profile itself",
                        options.profiles, options.file),
            fmt::format("leave --profile out, or predict from the profiles: ako predict {} "
                        "--profile {}",
                        (fs::path(options.file) / "config.yaml").string(), options.profiles));
    options.run_folder = options.file;
    options.file = (fs::path(options.file) / "config.yaml").string();
    return options;
}

std::vector<MachineProfile> read_profiles(const PredictOptions& options, const Settings& settings,
                                          Grounds& grounds) {
    refuse_program_without_run(options, settings);
    const bool of_run = !options.run_folder.empty();
    std::map<std::string, MachineProfile> found =
        of_run ? made_of_run(options, settings, grounds) : measured(options);
    const std::string digest = network_digest(settings);
    std::vector<MachineProfile> profiles;
    const auto take = [&](const std::string& name, MachineProfile& profile) {
        const std::string file = of_run ? fmt::format("{}: {}", options.run_folder, name)
                                        : fmt::format("{}/{}.json", options.profiles, name);
        if (profile.network != digest) {
            grounds.push_back(file + ": of another network, or of other training.threads");
            found.erase(name);
            return;
        }
        if (!of_run && profile.version != build_commit())
            grounds.push_back(fmt::format(
                "{} was measured by another version ({}): measure again what has changed", file,
                profile.version));
        calibrate(profile, options.runs, options.period_ms / 1e3);
        grounds.push_back(fmt::format("{}: {}, by {}", file, profile.text, profile.measured_by));
        profiles.push_back(std::move(profile));
        found.erase(name);
    };
    for (const PeerSettings& peer : settings.peers)
        if (const auto of_peer = found.find(peer.name); of_peer != found.end())
            take(peer.name, of_peer->second);
    while (!found.empty()) take(found.begin()->first, found.begin()->second);
    if (profiles.empty())
        throw StartupError(
            fmt::format("{}: there is no profile of this network with these training.threads",
                        options.profiles),
            fmt::format("measure it: ako profile {} -o {} --name {}", options.file,
                        options.profiles, settings.run));
    if (profiles.size() == 1) grounds.push_back("assumed: all machines are like this one");
    return profiles;
}

std::vector<MachineProfile> profiles_of_this_machine(std::vector<MachineProfile> profiles) {
    std::erase_if(profiles, [here = this_machine()](const MachineProfile& profile) {
        return profile.text != here;
    });
    return profiles;
}

PredictionQuestion question_of(const PredictOptions& options, const Settings& settings,
                               Grounds& grounds) {
    PredictionQuestion question;
    std::set<std::size_t> machines = {1, settings.peers.size()};
    for (std::size_t count = 2; count < settings.peers.size(); count *= 2) machines.insert(count);
    question.machines.assign(machines.begin(), machines.end());
    if (!options.machines.empty())
        question.machines = counts_in<std::size_t>(options.machines, "--machines", machines_max);
    question.batches = {settings.training.batch.local};
    if (!options.batches.empty())
        question.batches = counts_in<std::size_t>(options.batches, "--batch", 65'536);
    if (!options.cores.empty()) question.cores = numbers_in(options.cores, "--cores");
    question.period_s = options.period_ms / 1e3;
    question.latency_s = options.latency_ms / 1e3;
    question.goodput = options.goodput;
    question.shared = options.shared;
    question.divided = options.divided;
    if ((options.rounds > 0) != (options.noise_scale > 0))
        throw StartupError("--rounds and --noise-scale: the time to a target needs both",
                           "rounds of one machine to it, as in a run's curve.json, and the "
                           "noise_scale in its metrics (training.batch.accumulate: 2)");
    if (options.rounds > 0)
        question.convergence =
            Convergence{options.rounds, settings.training.batch.local, options.noise_scale};
    const bool together = on_one_machine(settings) && options.rates.empty();
    question.one_machine = together && options.cores.empty();
    if (together)
        grounds.push_back(
            "all peers are on one machine, whose processors they share; other machines: --rates "
            "and --machines");
    take_links(options, settings, together, question, grounds);
    return question;
}

PredictionBase base_of(const PredictOptions& options, const Settings& settings,
                       std::vector<MachineProfile> profiles) {
    const bool external = settings.model.kind == ModelKind::external;
    const std::size_t parameter_count = profiles.front().parameter_count;
    const std::size_t data_bytes = external ? 0 : training_data_bytes(settings);
    const auto memory = [=](const Settings& one) {  // a program's own is not known
        return external ? 0 : plan_memory(one, {parameter_count, data_bytes}).usual_bytes();
    };
    return {std::move(profiles), network_layers(settings, parameter_count), reader_of(options),
            memory};
}

}  // namespace ako
