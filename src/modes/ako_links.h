// The network half of the mode `ako`: answers the transport's "what next for this peer?" and takes
// in what arrives. Holds cursors, queues and references to snapshots; never reads a row that can
// change. Network thread only, but for `observed_partitions`. Speaks to the compute half through
// Inbox and Outbox.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ako/transport.h"
#include "src/buffer_pool.h"
#include "src/inbox.h"
#include "src/lives.h"
#include "src/modes/departures.h"
#include "src/modes/mode_settings.h"
#include "src/outbox.h"
#include "src/schedule.h"
#include "src/snapshots.h"

namespace ako {

class AkoLinks final : public FrameSource, public FrameSink {
  public:
    /// A Status whose content is news goes out at most so often; the heartbeat goes out without
    /// news.
    static constexpr Time status_interval = std::chrono::milliseconds(50);

    /// All references outlive this. `pool` is where payloads are read into.
    AkoLinks(const ModeSettings& settings, const Blocks& blocks, Inbox& inbox, Outbox& outbox,
             const Snapshots& snapshots, BufferPool& pool, Transport& transport,
             const Clock& clock);

    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) override;

    std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                      std::size_t bytes) override;
    std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                       std::size_t bytes) override;
    void arrived(PeerIndex peer, Header header, Destination destination, Time arrived_at) override;
    void abandoned(PeerIndex peer, Destination destination) override;
    std::optional<Reject> admit(PeerIndex peer, const Hello& hello) override;
    void session_up(PeerIndex peer, const Hello& hello) override;
    void session_down(PeerIndex peer, const std::string& why, Time silence) override;
    void peer_lost(PeerIndex peer, const std::string& why) override;
    void poll(Time now) override;

    /// Any thread. See LinkSchedule.
    double observed_partitions(PeerIndex peer) const { return links_[peer].observed_partitions; }
    /// Network thread. The process that made what is held or known of this row; 0 = none.
    std::uint64_t life_of(PeerIndex row) const { return lives_.of(row); }
    /// Any thread. See Departures.
    bool left_behind() const { return left_behind_; }

  private:
    struct Link {
        Link(LinkSchedule link_schedule) : schedule(std::move(link_schedule)) {}

        LinkSchedule schedule;
        bool up = false;
        bool heard = false;    ///< something has come in this session
        bool damaged = false;  ///< a block of this session was: it ends with the next frame
        bool left = false;
        bool bye_sent = false;
        std::uint64_t process_id = 0;  ///< 0 = never met
        std::deque<Header> control;
        std::deque<Relay> relays;
        bool relay_turn = false;
        bool status_due = false;
        std::uint64_t status_sent = 0;  ///< revision
        Time status_sent_at{};
        Time heard_sent_at{};  ///< of the newest Status received: their clock
        Time heard_at{};       ///< and ours
        bool out_of_room = false;
        bool told_gone = false;
        std::uint64_t apart_process = 0;  ///< this process knows another life of a row than we do:
        PeerIndex apart_row = 0;          ///< of this one
        std::atomic<double> observed_partitions = 0;
    };

    void take_mail();
    void look_for_the_gone(Time now);
    void take_snapshot(SnapshotIndex snapshot);
    /// Gives back all snapshots but the newest, copying aside what links still send of them.
    void keep_only_the_newest();
    OutFrame status_frame(Link& link, Time now);
    /// The life to name of a row: none of the own one before there is something of it.
    std::uint64_t life(PeerIndex row) const {
        return row == settings_.self && !newest_ ? 0 : lives_.of(row);
    }
    std::optional<OutFrame> own_partial(PeerIndex peer, std::size_t payload_bytes_max);
    OutFrame relay_frame(PeerIndex peer);
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }

    const ModeSettings settings_;  // constant after construction
    const Blocks blocks_;
    Inbox& inbox_;
    Outbox& outbox_;
    const Snapshots& snapshots_;
    BufferPool& pool_;
    Transport& transport_;
    const Clock& clock_;

    Lives lives_;
    std::deque<Link> links_;  ///< [peer_count]; the entry of this peer is not used
    Status status_;
    std::uint64_t status_revision_ = 0;
    Departures departures_;
    Time looked_at_{};
    std::atomic<bool> left_behind_ = false;
    bool closing_ = false;

    std::optional<SnapshotIndex> newest_;
    std::deque<SnapshotIndex> held_;                 ///< not yet given back, oldest first
    std::array<PeerSet, snapshot_count> sending_{};  ///< peers whose frame points into it

    std::size_t frames_reserved_ = 0;  ///< accepted and not yet arrived
    std::uint64_t next_ticket_ = 1;
    std::map<std::uint64_t, PooledBuffer> reserved_;  ///< being read into
};

}  // namespace ako
