// See find_bottleneck.h. The rules, in this order: memory, input, processor, network. Each asks
// whether one peer, or one link, is far from what is usual among the others, so a balanced cluster
// has none, however slow all of it is.
#include "src/diagnosis/find_bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/diagnosis/link_map.h"
#include "src/numbers/usual.h"

namespace ako {
namespace {

using Kind = Bottleneck::Kind;

/// A peer is slow from so many times on what its rounds take at the others.
constexpr double slow_factor = 1.3;
/// .. if that is this part of a whole round: else something else is what rounds are made of.
constexpr double slow_part = 0.15;
/// Most of what it takes longer is time without a processor: then that is the cause.
constexpr double cause_share = 0.5;
/// From so many pages a second on that are read again, and so many times the others', a machine has
/// too little memory.
constexpr double faults_per_s_min = 50;
constexpr double faults_factor = 5;
/// Input counts from this share of the time on, and from so many times the others'.
constexpr double input_share_min = 0.2;
constexpr double input_factor = 3;
/// A server's threads that have or want a processor for this share of the time are its limit.
constexpr double server_busy_min = 0.85;
/// Where all wait for each other: from this share of the time on it matters who is waited for.
constexpr double wait_share_min = 0.2;
/// A link limits that is full for this share of the time: of a round that waits, or of all.
constexpr double full_min_lockstep = 0.3;
constexpr double full_min_free = 0.7;
/// Where all wait for each other, what is waited for is full while the others are not, and by so
/// much: of links that are alike chance decides which is full a little longer.
constexpr double fuller_min_lockstep = 0.2;
/// A link, or all of a peer's, is narrow that carries less than this part of what is usual.
constexpr double narrow_factor = 0.6;
/// A server whose ways are full is the limit if it carries so many times what a worker does.
constexpr double server_factor = 1.5;
/// Rows are old from so many times the usual on, if that is so many rounds more.
constexpr double old_factor = 1.5;
constexpr double old_rounds = 2;

const Usage& usage(const SeenPeer& peer) { return peer.line->usage; }

double ms_per_round(double share, const SeenPeer& peer) {
    return 1e3 * share / usage(peer).rounds_per_s;
}

class Finder {
  public:
    Finder(const std::vector<SeenPeer>& peers, bool lockstep) : lockstep_(lockstep) {
        for (const SeenPeer& peer : peers) {
            if (peer.line == nullptr || usage(peer).seconds <= 0) continue;
            peers_.push_back(peer);
        }
        for (const SeenPeer& peer : peers_)
            if (!peer.serves_only && usage(peer).rounds_per_s > 0) workers_.push_back(&peer);
    }

    Bottleneck find() const {
        if (peers_.size() < 2 || workers_.empty()) return {};
        for (const auto rule :
             {&Finder::memory, &Finder::input, &Finder::processor, &Finder::server_processor,
              &Finder::network, &Finder::server_network}) {
            if (auto found = (this->*rule)()) return *std::move(found);
        }
        return balanced();
    }

  private:
    /// What is usual among all workers but `except` (null: among all).
    template <typename Of>
    double usual(const SeenPeer* except, Of of) const {
        std::vector<double> numbers;
        for (const SeenPeer* peer : workers_)
            if (peer != except) numbers.push_back(of(*peer));
        return usual_of(std::move(numbers), 0);
    }
    template <typename Of>
    const SeenPeer* most(Of of) const {
        return *std::max_element(
            workers_.begin(), workers_.end(),
            [&of](const SeenPeer* one, const SeenPeer* other) { return of(*one) < of(*other); });
    }

    std::optional<Bottleneck> memory() const {
        const auto faults = [](const SeenPeer& peer) { return usage(peer).major_faults_per_s; };
        const SeenPeer* peer = most(faults);
        if (faults(*peer) < std::max(faults_per_s_min, faults_factor * usual(peer, faults)))
            return std::nullopt;
        std::string limit;
        if (peer->line->memory_limit > 0)
            limit = fmt::format(" of the {:.0f} MB that it may have",
                                static_cast<double>(peer->line->memory_limit) * 1e-6);
        return Bottleneck{
            Kind::memory, peer->name, "",
            fmt::format("{} reads {:.0f} pages a second from its disk again and holds {:.0f} MB{}",
                        peer->name, faults(*peer),
                        static_cast<double>(peer->line->memory_bytes) * 1e-6, limit),
            "more memory for it, or fewer other programs there"};
    }

    std::optional<Bottleneck> input() const {
        const auto share = [](const SeenPeer& peer) { return usage(peer).input; };
        const SeenPeer* peer = most(share);
        const double others = usual(peer, share);
        if (share(*peer) < input_share_min || share(*peer) < input_factor * others)
            return std::nullopt;
        return Bottleneck{
            Kind::input, peer->name, "",
            fmt::format("{} waits for its batches {:.0f} % of the time, the others {:.0f} %",
                        peer->name, 100 * share(*peer), 100 * others),
            "a faster disk for its data, or the data in memory"};
    }

    std::optional<Bottleneck> processor() const {
        if (workers_.size() < 2) return std::nullopt;
        const auto own = [](const SeenPeer& peer) {
            return ms_per_round(usage(peer).gradient + usage(peer).input, peer);
        };
        const auto queued = [](const SeenPeer& peer) {
            return ms_per_round(usage(peer).compute_runnable, peer);
        };
        const SeenPeer* peer = most(own);
        const double others = usual(peer, own);
        const double longer = own(*peer) - others;
        if (own(*peer) < slow_factor * others || longer < slow_part * ms_per_round(1, *peer))
            return std::nullopt;
        const double queued_longer = queued(*peer) - usual(peer, queued);
        std::string evidence =
            fmt::format("{} computes {:.0f} ms per round, the others {:.0f}", peer->name,
                        own(*peer), others);
        if (queued_longer < cause_share * longer)
            return Bottleneck{Kind::straggler, peer->name, "",
                              evidence + ", although it is not kept from its processor",
                              "a smaller batch for it, or a faster machine"};
        evidence += fmt::format("; {:.0f} % of the time it could run and has no processor",
                                100 * std::min(1.0, usage(*peer).compute_runnable));
        const double throttled = usage(*peer).throttled;
        if (throttled > 0.1)
            evidence += fmt::format(", {:.0f} % since its quota is spent", 100 * throttled);
        return Bottleneck{Kind::processor, peer->name, "", evidence,
                          throttled > 0.1
                              ? "a larger quota for it, or a smaller batch"
                              : "fewer other programs there, or a smaller batch for it"};
    }

    std::optional<Bottleneck> server_processor() const {
        if (!lockstep_ || waits() < wait_share_min) return std::nullopt;
        for (const SeenPeer& peer : peers_) {
            const Usage& used = usage(peer);
            const double busy = used.network_running + used.network_runnable;
            if (!peer.serves_only || busy < server_busy_min) continue;
            return Bottleneck{
                Kind::server_processor, peer.name, "",
                fmt::format("{} serves {:.0f} % of the time, and without a processor in {:.0f} %; "
                            "the others wait {:.0f} % of theirs",
                            peer.name, 100 * busy, 100 * used.network_runnable, 100 * waits()),
                "a larger share of its processor, or one more server"};
        }
        return std::nullopt;
    }

    /// The share of the time that workers wait, in the middle.
    double waits() const {
        return usual(nullptr, [](const SeenPeer& peer) { return usage(peer).wait; });
    }

    std::optional<Bottleneck> network() const {
        if (lockstep_ && waits() < wait_share_min) return std::nullopt;
        const LinkMap map = lockstep_ ? LinkMap(peers_, full_min_lockstep, fuller_min_lockstep)
                                      : LinkMap(peers_, full_min_free);
        const std::optional<LinkMap::Narrow> narrow = map.narrowest(narrow_factor);
        if (!narrow) return std::nullopt;
        const bool matters = lockstep_ || makes_old(*narrow);
        if (!matters) return std::nullopt;
        return named(*narrow);
    }

    /// A server that carries what all workers do, on ways that are full, although none is narrow.
    std::optional<Bottleneck> server_network() const {
        if (!lockstep_ || waits() < wait_share_min) return std::nullopt;
        const LinkMap map(peers_, full_min_lockstep);
        double of_workers = 0;
        for (const SeenPeer* worker : workers_)
            of_workers = std::max(of_workers, map.busiest(worker->name).mbit);
        for (const SeenPeer& peer : peers_) {
            const LinkMap::Load load = map.busiest(peer.name);
            if (!peer.serves_only || load.full < full_min_lockstep ||
                load.mbit < server_factor * of_workers)
                continue;
            return Bottleneck{
                Kind::server_network, peer.name, "",
                fmt::format("{} carries {:.1f} Mbit/s, a worker at most {:.1f}, and its ways are "
                            "full {:.0f} % of the time, in which the others wait",
                            peer.name, load.mbit, of_workers, 100 * load.full),
                "more bandwidth for it, or one more server"};
        }
        return std::nullopt;
    }

    bool is_seen(const std::string& name) const {
        return std::any_of(peers_.begin(), peers_.end(),
                           [&name](const SeenPeer& peer) { return peer.name == name; });
    }

    /// Are the rows that come that way older than is usual?
    bool makes_old(const LinkMap::Narrow& narrow) const {
        std::vector<double> there, elsewhere;
        for (const SeenPeer& to : peers_) {
            for (const LinkLine& link : to.line->links) {
                if (!is_seen(link.peer)) continue;
                const bool is_there = (narrow.from.empty() || narrow.from == link.peer) &&
                                      (narrow.to.empty() || narrow.to == to.name);
                (is_there ? there : elsewhere).push_back(link.usage.staleness_rounds);
            }
        }
        const double usual = usual_of(elsewhere, 0);
        const double limit = std::max(old_factor * usual, usual + old_rounds);
        return !there.empty() && usual_of(there, 0) >= limit;
    }

    Bottleneck named(const LinkMap::Narrow& narrow) const {
        const bool one = !narrow.from.empty() && !narrow.to.empty();
        const std::string& end = narrow.from.empty() ? narrow.to : narrow.from;
        Bottleneck found;
        found.kind = one ? Kind::link : narrow.to.empty() ? Kind::egress : Kind::ingress;
        found.peer = end;
        if (one) found.other = narrow.to;
        const std::string what = one                  ? fmt::format("{} -> {}", end, narrow.to)
                                 : narrow.to.empty() ? fmt::format("what {} sends", end)
                                                      : fmt::format("what {} receives", end);
        found.evidence = fmt::format(
            "{} comes to {:.1f} Mbit/s while the way is full, which it is {:.0f} % of the time; "
            "{} usual here",
            what, narrow.mbit, 100 * narrow.full,
            std::isfinite(narrow.usual_mbit) ? fmt::format("{:.1f} Mbit/s are", narrow.usual_mbit)
                                             : std::string("ways that are not full are"));
        found.remedy = lockstep_ ? "more bandwidth there, or a mode in which nobody waits for it"
                                 : "more bandwidth there; the others go on meanwhile";
        for (const SeenPeer& peer : peers_)
            if (peer.serves_only && !one && peer.name == end) {
                found.kind = Kind::server_network;
                found.remedy = "more bandwidth for it, or one more server";
            }
        return found;
    }

    Bottleneck balanced() const {
        const double wait = waits();
        const double compute = usual(nullptr, [](const SeenPeer& peer) {
            return usage(peer).gradient + usage(peer).input;
        });
        std::string evidence = fmt::format(
            "all are alike: they compute {:.0f} % of the time and exchange {:.0f} %",
            100 * compute, 100 * wait);
        const bool network = lockstep_ && wait > compute;
        return {Kind::none, "", "", evidence,
                network ? "the network of all is the limit: more bandwidth, or fewer bytes" : ""};
    }

    const bool lockstep_;
    std::vector<SeenPeer> peers_;
    std::vector<const SeenPeer*> workers_;
};

}  // namespace

Bottleneck find_bottleneck(const std::vector<SeenPeer>& peers, bool lockstep) {
    return Finder(peers, lockstep).find();
}

}  // namespace ako
