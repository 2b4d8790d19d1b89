// The traffic half of the mode `ako`: which frame is next for a peer, and where the payload of one
// that comes is read into. Holds cursors, queues and references to snapshots; never reads a block
// that can change. Network thread only, but for `observed_partitions`. Speaks to the compute half
// through Mailbox and Outbox.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "ako/transport.h"
#include "src/exchange/departures.h"
#include "src/exchange/halves.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/run_bounds.h"
#include "src/numbers/buffer_pool.h"
#include "src/rows/link_schedule.h"
#include "src/rows/outbox.h"
#include "src/rows/partition_bound.h"
#include "src/rows/snapshots.h"

namespace ako {

class AkoTraffic final : public TrafficHalf {
  public:
    /// All references outlive this.
    AkoTraffic(const ModeSettings& settings, const Blocks& blocks, Mailbox& mailbox, Outbox& outbox,
               const Snapshots& snapshots, Transport& transport, const Clock& clock);

    std::optional<OutFrame> next_control(PeerIndex peer) override AKO_NETWORK_THREAD;
    std::optional<OutFrame> next(PeerIndex peer,
                                 std::size_t payload_bytes_max) override AKO_NETWORK_THREAD;
    Time news_interval() const override AKO_NETWORK_THREAD { return std::chrono::milliseconds(50); }
    /// Between the blocks that come, each Status has its place.
    bool newest_status_counts() const override AKO_NETWORK_THREAD { return false; }

    std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                      std::size_t bytes) override AKO_NETWORK_THREAD;
    std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                       std::size_t bytes) override AKO_NETWORK_THREAD;
    PooledBuffer arrived(PeerIndex peer, const Header& header, Destination destination,
                         Time arrived_at) override AKO_NETWORK_THREAD;
    void abandoned(PeerIndex peer, Destination destination) override AKO_NETWORK_THREAD;
    /// Whoever comes under a name goes on with the row of that name (AkoBeginning).
    std::optional<Reject> admit(PeerIndex, const Hello&) override AKO_NETWORK_THREAD {
        return std::nullopt;
    }
    void session_up(PeerIndex peer, const Hello& hello) override AKO_NETWORK_THREAD;
    void session_down(PeerIndex peer, const std::string& why, Time silence,
                      bool left) override AKO_NETWORK_THREAD;
    void poll(const Word& word, Time now) override AKO_NETWORK_THREAD;

    double observed_partitions(PeerIndex peer) const override {
        return links_[peer].observed_partitions;
    }

  private:
    struct RowLink {
        RowLink(LinkSchedule link_schedule) : schedule(std::move(link_schedule)) {}

        LinkSchedule schedule;
        bool up = false;
        bool damaged = false;   ///< a block of this session was: it ends with the next frame
        bool answered = false;  ///< see Outbox
        bool left = false;      ///< said Bye
        bool joining = false;   ///< it takes in the rows of the run, and comes first in all
        std::deque<Header> control;
        std::deque<Relay> relays;
        bool relay_turn = false;
        bool told_gone = false;
        std::atomic<double> observed_partitions = 0;
    };

    void take_mail() AKO_NETWORK_THREAD;
    void look_for_the_gone(Time now) AKO_NETWORK_THREAD;
    void take_snapshot(SnapshotIndex snapshot) AKO_NETWORK_THREAD;
    void take_growing(const Growing& growing) AKO_NETWORK_THREAD;
    void drop_growing() AKO_NETWORK_THREAD;
    /// Links that still send from it get a copy of what is unsent.
    void copy_aside(SnapshotIndex snapshot) AKO_NETWORK_THREAD;
    /// This thread holds two snapshots at most, and what waits is taken next.
    void make_room_for(const Outbox::Waiting& waiting) AKO_NETWORK_THREAD;
    /// Gives back all but so many of the newest, copying aside what links still send of them.
    void keep_newest(std::size_t count) AKO_NETWORK_THREAD;
    std::optional<OutFrame> own_partial(PeerIndex peer,
                                        std::size_t payload_bytes_max) AKO_NETWORK_THREAD;
    /// In fewer bytes than float32 has; nothing if that is not to be had.
    std::optional<OutFrame> coded_frame(Partial header,
                                        const Snapshot& snapshot) AKO_NETWORK_THREAD;
    OutFrame relay_frame(PeerIndex peer) AKO_NETWORK_THREAD;
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }

    const ModeSettings& settings_;
    const RunBounds bounds_;
    const Blocks blocks_;
    Mailbox& mailbox_;
    Outbox& outbox_;
    const Snapshots& snapshots_;
    Transport& transport_;
    const Clock& clock_;

    std::deque<RowLink> links_;  ///< [peer_count]; the entry of this peer is not used
    PartitionBound bound_;       ///< of `partitions: auto`
    double sent_share_ = 1;  ///< bytes of own partials, as a share of float32's: of late at most
    bool decided_ = false;   ///< the cut is
    Waits waits_;
    Departures departures_;
    Time looked_at_{};
    PeerSet unanswered_;  ///< see Mailbox
    bool closing_ = false;

    std::optional<SnapshotIndex> newest_;
    std::deque<SnapshotIndex> held_;                 ///< not yet given back, oldest first
    std::optional<Growing> growing_;                 ///< the one after the newest
    std::array<PeerSet, snapshot_count> sending_{};  ///< peers whose frame points into it

    std::uint64_t next_ticket_ = 1;
    std::map<std::uint64_t, PooledBuffer> reserved_;  ///< being read into
};

}  // namespace ako
