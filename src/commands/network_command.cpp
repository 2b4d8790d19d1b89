// See network_command.h.
#include "src/commands/network_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <numeric>

#include "ako/clock.h"
#include "ako/error.h"
#include "ako/printable.h"
#include "src/commands/chosen_mode.h"
#include "src/config/cluster_file.h"
#include "src/predict/network_profile.h"
#include "src/probe/turns.h"
#include "src/system/whole_file.h"
#include "src/wiring/network_check.h"

namespace ako {

namespace {

/// The places of the peers that run here.
std::vector<PeerIndex> peers_here(const NetworkOptions& options, const Settings& settings) {
    if (!options.peer.empty()) return {peer_by_name(settings, options.peer)};
    std::vector<PeerIndex> all(settings.peers.size());
    std::iota(all.begin(), all.end(), PeerIndex{0});
    return all;
}

void say(const std::string& line) {
    fmt::print("{}\n", printable(line));
    std::fflush(stdout);
}

/// As all peers of the file or, on several machines, as one of them.
std::vector<PairFigures> measured(const NetworkOptions& options, const Settings& settings) {
    const std::vector<std::string> names = peer_names(settings);
    const ProbeTimes times;
    const std::size_t turns = turn_count(names.size());
    NetworkCheckCalls calls;
    calls.log.notice = [](const std::string& line) { say(line); };
    calls.waits = [&](const std::vector<PeerIndex>& missing) {
        std::vector<std::string> waited;
        for (const PeerIndex peer : missing) waited.push_back(names[peer]);
        say(waited.empty() ? fmt::format("measuring, {} turns of some {:.0f} s ..", turns,
                                         3 * seconds_of(times.flood))
                           : fmt::format("waiting for {}", fmt::join(waited, ", ")));
    };
    try {
        return check_network(settings, peers_here(options, settings), times, calls);
    } catch (const StartupError& error) {
        if (!options.peer.empty()) throw;
        throw StartupError(error.what(),
                           fmt::format("{}\nor, where peers are on several machines, start each "
                                       "on its own: ako check {} --network --peer {}",
                                       error.hint(), options.file, names.front()));
    }
}

}  // namespace

ExitStatus check_network_of(const NetworkOptions& options) {
    std::vector<std::string> overrides = options.overrides;
    const Settings settings = read_for_all_modes(options.file, overrides);
    if (settings.peers.size() < 2)
        throw StartupError(options.file + ": one peer has no link to measure",
                           "list the other peers under `peers`");
    make_folder_for(options.output, "-o");
    const NetworkProfile network = network_profile(settings, measured(options, settings));
    fmt::print("{}", network_text(network));
    const std::string file = fmt::format("{}/{}.json", options.output, network_profile_name);
    write_whole_file(file, to_json_text(network));
    fmt::print("network: {}\n", file);
    return exit_ok;
}

}  // namespace ako
