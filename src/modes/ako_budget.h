// How far this peer and all together have come in the mode `ako`, as far as is known here, and what
// follows from that: how many samples its round takes, and at which learning rate. Compute thread
// only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ako/exchange.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"
#include "src/numbers/batch_growth.h"
#include "src/numbers/batch_plan.h"
#include "src/numbers/budget_share.h"
#include "src/rows/attendance.h"

namespace ako {

class AkoBudget {
  public:
    /// Both outlive this.
    AkoBudget(const ModeSettings& settings, Roster& roster)
        : settings_(settings),
          roster_(roster),
          plan_(settings.training, settings.peer_count()),
          growth_(plan_) {}

    /// This peer's own rounds and samples so far.
    Round round() const { return round_; }
    std::uint64_t samples() const { return samples_; }
    /// The share of the sample budget that all peers have spent, 0 .. 1.
    double progress() const { return share_of_budget(roster_.samples(), settings_.sample_budget); }
    bool spent() const { return roster_.samples() >= settings_.sample_end(); }
    double rate() const { return plan_.learning_rate(progress(), growth_.wish()); }
    /// Samples of this peer's next round: its share among those that take part.
    std::size_t samples_of_round(const Attendance& attendance) const {
        std::size_t place = 0, participants = 1;
        // The published rule weighs every row by 1 / peer_count, whoever is there.
        const bool all = settings_.exchange.rule == Rule::plain;
        for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
            if (peer == settings_.self || !(all || attendance.takes_part(peer))) continue;
            ++participants;
            if (peer < settings_.self) ++place;
        }
        return plan_.share(plan_.global(progress(), growth_.wish()), place, participants);
    }
    /// So many times the batch is doubled, as far as anybody has said.
    unsigned doublings() const { return growth_.wish(); }
    void hear_of_doublings(std::uint64_t doublings) { growth_.hear_of(doublings); }

    /// The row is claimed: goes on from what all know of it.
    void begin() {
        round_ = roster_[settings_.self].announced;
        samples_ = roster_[settings_.self].samples;
    }
    void end_round(const RoundResult& result) {
        growth_.end_round(progress(), growth_.wish(), result.noise_scale);
        samples_ += result.samples;
        add_round();
    }
    /// A round without samples.
    void add_round() { roster_.set_own(++round_, samples_); }

    /// Have others to hear at once of the rounds that they may not know of? If all made as many
    /// more, half of what is left of the budget would be spent. So where rounds are short beside
    /// the interval of news, the end is passed by what is made while a word travels, and not by
    /// what is made between two; elsewhere it is a few words more in a run, and the last rounds'.
    bool wants_word() const {
        const std::uint64_t known = std::min(roster_.samples(), settings_.sample_end());
        const std::uint64_t left = settings_.sample_end() - known;
        return samples_ > samples_told_ &&
               samples_ - samples_told_ >= left / (2 * settings_.peer_count());
    }
    void told() { samples_told_ = samples_; }

  private:
    const ModeSettings& settings_;
    Roster& roster_;
    const BatchPlan plan_;
    BatchGrowth growth_;
    Round round_ = 0;
    std::uint64_t samples_ = 0;
    std::uint64_t samples_told_ = 0;  ///< of them in the newest Status that went out at once
};

}  // namespace ako
