// See bucket_traffic.h.
#include "src/modes/bucket_traffic.h"

#include <utility>

#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {

BucketTraffic::BucketTraffic(const ModeSettings& settings, Mailbox& mailbox, BucketBoard& board,
                             BucketProtocol& protocol)
    : settings_(settings),
      bounds_(RunBounds::of(settings)),
      mailbox_(mailbox),
      board_(board),
      protocol_(protocol),
      links_(settings.peer_count()) {}

// ---- sending

std::optional<OutFrame> BucketTraffic::next(PeerIndex peer, std::size_t payload_bytes_max) {
    // What is queued when all is over is of no use, and the Bye must not wait behind it.
    if (broken_) return std::nullopt;
    auto frame = protocol_.next(peer, payload_bytes_max);
    links_[peer].met |= frame.has_value();
    return frame;
}

void BucketTraffic::poll(const Word& word, Time) {
    const BucketBoard::Unseen unseen = board_.take();
    started_ = word.started;
    closing_ = word.closing;
    broken_ |= word.broken;
    if (unseen.restored) {
        protocol_.restore(*unseen.restored);
        round_before_ = unseen.restored->id.round;
    }
    for (const auto& [bucket, sync] : unseen.consumed) protocol_.consumed(bucket, sync);
    for (const Contribution& contribution : unseen.contributions)
        protocol_.contributed(contribution);
    if (word.own.standing.stop != StopReason::none) protocol_.stop_wished(word.own.standing.stop);
    if (word.own.standing.final_round && !std::exchange(finished_, true))
        protocol_.finished(settings_.self, of_this_start(*word.own.standing.final_round));
}

// ---- receiving

std::optional<std::string> BucketTraffic::refuse(PeerIndex peer, const Header& header,
                                                 std::size_t bytes) {
    if (const auto* chunk = std::get_if<Chunk>(&header)) {
        if (const auto count = elements_in(bytes)) return protocol_.refuse(peer, *chunk, *count);
        return "Chunk with " + std::to_string(bytes) + " bytes, no whole number of elements";
    }
    if (bytes != 0)
        return std::string(header_name(header)) + " with " + std::to_string(bytes) +
               " bytes of payload; only a Chunk has one";
    if (const auto* status = std::get_if<Status>(&header)) {
        if (status->standing.progress.size() == links_.size()) return bounds_.refuse(*status);
        return "Status of " + std::to_string(status->standing.progress.size()) +
               " peers in a cluster of " + std::to_string(links_.size());
    }
    if (const auto* bye = std::get_if<Bye>(&header)) {
        if (!bye->because_of || *bye->because_of < links_.size())
            return bounds_.refuse(bye->final_round, "Bye.final_round");
        return "Bye because of peer " + std::to_string(*bye->because_of) + " in a cluster of " +
               std::to_string(links_.size());
    }
    return std::string("a ") + header_name(header) + ", which is not sent in this mode";
}

std::optional<Destination> BucketTraffic::reserve(PeerIndex peer, const Header& header,
                                                  std::size_t bytes) {
    const auto* chunk = std::get_if<Chunk>(&header);
    AKO_ASSERT(chunk != nullptr, "only a chunk has a payload");
    const auto memory = protocol_.reserve(peer, *chunk, elements_in(bytes).value());
    if (!memory) return std::nullopt;
    return Destination{payload_into(*memory), 0};
}

PooledBuffer BucketTraffic::arrived(PeerIndex peer, const Header& header, Destination destination,
                                    Time arrived_at) {
    if (const auto* chunk = std::get_if<Chunk>(&header)) {
        links_[peer].met = true;
        board_.sign_came(arrived_at);
        protocol_.arrived(peer, *chunk, elements_in(destination.memory.size()).value());
    } else if (const auto* status = std::get_if<Status>(&header)) {
        heard(peer, *status, arrived_at);
    } else if (const auto* bye = std::get_if<Bye>(&header)) {
        heard_bye(peer, *bye);
    }
    return {};
}

void BucketTraffic::heard(PeerIndex peer, const Status& status, Time arrived_at) {
    BucketLink& link = links_[peer];
    link.done |= status.standing.digest.has_value();
    // Local SGD: while a slow peer makes its rounds nobody sends chunks, and all is well.
    const Round round = status.standing.progress[peer].round;
    const bool awaited = protocol_.partner(peer) || protocol_.needs(peer);  // here, or by those
    if (round > std::exchange(link.round, round) && awaited) board_.sign_came(arrived_at);
    if (status.standing.final_round)
        protocol_.finished(peer, of_this_start(*status.standing.final_round));
}

void BucketTraffic::heard_bye(PeerIndex peer, const Bye& bye) {
    // A peer that leaves because of another may be heard before that one's own session has ended.
    // It is believed where its leaving is the end here too, as always in a ring. A worker that can
    // be spared may have lost no more than its own link to a server that serves all others well.
    const bool other =
        bye.because_of && *bye.because_of != settings_.self && *bye.because_of != peer;
    const bool told = bye.farewell.cause > EndCause::broken;
    const Farewell lost{EndCause::broken, 0, ""};
    const Farewell& of = told ? bye.farewell : lost;
    if (other && protocol_.needs(peer))
        end_link(*bye.because_of,
                 "so says peer " + name(peer) + (told ? ": it " + ended_text(of, 0) : ""), of);
    if (!bye.because_of && bye.farewell.failed())
        return end_link(peer, "it " + ended_text(bye.farewell, bye.final_round), of);
    end_link(peer,
             bye.because_of == settings_.self ? "it left, for it had lost this peer"
                                              : "it left the training",
             lost);
}

// ---- sessions

std::optional<Reject> BucketTraffic::admit(PeerIndex peer, const Hello&) {
    if (!links_[peer].over) return std::nullopt;
    return Reject{"process_id", "nobody in the place of " + name(peer) + ", which was lost",
                  "a process (this mode cannot take a peer back; the mode ako goes on without it)"};
}

void BucketTraffic::session_down(PeerIndex peer, const std::string& why, Time, bool left) {
    if (left || closing_) return;
    if (links_[peer].met || (started_ && protocol_.partner(peer)))
        end_link(peer, "its session ended: " + why);
}

void BucketTraffic::peer_lost(PeerIndex peer, const std::string& why) {
    if (started_ && !closing_) end_link(peer, why);
}

void BucketTraffic::end_link(PeerIndex peer, const std::string& why, const Farewell& of) {
    BucketLink& link = links_[peer];
    if (std::exchange(link.over, true)) return;
    protocol_.session_over(peer);
    // One whose parameters are final is not needed any more.
    if (closing_ || link.done || !protocol_.needs(peer)) return;
    if (!broken_by_) broken_by_ = peer;
    broken_ = true;
    mailbox_.break_off(
        "peer " + name(peer) + " is gone, and this mode cannot go on without it: " + why, of, peer);
}

}  // namespace ako
