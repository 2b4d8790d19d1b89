// The traffic half of an elastic ring: who of the file is there, when the members must agree on
// another epoch, and what each is told of it. The agreement is EpochVote's business, sums and
// states that of ElasticRing.
//
// An epoch ends when
//  - a session between two members has ended, for a frame may be lost with it;
//  - a member is gone: its process is over, it left, or it was silent for the life time-out;
//  - a newcomer has had nothing of the state for the life time-out;
//  - a member hangs: all have waited for it for three quarters of the finish time-out;
//  - a process asks to come in.
// A member that can be reached again before it is lost stays in. The lowest member that is there
// proposes; the next ones wait their turns, longer each time that a proposal fails. Where two
// members do not hear each other for the life time-out the higher one is left out.
//
// Network thread only. Speaks to the compute half through the mailbox and the two boards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/threads.h"
#include "src/agreement/epoch_vote.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/elastic_ring.h"
#include "src/buckets/epoch_board.h"
#include "src/exchange/departures.h"
#include "src/exchange/halves.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/run_bounds.h"

namespace ako {

class ElasticTraffic final : public TrafficHalf {
  public:
    /// All references outlive this.
    ElasticTraffic(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                   BucketBoard& board, EpochBoard& epochs, ElasticRing& ring, Transport& transport,
                   const Clock& clock);

    std::optional<OutFrame> next_control(PeerIndex peer) override AKO_NETWORK_THREAD;
    std::optional<OutFrame> next(PeerIndex peer,
                                 std::size_t payload_bytes_max) override AKO_NETWORK_THREAD;
    /// As BucketTraffic.
    double unsent_payloads() const override AKO_NETWORK_THREAD { return 2; }

    std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                      std::size_t bytes) override AKO_NETWORK_THREAD;
    std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                       std::size_t bytes) override AKO_NETWORK_THREAD;
    PooledBuffer arrived(PeerIndex peer, const Header& header, Destination destination,
                         Time arrived_at) override AKO_NETWORK_THREAD;
    void abandoned(PeerIndex peer, Destination destination) override AKO_NETWORK_THREAD;
    std::optional<Reject> admit(PeerIndex, const Hello&) override AKO_NETWORK_THREAD {
        return std::nullopt;
    }
    void session_up(PeerIndex peer, const Hello& hello) override AKO_NETWORK_THREAD;
    void session_down(PeerIndex peer, const std::string& why, Time silence,
                      bool left) override AKO_NETWORK_THREAD;
    void peer_lost(PeerIndex peer, const std::string& why) override AKO_NETWORK_THREAD;
    void poll(const Word& word, Time now) override AKO_NETWORK_THREAD;

  private:
    struct Link {
        bool up = false;
        bool ever_up = false;
        std::uint64_t process = 0;  ///< of the newest session
        bool heard = false;         ///< `said`, in this session
        Membership said;
        bool left = false;
        bool lost = false;                 ///< silent for the life time-out
        bool nobody_listens = false;       ///< where it was, says the newest dial
        std::optional<Time> absent_since;  ///< nobody listens; of one that was never met
        std::optional<Time> broke_at;      ///< its session, and not by silence
        std::uint64_t fell = 0;            ///< the newest process that did: see EpochVote
        bool membership_due = false;
        bool state_due = false;            ///< it comes in and needs to hear what is known
        std::optional<MemberState> state;  ///< what it told this peer, which comes in
        Time moved_at{};                   ///< when more had come, or nothing waited for it, last
        Round round = 0;                   ///< the newest it has announced
        bool hangs = false;                ///< others came further, and wait for it for long
        std::uint64_t taken_in = 0;        ///< the newest process that was taken in,
        Round taken_in_at = 0;             ///< and this peer's round then
    };
    /// What the others are to this peer at a moment.
    struct View {
        PeerSet there = 0;     ///< members with a session, this one included
        PeerSet gone = 0;      ///< members that do not come back
        PeerSet entrants = 0;  ///< who asks to come in, and hears all that are there
        bool broken = false;   ///< somebody says that this epoch is
    };

    std::optional<std::string> refuse(const Holding& holding) const AKO_NETWORK_THREAD;
    std::optional<std::string> refuse(const MemberState& state) const AKO_NETWORK_THREAD;
    bool speaks_of_this(const Link& link) const AKO_NETWORK_THREAD {
        return link.heard && link.said.epoch.number == vote_.epoch().number;
    }
    void look(Time now) AKO_NETWORK_THREAD;
    void adopted(Time now) AKO_NETWORK_THREAD;
    /// It was in already since the newest round here, so that taking it in again may go on for
    /// ever.
    bool was_tried(const Link& link) const AKO_NETWORK_THREAD;
    /// A new epoch is a sign that the others get on, but not one after the other without a round.
    void sign_of_epoch(Time now) AKO_NETWORK_THREAD;
    /// Once all members have said what they hold, and once all know that.
    void begin_epoch(Time now) AKO_NETWORK_THREAD;
    bool all_ready() const AKO_NETWORK_THREAD;
    void come_in() AKO_NETWORK_THREAD;
    void tell_newcomers() AKO_NETWORK_THREAD;
    void look_for_the_gone(Time now) AKO_NETWORK_THREAD;
    void look_for_the_hung(Time now) AKO_NETWORK_THREAD;
    /// It has run all along, so that nobody can have put it out.
    bool has_run(Time now) const AKO_NETWORK_THREAD {
        const bool stood = stood_until_ && now - *stood_until_ <= life_timeout_;
        return now - polled_at_ <= life_timeout_ / 2 && !stood;
    }
    /// Its process is over, says what was just seen.
    void is_over(PeerIndex peer, Time now) AKO_NETWORK_THREAD;
    void fell(PeerIndex peer) AKO_NETWORK_THREAD;
    bool gone(PeerIndex peer, Time now) const AKO_NETWORK_THREAD;
    EpochVote::Reach reach(Time now) const AKO_NETWORK_THREAD;
    View view(Time now) const AKO_NETWORK_THREAD;
    bool hear_each_other(PeerIndex one, PeerIndex other) const AKO_NETWORK_THREAD;
    /// Of a process that is not in: tells the compute half once all others are over.
    void look_whether_all_ended(Time now) AKO_NETWORK_THREAD;
    /// Who is to be in next, if there is to be a next; nothing: not now.
    std::optional<PeerSet> wanted(Time now) AKO_NETWORK_THREAD;
    PeerSet founders(Time now) const AKO_NETWORK_THREAD;
    void propose(PeerSet members, Time now) AKO_NETWORK_THREAD;
    /// Is it this peer's turn?
    bool turn(Time now) AKO_NETWORK_THREAD;
    Membership membership() const AKO_NETWORK_THREAD;
    void tell_all() AKO_NETWORK_THREAD;
    void post_place() AKO_NETWORK_THREAD;
    void give_up_if_stuck(Time now) AKO_NETWORK_THREAD;
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }
    std::string names(PeerSet peers) const;

    const ModeSettings& settings_;
    const RunBounds bounds_;
    const std::size_t bucket_count_;
    const Time life_timeout_;
    const Time turn_first_;
    const Time hang_patience_;  ///< less than that with which all break off
    Mailbox& mailbox_;
    BucketBoard& board_;
    EpochBoard& epochs_;
    ElasticRing& ring_;
    Transport& transport_;
    const Clock& clock_;

    EpochVote vote_;
    Departures departures_;
    std::vector<Link> links_;   ///< [peer_count]; the entry of this peer is not used
    bool finishing_ = false;    ///< this peer's last round is made
    bool over_ = false;         ///< closing, or it cannot go on
    bool run_is_over_ = false;  ///< without this peer
    Round own_round_ = 0;
    std::optional<Time> first_poll_;
    Time polled_at_{};
    std::optional<Time> stood_until_;  ///< this process had not run for a while
    Time looked_at_{};

    // Of the epoch.
    PeerSet members_before_ = 0;  ///< its members, once it was looked at
    Round round_of_epoch_ = 0;    ///< this peer's round when it came about
    std::size_t epochs_without_round_ = 0;
    Holding holding_;
    PeerSet fell_ = 0;     ///< of its members
    bool broken_ = false;  ///< a session of this peer with another member has ended
    bool ready_ = false;   ///< it has begun here
    std::uint64_t told_taken_ = 0;
    std::optional<MemberState> told_;  ///< what this peer knows, for newcomers

    // Of the next one.
    std::optional<Time> wanted_since_;
    Time turn_{};  ///< for so long nobody else proposes
    std::optional<Time> proposed_at_;
    Ballot followed_;  ///< the newest ballot of another
    Time followed_at_{};
    Membership last_told_;
};

}  // namespace ako
