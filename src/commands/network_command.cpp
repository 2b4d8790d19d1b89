// See network_command.h.
#include "src/commands/network_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "ako/error.h"
#include "ako/printable.h"
#include "src/commands/chosen_mode.h"
#include "src/predict/network_profile.h"
#include "src/probe/turns.h"
#include "src/system/whole_file.h"
#include "src/wiring/network_check.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const Settings& settings) {
    std::vector<std::string> names;
    for (const PeerSettings& peer : settings.peers) names.push_back(peer.name);
    return names;
}

/// The places of the peers that run here.
std::vector<PeerIndex> peers_here(const NetworkOptions& options, const Settings& settings) {
    const std::vector<std::string> names = names_of(settings);
    std::vector<PeerIndex> here;
    for (PeerIndex peer = 0; peer < names.size(); ++peer)
        if (options.peer.empty() || options.peer == names[peer]) here.push_back(peer);
    if (here.empty())
        throw StartupError(fmt::format("--peer {}: no peer of {}", options.peer, options.file),
                           fmt::format("its peers: {}", fmt::join(names, ", ")));
    return here;
}

void make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw StartupError(fmt::format("{}: cannot be made: {}", folder, error.message()),
                           "name another folder with -o");
}

void say(const std::string& line) {
    fmt::print("{}\n", printable(line));
    std::fflush(stdout);
}

}  // namespace

ExitStatus check_network_of(const NetworkOptions& options) {
    std::vector<std::string> overrides = options.overrides;
    const Settings settings = read_for_all_modes(options.file, overrides);
    if (settings.peers.size() < 2)
        throw StartupError(options.file + ": one peer has no link to measure",
                           "list the other peers under `peers`");
    const std::vector<PeerIndex> here = peers_here(options, settings);
    make_folder(options.output);
    const std::vector<std::string> names = names_of(settings);
    NetworkCheckCalls calls;
    calls.log.notice = [](const std::string& line) { say(line); };
    const ProbeTimes times;
    const std::size_t turns = turn_count(names.size());
    const double turn_s = 3 * seconds_of(times.flood);
    calls.waits = [&](const std::vector<PeerIndex>& missing) {
        std::vector<std::string> waited;
        for (const PeerIndex peer : missing) waited.push_back(names[peer]);
        say(waited.empty() ? fmt::format("measuring, {} turns of some {:.0f} s ..", turns, turn_s)
                           : fmt::format("waiting for {}", fmt::join(waited, ", ")));
    };
    const NetworkProfile network =
        network_profile(names, check_network(settings, here, times, calls));
    fmt::print("{}", network_text(network));
    const std::string file = fmt::format("{}/{}.json", options.output, network_profile_name);
    write_whole_file(file, to_json_text(network));
    fmt::print("network: {}\n", file);
    return exit_ok;
}

}  // namespace ako
