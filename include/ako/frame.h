// The headers of frames as plain structs: what peers say to each other. One sentence of meaning per
// message stands in net/wire.capnp, which is the format; net/codec translates. Who reads which:
// Hello, Reject belong to the transport's handshake; everything else is handed up unread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ako/membership.h"
#include "ako/portions.h"
#include "ako/row_index.h"
#include "ako/types.h"

namespace ako {

/// Raised with every change of the wire that an older peer would misread.
inline constexpr std::uint32_t protocol_version = 9;

/// That the sender of a Hello holds the key of the cluster; net/cluster_key.h says what is proved.
struct KeyProof {
    Digest nonce{};  ///< random, the sender's own, one per connection
    Digest mac{};    ///< HMAC-SHA256 over what both have said so far

    bool operator==(const KeyProof&) const = default;
};

/// Who I am and what I train: first frame in both directions. Every field is checked by the
/// receiver.
struct Hello {
    std::uint32_t protocol = protocol_version;
    std::string run_name;
    Digest training_digest{};           ///< of every setting that all peers must share
    Digest layout_digest{};             ///< of the network's tensors
    Digest initial_digest{};            ///< of the initial parameters
    std::string peer_name;              ///< the sender
    std::string to_peer_name;           ///< whom the sender believes to talk to
    std::uint64_t process_id = 0;       ///< random, not 0, one per process life
    std::optional<KeyProof> key_proof;  ///< there if the sender has a cluster key
    /// What training_digest is of, so that a refusal can name the key that differs: lines of keys
    /// and values. Empty = not said, as where it would be too long.
    std::string settings_text;

    bool operator==(const Hello&) const = default;
};

/// Why a Hello is refused: the field, what was expected and what came.
struct Reject {
    std::string field;
    std::string expected;
    std::string got;

    bool operator==(const Reject&) const = default;
};

/// A run of blocks of row `origin`, as it stood in one version; the payload is their elements.
struct Partial {
    RowIndex origin;
    Version version;
    BlockRun run;
    Time sealed_at{};  ///< clock of the owner: when its snapshot was published
    bool relayed = false;
    std::vector<std::uint32_t> checksums;  ///< CRC-32C of each block, made by the owner
    Time bound_at{};     ///< clock of the sender: when the link asked for it; 0 = not said
    bool coded = false;  ///< the payload is in fewer bytes than float32: src/rows/coded_blocks.h

    bool operator==(const Partial&) const = default;
};

/// Checkpoints that a Status names: kept are fewer.
inline constexpr std::size_t checkpoints_told_max = 8;

/// How far a peer is, as far as the sender has heard; merged by maximum.
struct Progress {
    Round round = 0;
    std::uint64_t samples = 0;

    bool operator==(const Progress&) const = default;
};

/// What the sender holds of one row. Equal `map_checksum` means the same version of every block.
struct RowHeld {
    Version lowest;
    Version highest;
    std::uint32_t map_checksum = 0;

    bool operator==(const RowHeld&) const = default;
};

/// A cut is known by the ballot under which it was first proposed.
using CutId = Ballot;

/// The one that counts of two that stand at once: what the training came to by itself outweighs
/// what was asked for, so that all peers tell the same end.
constexpr StopReason stronger(StopReason one, StopReason other) {
    constexpr auto strength = [](StopReason reason) {
        switch (reason) {
            case StopReason::none:
                return 0;
            case StopReason::requested:
                return 1;
            case StopReason::budget_spent:
                return 2;
            case StopReason::target_reached:
                return 3;
        }
        return 0;
    };
    return strength(one) < strength(other) ? other : one;
}

/// So many at each peer; 0 = it has not said so, or there is none.
using PeerCounts = std::array<std::uint8_t, peers_max>;

/// What peers say with what they contribute: their wishes for the rounds to come, of two that stand
/// at once the stronger of each, and who made it, by union.
struct Wish {
    StopReason stop = StopReason::none;
    std::uint8_t doublings = 0;  ///< of the global batch (src/numbers/batch_growth.h)
    PeerCounts learners = {};    ///< sma: that made what each peer contributed

    bool operator==(const Wish&) const = default;
};

constexpr PeerCounts united(const PeerCounts& one, const PeerCounts& other) {
    PeerCounts both{};
    for (std::size_t peer = 0; peer < both.size(); ++peer)
        both[peer] = std::max(one[peer], other[peer]);
    return both;
}

constexpr Wish stronger(const Wish& one, const Wish& other) {
    return {stronger(one.stop, other.stop), std::max(one.doublings, other.doublings),
            united(one.learners, other.learners)};
}

/// The newest verdict of the evaluating peer on the test set, at a mark of progress (0 .. 1).
struct Verdict {
    double progress = 0;
    float accuracy = 0;                ///< 0 .. 1
    std::optional<float> loss = 0.0F;  ///< nothing where the program does not say it

    bool operator==(const Verdict&) const = default;
};

/// What of the data has been trained on, by anybody, as far as the sender has heard, where data
/// shards follow the live peers (src/group/coverage.h); merged by union.
struct Covered {
    std::uint32_t pass = 0;                ///< all before it are over
    std::vector<std::uint64_t> done;       ///< portions of it that are: bit k % 64 of word k / 64
    std::vector<std::uint64_t> done_next;  ///< and of the pass after it
    std::optional<Portion> in_hand;        ///< what the sender trains on
    std::uint64_t items = 0;               ///< so many of it, in rounds that have ended

    bool operator==(const Covered&) const = default;
};

/// The state of the sender, repeated as a heartbeat; nothing in it is said only once.
struct Status {
    Time sent_at{};                  ///< sender's clock
    Time echo_sent_at{};             ///< `sent_at` of the newest Status received from you; 0 = none
    Time echo_held{};                ///< how long I have held it
    std::optional<float> loss;       ///< mean loss of my newest round, where it is known
    std::vector<Progress> progress;  ///< [peer_count]
    PerRow<RowHeld> rows;            ///< [peer_count]
    PeerSet reached = 0;             ///< peers I have a session with
    StopReason stop = StopReason::none;
    std::optional<Round> final_round;  ///< my last round, once I have stopped
    CutId accepted;                    ///< the cut that I hold and have accepted
    CutId decided;                     ///< the cut that a majority accepted
    std::optional<Digest> digest;      ///< of rows and anchor, once I have adopted the cut
    std::optional<Verdict> verdict;
    std::uint32_t cut_blocks = 0;  ///< of the cut I pull: how many I hold, a sign that I move
    /// Who was asked for a stop that is `requested`, as far as I have heard, merged by union. The
    /// modes with buckets leave it empty: there everybody's `stop` is its own wish.
    PeerSet asked = 0;
    /// I take in the rows of a run that is under way, my own among them, and make no rounds yet.
    bool joining = false;
    bool has_vote = true;  ///< on the cut (src/agreement/agreement.h); only ako ever says no
    /// Peers that may have voted on it, in this life or an earlier one: of which I have heard that
    /// they trained, or came to the end. Merged by union; the other modes leave it empty.
    PeerSet may_have_voted = 0;
    std::optional<Covered> covered = {};  ///< there with `data.sharding: elastic`
    bool leaving = false;  ///< I make no more rounds and go as soon as you hold my row; you go on
    /// The process that says all this, and its checkpoints on the disk, newest first. Before the
    /// first round those that it could go on from; none: it begins anew.
    std::uint64_t process_id = 0;
    std::vector<CheckpointId> checkpoints = {};
    /// I go on from a checkpoint, and have not begun: what I know I have from a disk, or from
    /// somebody else. Only ako says so.
    bool resuming = false;
    /// Of the run, through all its starts: 0 = not known yet. Only ako says so.
    std::uint64_t run_id = 0;
    /// Of the initial parameters, once I have those of the run; nothing where all bring the same.
    std::optional<Digest> initial = {};
    /// So many times the global batch is to be doubled by now, as far as I have heard; merged by
    /// maximum. Only ako says so: in the other modes it travels as a wish with the elements.
    std::uint8_t batch_doublings = 0;

    bool operator==(const Status&) const = default;
};

/// `count` consecutive blocks of one version.
struct VersionRun {
    BlockIndex count = 0;
    Version version;

    bool operator==(const VersionRun&) const = default;
};

/// "Send me these blocks of row `row`": newer than the version given, or exactly of it.
struct Want {
    struct Run {
        BlockRun blocks;
        Version version;
        bool operator==(const Run&) const = default;
    };
    RowIndex row;
    bool exact = false;
    std::vector<Run> runs;

    bool operator==(const Want&) const = default;
};

/// "Of what you wanted of row `row`, these blocks do not come": I do not hold them so, or as much
/// waits for you as I keep.
struct Lack {
    RowIndex row;
    std::vector<BlockRun> runs;

    bool operator==(const Lack&) const = default;
};

/// "Send me the versions of all blocks that you hold."
struct WantVersions {
    bool operator==(const WantVersions&) const = default;
};

/// The versions of all blocks of one row, as the sender holds them.
struct Versions {
    RowIndex row;
    std::vector<VersionRun> runs;

    bool operator==(const Versions&) const = default;
};

/// "Send me the version map of this cut."
struct WantCut {
    CutId cut;

    bool operator==(const WantCut&) const = default;
};

/// One row of the version map of a cut.
struct CutRow {
    CutId cut;
    RowIndex row;
    std::vector<VersionRun> runs;

    bool operator==(const CutRow&) const = default;
};

/// Single-decree Paxos over the cut (Lamport, "Paxos Made Simple", 2001), with votes that are lost
/// and regained (src/agreement/agreement.h).
struct Prepare {
    Ballot ballot;
    bool regains = false;  ///< the sender has no vote, and asks to have one again
    bool operator==(const Prepare&) const = default;
};
struct Promise {
    Ballot ballot;
    Ballot accepted_ballot;  ///< none() = nothing accepted
    CutId accepted_cut;
    bool has_vote = true;  ///< the sender; if not, its promise does not count
    /// [peer_count]: the ballot of the newest vote that the sender knows of each peer, itself
    /// included; none() = the one from the start. Empty: all are from the start.
    std::vector<Ballot> votes = {};
    bool operator==(const Promise&) const = default;
};
struct Accept {
    Ballot ballot;
    CutId cut;
    bool operator==(const Accept&) const = default;
};
struct Accepted {
    Ballot ballot;
    CutId cut;
    bool operator==(const Accepted&) const = default;
};

/// "I leave on purpose": left, not lost.
struct Bye {
    Round final_round = 0;
    std::optional<PeerIndex> gone{};  ///< whose loss is the reason, in modes that cannot go on
    bool leaves = false;              ///< before the end: the run goes on without me
    bool operator==(const Bye&) const = default;
};

/// What a chunk holds.
enum class ChunkKind : std::uint8_t {
    reduced,     ///< ring: a sum that lacks contributions
    gathered,    ///< ring: a whole sum
    pushed,      ///< a worker's gradient, to its server
    pulled,      ///< parameters in answer, to a worker
    final,       ///< parameters after every worker's last round
    restored,    ///< elastic ring: a whole sum of an epoch before, for who lacks it
    parameters,  ///< and the state after a sync, for a newcomer
    velocity,
};

/// Elements of the flat vector, from `first`; the payload is their values. What the modes ring,
/// parameter-server and local-sgd send.
struct Chunk {
    ChunkKind kind = ChunkKind::reduced;
    Wish wish = {};                      ///< the strongest of all whose contribution is in it
    std::uint32_t workers = 0;           ///< pulled, final: whose gradients the last step took in
    std::uint64_t sync = 0;              ///< from 1; of the worker it comes from or goes to
    std::uint64_t first = 0;             ///< element
    std::uint64_t rounds_total = 0;      ///< pulled, final: rounds of all workers in it
    std::uint32_t checksum = 0;  ///< CRC-32C of the payload; made and checked by the transport
    std::uint32_t epoch = 0;     ///< elastic ring: that of the sender
    PeerSet contributors = 0;    ///< restored: whose gradients are in the sum

    bool operator==(const Chunk&) const = default;
};

using Header =
    std::variant<Hello, Reject, Partial, Status, Want, WantCut, CutRow, Prepare, Promise, Accept,
                 Accepted, Bye, Chunk, Lack, WantVersions, Versions, Membership, MemberState>;

/// The field's name of a message, for logs and errors.
inline const char* header_name(const Header& header) {
    static constexpr const char* names[] = {
        "Hello",  "Reject",  "Partial",      "Status",   "Want",       "WantCut",
        "CutRow", "Prepare", "Promise",      "Accept",   "Accepted",   "Bye",
        "Chunk",  "Lack",    "WantVersions", "Versions", "Membership", "MemberState"};
    static_assert(std::size(names) == std::variant_size_v<Header>);
    return names[header.index()];
}

}  // namespace ako
