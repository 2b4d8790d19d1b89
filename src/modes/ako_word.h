// What a peer of the mode `ako` says of itself: puts its Status together, and knows what the newest
// one said. Compute thread only.
#pragma once

#include <optional>
#include <utility>

#include "ako/threads.h"
#include "src/modes/ako_parts.h"

namespace ako {

class AkoWord {
  public:
    /// How this peer ends.
    struct End {
        bool finishes = false;
        bool leaves = false;
    };

    /// `parts` outlives this.
    explicit AkoWord(AkoParts& parts) : parts_(parts) {}

    /// Says how it is; unless it is `urgent`, only where that is news.
    void post(bool urgent, const End& end) AKO_COMPUTE_THREAD;
    /// The loss of the newest round.
    void set_loss(std::optional<float> loss) { loss_ = loss; }
    void set_verdict(const Verdict& verdict) { verdict_ = verdict; }
    /// Another has told this one, which counts if it is newer.
    void hear_verdict(const std::optional<Verdict>& verdict) {
        if (verdict && (!verdict_ || verdict->progress > verdict_->progress)) verdict_ = verdict;
    }
    const std::optional<Verdict>& verdict() const { return verdict_; }

    bool has_said_last_round() const { return posted_ && posted_->standing.final_round; }

  private:
    AkoParts& parts_;
    std::optional<float> loss_;
    std::optional<Verdict> verdict_;  ///< the newest known of
    std::optional<Status> posted_;    ///< the newest
};

}  // namespace ako
