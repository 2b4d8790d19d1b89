// Tells whether another process is live under this peer's own name. A peer that has a session with
// the other process refuses this one, and says where the other is. A process that died without a
// word may be taken for live for a life time-out, and both ends of a session may take as long to
// notice. A process that is refused for longer than that is the second of two, and must end. Pure,
// with explicit time.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "ako/transport.h"
#include "ako/types.h"

namespace ako {

class NameTaken {
  public:
    /// Beside two life time-outs: a dial, after the longest wait between two.
    static constexpr Time redial = std::chrono::seconds(1);

    explicit NameTaken(Time life_timeout) : patience_(2 * life_timeout + redial) {}

    /// Judges by all links together: this process is the second of its name if more peers refuse it
    /// than have a session with it. A process that `trains` is the second only if nobody has a
    /// session with it: a later one, taken in by a peer that had lost this one, must not end both.
    void look(const std::vector<LinkCounters>& links, bool trains, Time now) {
        const auto up = [](const LinkCounters& link) { return link.up; };
        const auto refusing = std::count_if(links.begin(), links.end(), refused);
        const auto standing = std::count_if(links.begin(), links.end(), up);
        taken_ = refusing > standing && !(trains && standing > 0);
        if (!taken_) since_.reset();
        if (taken_ && !since_) since_ = now;
    }
    /// Somebody says so.
    bool taken() const { return taken_; }
    /// And for so long that there are two processes of this name.
    bool for_good(Time now) const { return since_ && now - *since_ >= patience_; }

    /// For people: which peers see the other process, and where.
    static std::string why(PeerIndex self, const std::vector<std::string>& names,
                           const std::vector<LinkCounters>& links) {
        std::string who;
        for (PeerIndex peer = 0; peer < links.size(); ++peer) {
            if (!refused(links[peer])) continue;
            who += (who.empty() ? "" : ", ") + names[peer] + " sees it at " +
                   links[peer].name_taken_by;
        }
        return "another process runs as peer " + names[self] + " (" + who +
               "): end that one first, or start this one as another peer of the file";
    }

  private:
    static bool refused(const LinkCounters& link) {
        return !link.up && !link.name_taken_by.empty();
    }

    const Time patience_;
    bool taken_ = false;
    std::optional<Time> since_;
};

}  // namespace ako
