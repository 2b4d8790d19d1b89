// The network half of every mode that exchanges buckets: sessions, heartbeats and goodbyes are
// here, chunks are the business of the BucketProtocol. Unlike `ako`, these modes cannot miss a
// frame, so a session that ends after training has begun is the end for that peer, and for the run
// where the protocol needs it. Network thread only. Speaks to the compute half through the board.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/transport.h"
#include "src/modes/bucket_board.h"
#include "src/modes/bucket_protocol.h"
#include "src/modes/mode_settings.h"

namespace ako {

class BucketLinks final : public FrameSource, public FrameSink {
  public:
    /// All references outlive this.
    BucketLinks(const ModeSettings& settings, BucketBoard& board, BucketProtocol& protocol,
                Transport& transport, const Clock& clock);

    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) override;
    /// All that is queued is due in this round, so choosing late matters less than that the link
    /// does not run dry while this peer is off the processor for some milliseconds.
    double unsent_payloads() const override { return 2; }

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

  private:
    struct Link {
        bool up = false;
        bool left = false;  ///< said Bye
        bool gone = false;  ///< for good: its session ended after chunks had begun to flow
        bool done = false;  ///< has said that its parameters are final
        bool met = false;   ///< a chunk came from it or went to it
        bool bye_sent = false;
        bool status_due = false;
        Time status_sent_at{};
        Round round = 0;  ///< the newest it has announced
    };

    /// A peer does not come back. `why` is for people.
    void part(PeerIndex peer, const std::string& why);
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }

    const ModeSettings settings_;  // constant after construction
    BucketBoard& board_;
    BucketProtocol& protocol_;
    Transport& transport_;
    const Clock& clock_;

    std::vector<Link> links_;  ///< [peer_count]; the entry of this peer is not used
    Status status_;
    bool started_ = false;
    bool finished_ = false;  ///< this peer's last round is made
    bool closing_ = false;
    bool broken_ = false;                 ///< no chunk is of use any more
    std::optional<PeerIndex> broken_by_;  ///< who is needed and gone, the first known of
};

}  // namespace ako
