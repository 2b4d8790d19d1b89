// Butterfly all-reduce of buckets, by recursive halving and doubling (Thakur, Rabenseifner, Gropp,
// "Optimization of Collective Communication Operations in MPICH", 2005): 2 lg n steps where a ring
// has 2(n-1), and as many bytes.
//
//   halving   in each of lg n steps a peer gives half of what it has summed up to another peer,
//             takes the other's values of the half that it keeps, and adds them
//   doubling  the same steps once more from the last to the first: it gives the sums that it has
//             and takes as many, until it has all
//
// For n = 2^k every peer sends 2(n-1)/n of the vector per sync. For other n, with m the power of
// two below, the n - m surplus peers give all their values to a partner before the first step and
// take all sums from it after the last: each sends the whole vector, its partner that and 2(m-1)/m
// of it, and the other peers 2(m-1)/m; all together what a ring sends. Two steps more for all to
// wait for. Which peers and parts: butterfly_steps.h.
//
// Each element is summed up at one peer, in an order that depends on the steps alone, and copied
// from there: all peers end with the same bits, whatever came when. Small buckets go the same way
// as large ones.
//
// A step of a bucket ends when all of it has come, and the next one begins: within a bucket nothing
// is passed on chunk by chunk. What fills a link while one bucket waits is the other buckets.
//
// The first values that come are read into the memory of the sums, where nothing lies yet; those of
// later steps aside, for a partner may be ahead. Chunks carry the strongest wish of all whose
// values are in them, or who have been heard of: whoever has whole sums knows that of all peers.
// Network thread only.
#pragma once

#include <vector>

#include "ako/threads.h"
#include "src/buckets/all_reduce.h"
#include "src/buckets/butterfly_steps.h"

namespace ako {

class Butterfly final : public AllReduceProtocol {
  public:
    /// All references outlive this.
    Butterfly(const Buckets& buckets, PeerIndex self, std::size_t peer_count, BucketBoard& board,
              Transport& transport);

    bool partner(PeerIndex peer) const override AKO_NETWORK_THREAD {
        return steps_.with(peer).has_value();
    }
    void arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) override AKO_NETWORK_THREAD;

  private:
    /// How far one bucket is in the sync under way. Its stages are the steps, halving, and then
    /// backwards, doubling.
    struct State {
        std::size_t stage = 0;          ///< the one under way, once the own values are here
        std::vector<std::size_t> come;  ///< [stage], elements
    };

    void begin(std::size_t bucket) override AKO_NETWORK_THREAD;
    void clear(std::size_t bucket) override AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_of(std::size_t bucket, bool now, PeerIndex peer,
                                         const Chunk& chunk,
                                         std::size_t count) const override AKO_NETWORK_THREAD;
    std::span<float> memory_of(std::size_t bucket, PeerIndex peer, const Chunk& chunk,
                               std::size_t count) override AKO_NETWORK_THREAD;

    std::size_t stages() const AKO_NETWORK_THREAD { return 2 * steps_.count(); }
    bool halves(std::size_t stage) const AKO_NETWORK_THREAD { return stage < steps_.count(); }
    std::size_t step_of(std::size_t stage) const AKO_NETWORK_THREAD {
        return halves(stage) ? stage : stages() - 1 - stage;
    }
    /// In which such a chunk of a partner comes.
    std::size_t stage_of(PeerIndex partner, ChunkKind kind) const AKO_NETWORK_THREAD;
    Range incoming(std::size_t stage, std::size_t bucket) const AKO_NETWORK_THREAD;
    Range outgoing(std::size_t stage, std::size_t bucket) const AKO_NETWORK_THREAD;

    /// Ends all stages that nothing is lacking of.
    void go_on(std::size_t bucket) AKO_NETWORK_THREAD;
    void send_stage(std::size_t bucket) AKO_NETWORK_THREAD;
    /// The values that came in this step, and what there is here.
    void add(std::size_t step, std::size_t bucket) AKO_NETWORK_THREAD;
    /// Where the values of a step after the first are read into.
    std::span<float> aside(std::size_t step, std::size_t bucket) AKO_NETWORK_THREAD;

    const ButterflySteps steps_;  // constant after construction

    std::vector<State> states_;              ///< [bucket]
    std::vector<std::vector<float>> aside_;  ///< [bucket], made when first used
};

}  // namespace ako
