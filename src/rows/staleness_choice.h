// Whether the peers keep step, each waiting for the newest round of the others, chosen for all by
// the lowest live one: `staleness_rounds_max: auto`. The newest rows save rounds, up to a third of
// them by network, and cost time: a whole row travels in every round, and all go at the pace of the
// slowest. What they save nobody can see in time, so a share of the pace is set that is worth it;
// what they cost is measured. All begin by waiting, for old rows harm most in the first rounds
// (experiments/update-rule), unless that takes far too long. After 64 rounds, 256, .. they go the
// other way for a stretch of rounds, and keep step from then on if they made at least 1 - `worth`
// of the rounds that they make where nobody waits. Waiting that has become slow ends at once, and
// is tried anew after a stretch.
//
// A peer that makes far fewer rounds than the others is left out: nobody waits for it, until it
// keeps up again. If half of all are, nobody waits for anybody. The same peer says from which
// rounds on they are counted, also with a bound that is set: anew whenever one that trains is out
// of step, as it is when it came late. Compute thread only.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ako/status.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"

namespace ako {

class StalenessChoice {
  public:
    /// This share of the pace. What it saves: 0 to 30 % of the rounds (experiments/update-rule).
    static constexpr double worth = 0.2;
    /// Who makes less than this share of the rounds that others make is left out, and who makes
    /// this share again no more; and waiting that has fallen to `slow_share` of its pace ends.
    static constexpr double slow_share = 0.8, keeps_up_share = 0.9;
    /// Rounds that are measured, after so many in which they come to their pace; and so many that
    /// waiting may lose before it is broken off.
    static constexpr Round stretch = 16, settling = 4, losing = 3;
    /// Rounds until the other way is tried again, at first and at most; each time so many times
    /// more, for as long as the choice stays.
    static constexpr Round keeps_min = 64, keeps_max = 4096, keeps_growth = 4;
    /// So long the first rounds may be waited for, for peers may begin one after the other.
    static constexpr Time begins_within = std::chrono::seconds(1);
    /// Waiting is not tried where rows are older than so many rounds, by links or because fresher
    /// ones cost more than they save, or where that many are made while a message travels.
    static constexpr Round rows_late_max = 8, under_way_max = 2;

    /// `fixed`: that bound from the beginning, 0 is none; nothing: it is chosen. The others outlive
    /// this.
    StalenessChoice(std::optional<unsigned> fixed, const Roster& roster, const Ledger& ledger);

    /// What holds now.
    const Waits& waits() const { return waits_; }
    /// This peer waits for others where all do; else nobody waits for it either.
    bool keeps_step() const { return fixed_ != 0; }
    /// What another has said: the newest word counts.
    void hear(const Waits& waits) { waits_ = std::max(waits_, waits); }
    /// Chooses, where that is up to this peer. To be called as time passes.
    void look(Time now);
    /// Tenths of its time that this peer has waited since the newest choice.
    void set_waited(std::uint8_t tenths) { waited_tenths_ = tenths; }
    std::uint8_t waited() const { return waited_tenths_; }

    /// A choice other than the last, for the log, one time: the rounds per second of those that it
    /// is of.
    struct Chosen {
        Waits waits;
        double waiting = 0, free = 0;  ///< as measured
    };
    std::optional<Chosen> take_chosen() { return std::exchange(chosen_, std::nullopt); }
    /// For people.
    static std::string text(const Chosen& chosen, const std::vector<std::string>& peer_names);

  private:
    enum class Phase { keeps, tries_waiting, tries_free };
    /// [peer_count], rounds per second; 0: not measured.
    using Pace = std::vector<double>;
    /// Since when a pace is measured, and of whom.
    struct Mark {
        Time at{};
        PeerSet of = 0;
        std::vector<Round> rounds;  ///< [peer_count]
    };

    bool chooses() const;
    /// Those that train, this one included.
    PeerSet there() const;
    bool in_step() const;
    Round own_round() const { return roster_[roster_.self()].announced; }
    bool waits_now() const { return waits_.rounds_max > 0; }

    void measure_anew(Time now);
    Mark mark(Time now) const;
    /// Since when it goes as it does; once it is at its pace, since then.
    const Mark& newest_mark() const { return mark_ ? *mark_ : since_; }
    /// The pace of the stretch that has just ended, one time.
    std::optional<Pace> measured(Time now);
    Pace pace_since(const Mark& mark, Time now) const;
    /// Of those peers whose other pace is known, too.
    static double sum(const Pace& pace, const Pace& other);

    PeerSet unwilling() const;
    PeerSet too_slow() const;
    /// Those left out that need not be any more.
    PeerSet keep_up(const Pace& pace) const;
    bool rows_are_late() const;
    /// Tenths that those who keep step wait, in the mean.
    double mean_waited() const;
    bool worth_it() const { return sum(waiting_, free_) >= (1 - worth) * sum(free_, waiting_); }
    /// Waiting has become slow, or is as tried: it need not be measured to the end of the stretch.
    bool loses_already(Time now) const;

    void begin_anew(Time now);
    void go_free(Time now);
    void judge(const Pace& pace, Time now);
    void judge_waiting(const Pace& pace, Time now);
    void try_waiting(PeerSet left_out, Time now);
    void choose(bool waits, Time now);
    void tell(unsigned rounds_max, PeerSet left_out, Time now);

    const std::optional<unsigned> fixed_;
    const Roster& roster_;
    const Ledger& ledger_;
    Waits waits_;
    std::uint8_t waited_tenths_ = 0;

    // Of the peer that chooses.
    std::optional<Waits> said_;  ///< its newest word
    Phase phase_ = Phase::keeps;
    bool chose_waiting_ = false;  ///< before the try
    Mark since_;                  ///< it goes as it does
    std::optional<Mark> mark_;    ///< once it is at its pace
    Pace free_, waiting_;         ///< as measured last
    Round keeps_ = keeps_min;
    Round try_at_ = 0;  ///< own round
    std::optional<Chosen> chosen_;
    std::optional<Waits> newest_chosen_;
};

}  // namespace ako
