// The traffic half of every mode that exchanges buckets: who is needed, and what ends the run.
// Chunks are the business of the BucketProtocol. Unlike `ako`, these modes cannot miss a frame, so
// a session that ends after training has begun is the end for that peer, and for the run where the
// protocol needs it. Network thread only. Speaks to the compute half through the mailbox and the
// board.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/bucket_protocol.h"
#include "src/exchange/halves.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/run_bounds.h"

namespace ako {

class BucketTraffic final : public TrafficHalf {
  public:
    /// All references outlive this.
    BucketTraffic(const ModeSettings& settings, Mailbox& mailbox, BucketBoard& board,
                  BucketProtocol& protocol);

    std::optional<OutFrame> next(PeerIndex peer,
                                 std::size_t payload_bytes_max) override AKO_NETWORK_THREAD;
    /// All that is queued is due in this round, so choosing late matters less than that the link
    /// does not run dry while this peer is off the processor for some milliseconds.
    double unsent_payloads() const override AKO_NETWORK_THREAD { return 2; }
    std::optional<PeerIndex> because_of() const override AKO_NETWORK_THREAD { return broken_by_; }

    std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                      std::size_t bytes) override AKO_NETWORK_THREAD;
    std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                       std::size_t bytes) override AKO_NETWORK_THREAD;
    PooledBuffer arrived(PeerIndex peer, const Header& header, Destination destination,
                         Time arrived_at) override AKO_NETWORK_THREAD;
    std::optional<Reject> admit(PeerIndex peer, const Hello& hello) override AKO_NETWORK_THREAD;
    void session_down(PeerIndex peer, const std::string& why, Time silence,
                      bool left) override AKO_NETWORK_THREAD;
    void peer_lost(PeerIndex peer, const std::string& why) override AKO_NETWORK_THREAD;
    void poll(const Word& word, Time now) override AKO_NETWORK_THREAD;

  private:
    /// Servers count rounds as syncs are: anew at each start.
    Round of_this_start(Round round) const {
        return round > round_before_ ? round - round_before_ : 0;
    }
    struct BucketLink {
        bool over = false;  ///< for good: its session ended after chunks had begun to flow
        bool done = false;  ///< has said that its parameters are final
        bool met = false;   ///< a chunk came from it or went to it
        Round round = 0;    ///< the newest it has announced
    };

    void heard(PeerIndex peer, const Status& status, Time arrived_at) AKO_NETWORK_THREAD;
    void heard_bye(PeerIndex peer, const Bye& bye) AKO_NETWORK_THREAD;
    /// A peer does not come back. `why` is for people; `of`: how it ended, as this peer passes it
    /// on.
    void end_link(PeerIndex peer, const std::string& why,
                  const Farewell& of = {EndCause::broken, 0, ""}) AKO_NETWORK_THREAD;
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }

    const ModeSettings& settings_;
    const RunBounds bounds_;
    Mailbox& mailbox_;
    BucketBoard& board_;
    BucketProtocol& protocol_;

    std::vector<BucketLink> links_;  ///< [peer_count]; the entry of this peer is not used
    bool started_ = false;
    bool finished_ = false;   ///< this peer's last round is made
    Round round_before_ = 0;  ///< the newest of before this start, at all peers
    bool closing_ = false;
    bool broken_ = false;                 ///< no chunk is of use any more
    std::optional<PeerIndex> broken_by_;  ///< who is needed and gone, the first known of
};

}  // namespace ako
