// See network_check.h.
#include "src/wiring/network_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>
#include <utility>

#include "ako/error.h"
#include "ako/printable.h"
#include "ako/threads.h"
#include "net/tcp_transport.h"
#include "src/config/cluster_file.h"
#include "src/config/key_places.h"
#include "src/numbers/digest.h"
#include "src/probe/link_probe.h"
#include "src/wiring/hello.h"
#include "src/wiring/link_safety.h"

namespace ako {

namespace {

/// Counts what has changed, for the thread that waits.
class Bell {
  public:
    void ring() {
        {
            const MutexLock lock(mutex_);
            ++rung_;
        }
        rings_.notify_all();
    }
    /// Until it has rung more often than `heard`; how often that is.
    std::size_t wait(std::size_t heard) {
        const MutexLock lock(mutex_);
        rings_.wait(mutex_, [&]() AKO_REQUIRES(mutex_) { return rung_ > heard; });
        return rung_;
    }

  private:
    Mutex mutex_;
    Condition rings_;
    std::size_t rung_ AKO_GUARDED_BY(mutex_) = 0;
};

/// Nobody who trains takes it for its own. All must count the peers alike.
Hello probe_hello(const Settings& settings, PeerIndex self) {
    Hello hello;
    hello.run_name = first_bytes("network check of " + settings.run, text_bytes_max);
    std::string peers = "peers:\n";
    for (std::size_t k = 0; k < settings.peers.size(); ++k)
        peers += fmt::format("  {}: {}\n", k + 1, settings.peers[k].name);
    hello.training_digest = sha256(peers);
    if (peers.size() <= settings_text_bytes_max) hello.settings_text = peers;
    hello.peer_name = settings.peers[self].name;
    hello.process_id = random_process_id();
    return hello;
}

/// One peer of the file while it measures.
struct ProbingPeer {
    ProbingPeer(const Settings& settings, PeerIndex self, const ClusterKey& key, const Clock& clock,
                const ProbeTimes& times, const PeerLog& log, Bell& bell)
        : transport(transport_settings(settings, self, probe_hello(settings, self), key, log),
                    clock),
          probe(self, peer_names(settings), transport, clock, times, [&bell] { bell.ring(); }) {
        naming_key(settings, listen_key(settings, self), [this] { transport.bind(); });
    }
    /// Its network thread must not meet a probe that is gone.
    ~ProbingPeer() { transport.stop(Time{0}); }
    ProbingPeer(const ProbingPeer&) = delete;
    ProbingPeer& operator=(const ProbingPeer&) = delete;

    TcpTransport transport;
    LinkProbe probe;
};

std::string missing_text(const Settings& settings, const ProbingPeer& peer,
                         const std::vector<PeerIndex>& missing) {
    const std::vector<LinkCounters> links = peer.transport.counters();
    std::string text;
    for (const PeerIndex other : missing) {
        const std::string& why = links[other].last_error;
        text += fmt::format("{}{}{}", text.empty() ? "" : "; ", settings.peers[other].name,
                            why.empty() ? "" : " (" + why + ")");
    }
    return text;
}

[[noreturn]] void refuse(const Settings& settings, const ProbingPeer& peer,
                         const ProbeOutcome& outcome) {
    if (!outcome.missing.empty())
        throw StartupError(
            "not all peers have come: missing " + missing_text(settings, peer, outcome.missing),
            fmt::format("each is to be started within a minute of the others: ako check {} "
                        "--network --peer {}",
                        settings.file, settings.peers[outcome.missing.front()].name));
    throw StartupError(outcome.failure, "start it again on all machines; nothing was kept");
}

/// Too little may have come of a link to tell.
void require_figures(const Settings& settings, const std::vector<PairFigures>& pairs) {
    for (const PairFigures& pair : pairs) {
        if (std::min({pair.there, pair.back, pair.there_both, pair.back_both}) > 0) continue;
        throw StartupError(
            fmt::format("next to nothing came over the link between {} and {}",
                        settings.peers[pair.asker].name, settings.peers[pair.asked].name),
            "see to that link and measure again, or say what links carry, Mbit/s: `ako predict` "
            "takes --rates");
    }
}

}  // namespace

std::vector<PairFigures> check_network(const Settings& settings, const std::vector<PeerIndex>& here,
                                       const ProbeTimes& times, const NetworkCheckCalls& calls) {
    const ClusterKey key = read_cluster_key(settings);
    const SteadyClock clock;
    Bell bell;
    std::vector<std::unique_ptr<ProbingPeer>> peers;
    for (const PeerIndex self : here) {
        if (key.none()) check_announced(settings, self, Names::looked_up);
        peers.push_back(
            std::make_unique<ProbingPeer>(settings, self, key, clock, times, calls.log, bell));
    }
    for (const auto& peer : peers) peer->transport.start(peer->probe);
    std::vector<PeerIndex> told;
    for (std::size_t heard = 0;; heard = bell.wait(heard)) {
        bool over = true;
        for (const auto& peer : peers) {
            const ProbeOutcome outcome = peer->probe.outcome();
            over &= outcome.over;
            if (!outcome.failure.empty()) refuse(settings, *peer, outcome);
        }
        if (over) break;
        const std::vector<PeerIndex> missing = peers.front()->probe.outcome().missing;
        if (missing != std::exchange(told, missing)) calls.waits(missing);
    }
    for (const auto& peer : peers) peer->transport.stop(clock.now() + std::chrono::seconds(1));
    std::vector<PairFigures> pairs = peers.front()->probe.outcome().pairs;
    std::sort(pairs.begin(), pairs.end(), [](const PairFigures& one, const PairFigures& other) {
        return std::tie(one.asker, one.asked) < std::tie(other.asker, other.asked);
    });
    require_figures(settings, pairs);
    return pairs;
}

}  // namespace ako
