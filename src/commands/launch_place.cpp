// See launch_place.h.
#include "src/commands/launch_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ako/error.h"
#include "src/config/peer_list.h"
#include "src/launch/ports.h"

namespace ako {
namespace {

LaunchPlace on_this_machine(const Settings& settings, const LaunchOptions& options) {
    const PeerWords words = PeerWords::of_command(options.in);
    return {words, "--in", false, settings.peers.size(), ""};
}

/// A task for each peer; fewer where fewer may begin.
std::size_t peers_in(const SlurmAllocation& allocation, const Settings& settings) {
    const std::size_t tasks = allocation.tasks().size();
    const std::size_t peers = settings.peers.size();
    if (tasks >= fewest_peers(settings)) return std::min(tasks, peers);
    throw at_key(settings, "peers",
                 StartupError(fmt::format("{} peers, and job {} of Slurm has {} tasks", peers,
                                          allocation.job(), tasks),
                              fmt::format("ask Slurm for --ntasks={}; --free-ports starts all on "
                                          "this machine",
                                          peers)));
}

LaunchPlace on_nodes_of(const SlurmAllocation& allocation, Settings& settings) {
    const std::vector<SlurmTask>& tasks = allocation.tasks();
    const std::size_t started = peers_in(allocation, settings);
    std::vector<std::string> machines;
    std::string note = fmt::format("job {} of Slurm:", allocation.job());
    for (std::size_t k = 0; k < settings.peers.size(); ++k) {
        // Who has no task is where nobody is yet.
        const SlurmTask& task = tasks[k < started ? k : 0];
        const unsigned port = allocation.first_port() + static_cast<unsigned>(k);
        settings.peers[k].address = fmt::format("{}:{}", task.address, port);
        settings.peers[k].listen = fmt::format("0.0.0.0:{}", port);
        if (k >= started) continue;
        machines.push_back(task.node);
        note += fmt::format("{} {} on {}", k == 0 ? "" : ",", settings.peers[k].name, task.node);
    }
    if (started < settings.peers.size())
        note += fmt::format("; {} of {} peers", started, settings.peers.size());
    const auto first_spare = tasks.begin() + static_cast<std::ptrdiff_t>(started);
    return {PeerWords::of_machines(allocation.start_words(), machines),
            "srun",
            true,
            started,
            note,
            {first_spare, tasks.end()}};
}

}  // namespace

LaunchPlace launch_place(Settings& settings, const LaunchOptions& options) {
    if (options.in.empty() && !options.free_ports) {
        const auto allocation = SlurmAllocation::here(SlurmAllocation::variables());
        if (allocation) return on_nodes_of(*allocation, settings);
    }
    if (options.free_ports || (options.in.empty() && addresses_are_open(settings)))
        use_free_ports(settings);
    require_addresses(settings);
    return on_this_machine(settings, options);
}

bool move_peer(LaunchPlace& place, Settings& settings, std::size_t peer) {
    if (place.spare.empty()) return false;
    const SlurmTask task = place.spare.front();
    place.spare.erase(place.spare.begin());
    place.words.move(peer, task.node);
    std::string& address = settings.peers[peer].address;
    address = task.address + address.substr(address.rfind(':'));
    return true;
}

}  // namespace ako
