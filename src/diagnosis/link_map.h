// The links of a cluster as a matrix of what each carries, and which of them, or which peer's, is
// narrow. A value; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ako {

struct SeenPeer;

class LinkMap {
  public:
    /// A link is full that had as much to carry as it could for this share of the time. With
    /// `fuller_min` a way is narrow only if it is full for so much more of the time than is usual;
    /// without, all may be full.
    LinkMap(const std::vector<SeenPeer>& peers, double full_min,
            std::optional<double> fuller_min = {});

    /// A way that is narrow: of a peer to all others, of all others to a peer, or one link.
    struct Narrow {
        std::string from;       ///< empty: of all
        std::string to;         ///< likewise
        double mbit = 0;        ///< what it carries while it is full
        double usual_mbit = 0;  ///< what the others do, in the middle; infinite: they are not full
        double full = 0;        ///< share of the time
    };
    /// The one that carries least beside what is usual, if that is less than this part of it.
    std::optional<Narrow> narrowest(double factor) const;

    /// All that a peer sends, or all that it receives: the way that is fuller.
    struct Load {
        double mbit = 0;
        double full = 0;  ///< share of the time, mean over its links
    };
    Load busiest(const std::string& peer) const;

  private:
    struct LinkLoad {
        double mbit = 0;
        double full = 0;
        double round_trip_ms = 0;
    };
    enum class Way { out, in };

    const LinkLoad& link(std::size_t from, std::size_t to) const { return links_[from][to]; }
    const LinkLoad& of_way(Way way, std::size_t peer, std::size_t other) const {
        return way == Way::out ? link(peer, other) : link(other, peer);
    }
    bool is_fuller(double full, std::vector<double> others) const;
    /// What a link carries while it is full; infinite if it hardly ever is.
    double width(const LinkLoad& link) const;
    /// The other ends of those links of a peer that are full, or carry a good part of what its
    /// busiest does.
    const std::vector<std::size_t>& carrying(Way way, std::size_t peer) const {
        return way == Way::out ? carrying_out_[peer] : carrying_in_[peer];
    }
    std::vector<std::size_t> find_carrying(Way way, std::size_t peer) const;
    /// Over these links; likewise the next two.
    double total_mbit(Way way, std::size_t peer) const;
    double mean_full(Way way, std::size_t peer) const;
    /// As `width`, of all that a peer sends or receives.
    double width(Way way, std::size_t peer) const;
    void look_at_peers(Way way, std::vector<Narrow>& found) const;
    void look_at_links(std::vector<Narrow>& found, double factor) const;
    /// Which is narrow where a link is its sender's only way out or its receiver's only way in:
    /// one of these ways or the link itself, told by whose round trips are long.
    Narrow told_by_round_trips(std::size_t from, std::size_t to) const;
    /// The least of a peer's round trips, that to `except` left out.
    double round_trip(std::size_t peer, std::size_t except) const;

    std::vector<std::string> names_;
    std::vector<std::vector<LinkLoad>> links_;                          ///< [from][to]
    std::vector<std::vector<std::size_t>> carrying_out_, carrying_in_;  ///< [peer]
    const double full_min_;
    const std::optional<double> fuller_min_;
};

}  // namespace ako
