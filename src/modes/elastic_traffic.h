// The traffic half of an elastic ring: where frames go and what is made of those that come. It
// leaves to ElasticPeers who of the file is there, to ElasticPace how they get on, to ElasticEpochs
// when there is another epoch, to ElasticBeginning how that begins, and to ElasticRing the sums and
// the state. Here they are asked in their order, and what this process says of
// itself is told to all.
//
// Network thread only. Speaks to the compute half through the mailbox and the two boards.
#pragma once

#include <optional>
#include <string>

#include "ako/clock.h"
#include "ako/threads.h"
#include "src/exchange/halves.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/run_bounds.h"
#include "src/modes/elastic_beginning.h"
#include "src/modes/elastic_epochs.h"
#include "src/modes/elastic_pace.h"
#include "src/modes/elastic_parts.h"

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
    void peer_lost(PeerIndex peer, const std::string&) override AKO_NETWORK_THREAD {
        parts_.peers.lose(peer);
    }
    void poll(const Word& word, Time now) override AKO_NETWORK_THREAD;

  private:
    std::optional<std::string> refuse(const Holding& holding) const AKO_NETWORK_THREAD;
    std::optional<std::string> refuse(const MemberState& state) const AKO_NETWORK_THREAD;
    void look(Time now) AKO_NETWORK_THREAD;
    /// Goes on in the newest epoch that is decided.
    void follow_the_vote(Time now) AKO_NETWORK_THREAD;
    void adopted(Time now) AKO_NETWORK_THREAD;
    void give_up_if_stuck(Time now) AKO_NETWORK_THREAD;
    void give_up(const std::string& why) AKO_NETWORK_THREAD;
    /// What this process says of itself.
    Membership membership() const AKO_NETWORK_THREAD;
    void tell_all() AKO_NETWORK_THREAD;

    const RunBounds bounds_;
    const std::size_t bucket_count_;
    Mailbox& mailbox_;
    const Clock& clock_;

    ElasticParts parts_;
    ElasticPace pace_;
    ElasticBeginning beginning_;
    ElasticEpochs epochs_;

    bool over_ = false;  ///< closing, or it cannot go on
    std::uint64_t told_taken_ = 0;
    Membership last_told_;
    PeerSet untold_ = 0;  ///< who is to hear the newest membership
};

}  // namespace ako
