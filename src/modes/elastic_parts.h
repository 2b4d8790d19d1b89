// What the parts of the traffic half of an elastic ring work on together: the vote on the next
// epoch, what is known of the others, and what the two halves share. Each part adds what it alone
// keeps: ElasticPace, ElasticBeginning, ElasticEpochs. Network thread only. Lives as long as the
// traffic half, and what it refers to outlives it.
#pragma once

#include "ako/transport.h"
#include "src/agreement/epoch_vote.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/elastic_ring.h"
#include "src/buckets/epoch_board.h"
#include "src/exchange/mode_settings.h"
#include "src/modes/elastic_peers.h"

namespace ako {

struct ElasticParts {
    ElasticParts(const ModeSettings& mode_settings, BucketBoard& bucket_board,
                 EpochBoard& epoch_board, ElasticRing& elastic_ring, Transport& links)
        : settings(mode_settings),
          board(bucket_board),
          epochs(epoch_board),
          ring(elastic_ring),
          transport(links),
          vote(settings.self, settings.peer_count(), settings.process_id),
          peers(settings, vote, links) {}
    ElasticParts(const ElasticParts&) = delete;  // the parts refer to each other

    const ModeSettings& settings;
    BucketBoard& board;
    EpochBoard& epochs;
    ElasticRing& ring;
    Transport& transport;

    EpochVote vote;
    ElasticPeers peers;
};

}  // namespace ako
