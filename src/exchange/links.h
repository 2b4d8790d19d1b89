// The network side of every mode: sessions, heartbeats, what each peer says of itself, goodbyes.
// Answers the transport's "what next for this peer?": what is urgent for the mode, then this peer's
// Status, then what the mode sends, and at the end a Bye. Between two Statuses the mode has its
// turn, so that a link too narrow for all heartbeats still carries what it is for. What arrives
// goes to the mailbox, but for the chunks of the modes that exchange buckets. Network thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/threads.h"
#include "ako/transport.h"
#include "src/exchange/halves.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/mode_settings.h"

namespace ako {

class Links final : public TransportHost {
  public:
    /// All references outlive this.
    Links(const ModeSettings& settings, Mailbox& mailbox, TrafficHalf& traffic,
          Transport& transport, const Clock& clock);

    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) override;
    double unsent_payloads() const override;

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
    /// What this peer says of itself.
    struct OwnStatus {
        Status status;
        std::uint64_t revision = 0;
    };
    struct LinkState {
        bool up = false;
        bool met = false;                 ///< had a session, ever
        bool heard = false;               ///< something for the mailbox has come in this session
        std::uint64_t process = 0;        ///< of this session
        std::uint64_t heard_process = 0;  ///< the newest of which something for the mailbox came
        bool left = false;                ///< said Bye
        bool bye_sent = false;
        bool status_due = false;
        /// What goes out first: this peer's standing when the session began. The other's first word
        /// may bring the start of the run, and is not to be answered by rounds that followed it.
        std::optional<OwnStatus> opening;
        bool status_was_last = false;   ///< of what went out
        std::uint64_t status_sent = 0;  ///< revision
        Time status_sent_at{};
        Time heard_sent_at{};     ///< of the newest Status received: their clock
        Time heard_at{};          ///< and ours
        bool to_mailbox = false;  ///< what is being received has a place promised there
        bool out_of_room = false;
    };

    void on_network_thread() const AKO_ASSERTS(network_thread) { caller_.check(); }
    Mailbox::Posted take_posted() AKO_NETWORK_THREAD;
    OutFrame status_frame(LinkState& link, Time now) AKO_NETWORK_THREAD;
    /// What the mode has for this peer, without regard to the Status.
    std::optional<OutFrame> frame_of_mode(PeerIndex peer,
                                          std::size_t payload_bytes_max) AKO_NETWORK_THREAD;
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }

    const ModeSettings& settings_;
    const Time heartbeat_;
    Mailbox& mailbox_;
    TrafficHalf& traffic_;
    Transport& transport_;
    const Clock& clock_;
    OneThread caller_;

    std::vector<LinkState> links_;  ///< [peer_count]; the entry of this peer is not used
    OwnStatus newest_;
    std::size_t frames_promised_ = 0;  ///< a place in the mailbox, and not yet arrived
    bool closing_ = false;
    Farewell farewell_;  ///< of this peer, once it is closing
};

}  // namespace ako
