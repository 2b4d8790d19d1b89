// See link_map.h.
#include "src/diagnosis/link_map.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/diagnosis/find_bottleneck.h"
#include "src/numbers/usual.h"

namespace ako {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// A link carries much from this part of a peer's busiest one on. In a ring small layers go to all,
/// which is less.
constexpr double carrying_part = 0.3;
/// One end's round trips are long if above so many times the other's plus so many ms.
constexpr double long_factor = 2;
constexpr double long_ms = 1;

double usual(std::vector<double> widths) { return usual_of(std::move(widths), infinite); }

/// 0 is the narrowest.
double part_of_usual(const LinkMap::Narrow& narrow) {
    return narrow.usual_mbit == infinite ? 0 : narrow.mbit / narrow.usual_mbit;
}

}  // namespace

LinkMap::LinkMap(const std::vector<SeenPeer>& peers, double full_min,
                 std::optional<double> fuller_min)
    : full_min_(full_min), fuller_min_(fuller_min) {
    for (const SeenPeer& peer : peers) names_.push_back(peer.name);
    links_.assign(names_.size(), std::vector<LinkLoad>(names_.size()));
    for (std::size_t from = 0; from < peers.size(); ++from) {
        for (const LinkLine& line : peers[from].line->links) {
            const auto to = std::find(names_.begin(), names_.end(), line.peer);
            if (to == names_.end()) continue;
            links_[from][static_cast<std::size_t>(to - names_.begin())] = {
                line.usage.egress_mbit, line.usage.full, line.usage.round_trip_ms};
        }
    }
    for (std::size_t peer = 0; peer < names_.size(); ++peer) {
        carrying_out_.push_back(find_carrying(Way::out, peer));
        carrying_in_.push_back(find_carrying(Way::in, peer));
    }
}

bool LinkMap::is_fuller(double full, std::vector<double> others) const {
    return !fuller_min_ || full >= usual_of(std::move(others), 0) + *fuller_min_;
}

double LinkMap::width(const LinkLoad& link) const {
    return link.full < full_min_ / 2 ? infinite : link.mbit / link.full;
}

std::vector<std::size_t> LinkMap::find_carrying(Way way, std::size_t peer) const {
    double most = 0;
    for (std::size_t other = 0; other < names_.size(); ++other)
        most = std::max(most, of_way(way, peer, other).mbit);
    std::vector<std::size_t> ends;
    for (std::size_t other = 0; other < names_.size(); ++other) {
        const LinkLoad& here = of_way(way, peer, other);
        const bool much = here.mbit >= carrying_part * most || here.full >= full_min_;
        if (other != peer && here.mbit > 0 && much) ends.push_back(other);
    }
    return ends;
}

double LinkMap::mean_full(Way way, std::size_t peer) const {
    const std::vector<std::size_t>& ends = carrying(way, peer);
    double sum = 0;
    for (const std::size_t other : ends) sum += of_way(way, peer, other).full;
    return ends.empty() ? 0 : sum / static_cast<double>(ends.size());
}

double LinkMap::width(Way way, std::size_t peer) const {
    const double full = mean_full(way, peer);
    return full < full_min_ / 2 ? infinite : total_mbit(way, peer) / full;
}

double LinkMap::total_mbit(Way way, std::size_t peer) const {
    double mbit = 0;
    for (const std::size_t other : carrying(way, peer)) mbit += of_way(way, peer, other).mbit;
    return mbit;
}

std::optional<LinkMap::Narrow> LinkMap::narrowest(double factor) const {
    std::vector<Narrow> found;
    look_at_peers(Way::out, found);
    look_at_peers(Way::in, found);
    look_at_links(found, factor);
    // Beside ways that are not full, the fullest: one link alone fills its ends a little.
    const auto least = std::min_element(
        found.begin(), found.end(), [](const Narrow& one, const Narrow& other) {
            return std::pair(part_of_usual(one), -one.full) <
                   std::pair(part_of_usual(other), -other.full);
        });
    if (least == found.end() || part_of_usual(*least) >= factor) return std::nullopt;
    return *least;
}

LinkMap::Load LinkMap::busiest(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return {};
    const auto peer = static_cast<std::size_t>(found - names_.begin());
    Load busiest;
    for (const Way way : {Way::out, Way::in}) {
        const Load load{total_mbit(way, peer), mean_full(way, peer)};
        if (load.full >= busiest.full) busiest = load;
    }
    return busiest;
}

// A peer with one such link alone is looked at with the links.
void LinkMap::look_at_peers(Way way, std::vector<Narrow>& found) const {
    for (std::size_t peer = 0; peer < names_.size(); ++peer) {
        const double full = mean_full(way, peer);
        if (full < full_min_ || carrying(way, peer).size() < 2) continue;
        std::vector<double> others, others_full;
        for (std::size_t other = 0; other < names_.size(); ++other) {
            if (other == peer) continue;
            others.push_back(width(way, other));
            others_full.push_back(mean_full(way, other));
        }
        if (!is_fuller(full, std::move(others_full))) continue;
        Narrow narrow{names_[peer], "", width(way, peer), usual(std::move(others)), full};
        if (way == Way::in) std::swap(narrow.from, narrow.to);
        found.push_back(std::move(narrow));
    }
}

void LinkMap::look_at_links(std::vector<Narrow>& found, double factor) const {
    for (std::size_t from = 0; from < names_.size(); ++from) {
        for (const std::size_t to : carrying(Way::out, from)) {
            const LinkLoad& here = link(from, to);
            if (here.full < full_min_) continue;
            std::vector<double> same_out, same_in, all, all_full;
            for (std::size_t one = 0; one < names_.size(); ++one) {
                for (const std::size_t other : carrying(Way::out, one)) {
                    if (one == from && other == to) continue;
                    const double other_width = width(link(one, other));
                    all.push_back(other_width);
                    all_full.push_back(link(one, other).full);
                    if (one == from) same_out.push_back(other_width);
                    if (other == to) same_in.push_back(other_width);
                }
            }
            if (!is_fuller(here.full, std::move(all_full))) continue;
            // Where its neighbours are as narrow, it is an end that is, and not this link.
            const double own = width(here);
            if (own >= factor * usual(same_out) || own >= factor * usual(same_in)) continue;
            Narrow narrow{names_[from], names_[to], own, usual(all), here.full};
            if (same_out.empty() || same_in.empty()) {
                const Narrow ends = told_by_round_trips(from, to);
                narrow.from = ends.from;
                narrow.to = ends.to;
            }
            found.push_back(std::move(narrow));
        }
    }
}

// What is queued before the narrow end delays all that passes it, its heartbeats to the others too;
// what is queued on the way between the two delays nobody else.
LinkMap::Narrow LinkMap::told_by_round_trips(std::size_t from, std::size_t to) const {
    Narrow narrow;
    narrow.from = names_[from];
    narrow.to = names_[to];
    const double of_from = round_trip(from, to);
    const double of_to = round_trip(to, from);
    if (of_from > long_factor * of_to + long_ms)
        narrow.to.clear();
    else if (of_to > long_factor * of_from + long_ms)
        narrow.from.clear();
    return narrow;
}

double LinkMap::round_trip(std::size_t peer, std::size_t except) const {
    double least = infinite;
    for (std::size_t other = 0; other < names_.size(); ++other) {
        if (other == peer || other == except) continue;
        const double there = link(peer, other).round_trip_ms;
        const double back = link(other, peer).round_trip_ms;
        if (there > 0 && back > 0) least = std::min(least, (there + back) / 2);  // 0: not known
    }
    return least;
}

}  // namespace ako
