// The mode parameter-server on the wire: a worker pushes each slice of a bucket to the server that
// keeps it and gets the parameters back; a server does with the pushes what ParameterKeeper says.
// One peer may be both, and then pushes to itself without a copy. After everybody's last round
// servers send every worker the final parameters, so that all end with the same. Network thread
// only.
#pragma once

#include <memory>
#include <vector>

#include "ako/threads.h"
#include "src/buckets/bucket_protocol.h"
#include "src/buckets/buckets.h"
#include "src/buckets/chunk_queue.h"
#include "src/buckets/parameter_keeper.h"
#include "src/buckets/slices.h"
#include "src/exchange/mode_settings.h"

namespace ako {

class PushPull final : public BucketProtocol {
  public:
    /// `initial` is [parameter_count]. All references outlive this.
    PushPull(const ModeSettings& settings, const Buckets& buckets, std::span<const float> initial,
             BucketBoard& board, Transport& transport);

    void contributed(const Contribution& contribution) override AKO_NETWORK_THREAD;
    void consumed(std::size_t, std::uint64_t) override AKO_NETWORK_THREAD {}
    void finished(PeerIndex peer, Round final_round) override AKO_NETWORK_THREAD;
    void session_over(PeerIndex peer) override AKO_NETWORK_THREAD;
    void stop_wished(StopReason reason) override AKO_NETWORK_THREAD {
        if (keeper_) keeper_->stop_wished(reason);
    }
    bool partner(PeerIndex peer) const override AKO_NETWORK_THREAD {
        return (works() && server_of(peer)) || (keeper_ && worker_of(peer));
    }
    /// Workers need every server until the final parameters are here; a server needs nobody.
    bool needs(PeerIndex peer) const override AKO_NETWORK_THREAD {
        return works() && server_of(peer) && final_elements_ < parameters_.size();
    }

    std::optional<OutFrame> next(PeerIndex peer,
                                 std::size_t payload_bytes_max) override AKO_NETWORK_THREAD;
    std::optional<std::string> refuse(PeerIndex peer, const Chunk& chunk,
                                      std::size_t count) const override AKO_NETWORK_THREAD;
    std::optional<std::span<float>> reserve(PeerIndex peer, const Chunk& chunk,
                                            std::size_t count) override AKO_NETWORK_THREAD;
    void arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) override AKO_NETWORK_THREAD;
    void save(Checkpoint& out) const override {
        if (keeper_) keeper_->save(out);
    }
    Result<void> check(const Checkpoint& from) const override {
        return keeper_ ? keeper_->check(from) : Result<void>{};
    }
    void restore(const Checkpoint& from) override AKO_NETWORK_THREAD {
        if (keeper_) keeper_->restore(from);
    }
    /// The parameters of this worker.
    std::span<float> result() override { return parameters_; }

  private:
    /// One bucket of this worker, in the sync under way.
    struct Pull {
        std::uint64_t sync = 0;
        std::size_t elements = 0;  ///< that have come
        SyncSummary summary;
    };
    struct Push {
        std::uint64_t round = 0;
        std::size_t elements = 0;  ///< of the slice that have come
        Wish wish;
    };

    bool works() const { return worker_of(self_).has_value(); }
    static std::optional<std::size_t> place_in(const std::vector<PeerIndex>& peers, PeerIndex peer);
    std::optional<std::size_t> worker_of(PeerIndex peer) const { return place_in(workers_, peer); }
    std::optional<std::size_t> server_of(PeerIndex peer) const { return place_in(servers_, peer); }
    void answer(std::size_t worker, std::size_t slice) AKO_NETWORK_THREAD;
    /// What this server keeps of the slice, to the worker that is this very peer.
    void copy_here(std::size_t slice) AKO_NETWORK_THREAD;
    void pulled(std::size_t bucket, std::size_t count,
                const SyncSummary& summary) AKO_NETWORK_THREAD;
    void push_arrived(std::size_t worker, const Chunk& chunk, std::size_t count) AKO_NETWORK_THREAD;
    /// Once, when everybody has pushed a last round: the final parameters for all.
    void send_final() AKO_NETWORK_THREAD;
    void final_arrived(std::size_t count) AKO_NETWORK_THREAD;
    void send(PeerIndex peer, const Chunk& chunk, std::size_t count,
              const float* values) AKO_NETWORK_THREAD;
    /// Has this worker made its last round? Then its parameters are what is saved if the servers
    /// are lost now, and a chunk that breaks off, or was damaged on the way, must not be in them.
    bool keeps_apart(const Chunk& chunk) const AKO_NETWORK_THREAD {
        return finished_ && chunk.kind != ChunkKind::pushed;
    }

    const Buckets& buckets_;  // constant after construction
    const PeerIndex self_;
    const std::vector<PeerIndex> workers_;
    const std::vector<PeerIndex> servers_;
    const Slices slices_;
    const std::uint64_t rounds_total_max_;  ///< of all workers together
    BucketBoard& board_;
    Transport& transport_;

    std::vector<ChunkQueue> queues_;  ///< [peer]

    std::vector<float> parameters_;  // of this worker: [parameter_count]
    std::vector<Pull> pulls_;        ///< [bucket]
    bool finished_ = false;
    std::size_t final_elements_ = 0;
    // Elements that have come of each slice, [slice], for each server may send its own only.
    std::vector<std::size_t> pulled_of_;  ///< in the sync under way
    std::vector<std::size_t> final_of_;
    /// [peer] The chunk of parameters that is arriving, if it is kept apart until it has arrived.
    std::vector<std::vector<float>> apart_;

    std::unique_ptr<ParameterKeeper> keeper_;  // of this server; null if it is none
    std::vector<std::vector<Push>> pushes_;    ///< [worker][slice]
    bool final_sent_ = false;
};

}  // namespace ako
