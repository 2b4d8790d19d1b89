// The headers of frames as plain structs: what peers say to each other. Each struct lists its
// fields once, in `fields`, and all else comes from that list: what travels and what is refused
// (net/codec.h, which owns the bytes), the proof over a Hello, the random headers of the tests and
// the lies of a fuzz target. Hello and Reject belong to the transport's handshake; everything else
// is handed up unread.
//
// To add a field: a member and, below, its line in `fields`, with a bound (ako/bounds.h) where its
// type may hold more than is meant; a list by itself has peers_max entries at most. A test fails if
// the line is missing. A new enumerator: `last` beside its enum. To add a message: a struct with ==
// and `fields`, its place at the end of `Header` and its name in `header_name`; then each mode says
// in its `refuse` whether it takes it. Either way: raise `protocol_version`, and make the first
// inputs of the fuzz target anew (tests/fuzz/make_codec_corpus.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ako/blocks.h"
#include "ako/bounds.h"
#include "ako/data_description.h"
#include "ako/farewell.h"
#include "ako/membership.h"
#include "ako/payload.h"
#include "ako/probe.h"
#include "ako/row_index.h"
#include "ako/status.h"
#include "ako/types.h"

namespace ako {

/// Raised with every change of the wire that an older peer would misread.
inline constexpr std::uint32_t protocol_version = 14;

/// Bytes of one text of a header: a run's or a peer's name, a value in a Reject.
inline constexpr std::size_t text_bytes_max = 256;

/// Bytes of the settings in a Hello: keys and values of a cluster of some peers, or a list of some
/// layers. Whoever has more says their digest alone.
inline constexpr std::size_t settings_text_bytes_max = 2560;

/// Checksums of one Partial: a full payload in the smallest blocks that tests use, 4 floats.
inline constexpr std::size_t checksums_max = elements_within(payload_bytes_limit) / 4;

/// Runs of versions in one Want, CutRow or Versions: a row of 32,768 blocks (134 million
/// parameters) fits even if no two neighbours are of the same version.
inline constexpr std::size_t version_runs_max = block_count_max;

/// That the sender of a Hello holds the key of the cluster; net/cluster_key.h says what is proved.
struct KeyProof {
    Digest nonce{};  ///< random, the sender's own, one per connection
    Digest mac{};    ///< HMAC-SHA256 over what both have said so far

    bool operator==(const KeyProof&) const = default;

    static void fields(auto& it, auto&& each) {
        each("nonce", it.nonce);
        each("mac", it.mac);
    }
};

/// The first frame in both directions: it says who I am and what I train. Every field is checked by
/// the receiver.
struct Hello {
    std::uint32_t protocol = protocol_version;
    std::string run_name;
    Digest training_digest{};           ///< covers every setting that all peers must share
    Digest layout_digest{};             ///< covers the network's tensors
    Digest initial_digest{};            ///< covers the initial parameters
    std::string peer_name;              ///< the sender
    std::string to_peer_name;           ///< the peer that the sender believes to talk to
    std::uint64_t process_id = 0;       ///< random, not 0, one per process life
    std::optional<KeyProof> key_proof;  ///< there if the sender has a cluster key
    /// What training_digest is of, so that a refusal can name the key that differs: lines of keys
    /// and values. Empty = not said, as where it would be too long.
    std::string settings_text;
    DataDescription data;  ///< what the sender trains and judges on

    bool operator==(const Hello&) const = default;

    static void fields(auto& it, auto&& each) {
        each("protocol", it.protocol);
        each("process_id", it.process_id);
        each("run_name", it.run_name, bound::Line{text_bytes_max});
        each("training_digest", it.training_digest);
        each("layout_digest", it.layout_digest);
        each("initial_digest", it.initial_digest);
        each("peer_name", it.peer_name, bound::Line{text_bytes_max});
        each("to_peer_name", it.to_peer_name, bound::Line{text_bytes_max});
        each("key_proof", it.key_proof);
        each("settings_text", it.settings_text, bound::Lines{settings_text_bytes_max});
        each("data", it.data);
    }
};

/// Why a Hello is refused: the field, what was expected and what came.
struct Reject {
    std::string field;
    std::string expected;
    std::string got;
    /// Under a cluster key: that the sender holds it, of this connection (net/cluster_key.h).
    std::optional<Digest> mac = {};

    bool operator==(const Reject&) const = default;

    static void fields(auto& it, auto&& each) {
        each("field", it.field, bound::Line{text_bytes_max});
        each("expected", it.expected, bound::Line{text_bytes_max});
        each("got", it.got, bound::Line{text_bytes_max});
        each("mac", it.mac);
    }
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

    static void fields(auto& it, auto&& each) {
        each("origin", it.origin);
        each("version", it.version);
        each("run", it.run);
        each("sealed_at", it.sealed_at);
        each("relayed", it.relayed);
        each("checksums", it.checksums, bound::AtMost{checksums_max});
        each("bound_at", it.bound_at);
        each("coded", it.coded);
    }
};

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
    std::uint8_t doublings = 0;  ///< global batch, see src/numbers/batch_growth.h
    PeerCounts learners = {};    ///< sma: that made what each peer contributed

    bool operator==(const Wish&) const = default;

    static void fields(auto& it, auto&& each) {
        each("stop", it.stop);
        each("doublings", it.doublings);
        each("learners", it.learners);
    }
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

/// `count` consecutive blocks of one version.
struct VersionRun {
    BlockIndex count = 0;
    Version version;

    bool operator==(const VersionRun&) const = default;

    static void fields(auto& it, auto&& each) {
        each("count", it.count);
        each("version", it.version);
    }
};

/// "Send me these blocks of row `row`": newer than the version given, or exactly of it.
struct Want {
    struct Run {
        BlockRun blocks;
        Version version;
        bool operator==(const Run&) const = default;

        static void fields(auto& it, auto&& each) {
            each("blocks", it.blocks);
            each("version", it.version);
        }
    };
    RowIndex row;
    bool exact = false;
    std::vector<Run> runs;

    bool operator==(const Want&) const = default;

    static void fields(auto& it, auto&& each) {
        each("row", it.row);
        each("exact", it.exact);
        each("runs", it.runs, bound::AtMost{version_runs_max});
    }
};

/// "Of what you wanted of row `row`, these blocks do not come": I do not hold them so, or as much
/// waits for you as I keep.
struct Lack {
    RowIndex row;
    std::vector<BlockRun> runs;

    bool operator==(const Lack&) const = default;

    static void fields(auto& it, auto&& each) {
        each("row", it.row);
        each("runs", it.runs, bound::AtMost{version_runs_max});
    }
};

/// "Send me the versions of all blocks that you hold."
struct WantVersions {
    bool operator==(const WantVersions&) const = default;

    static void fields(auto&, auto&&) {}
};

/// The versions of all blocks of one row, as the sender holds them.
struct Versions {
    RowIndex row;
    std::vector<VersionRun> runs;

    bool operator==(const Versions&) const = default;

    static void fields(auto& it, auto&& each) {
        each("row", it.row, bound::of_peer);
        each("runs", it.runs, bound::AtMost{version_runs_max});
    }
};

/// "Send me the version map of this cut."
struct WantCut {
    CutId cut;

    bool operator==(const WantCut&) const = default;

    static void fields(auto& it, auto&& each) { each("cut", it.cut); }
};

/// One row of the version map of a cut.
struct CutRow {
    CutId cut;
    RowIndex row;
    std::vector<VersionRun> runs;

    bool operator==(const CutRow&) const = default;

    static void fields(auto& it, auto&& each) {
        each("cut", it.cut);
        each("row", it.row, bound::of_peer);
        each("runs", it.runs, bound::AtMost{version_runs_max});
    }
};

/// Single-decree Paxos over the cut (Lamport, "Paxos Made Simple", 2001), with votes that are lost
/// and regained (src/agreement/agreement.h).
struct Prepare {
    Ballot ballot;
    bool regains = false;  ///< the sender has no vote, and asks to have one again
    bool operator==(const Prepare&) const = default;

    static void fields(auto& it, auto&& each) {
        each("ballot", it.ballot);
        each("regains", it.regains);
    }
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

    static void fields(auto& it, auto&& each) {
        each("ballot", it.ballot);
        each("accepted_ballot", it.accepted_ballot);
        each("accepted_cut", it.accepted_cut);
        each("has_vote", it.has_vote);
        each("votes", it.votes);
    }
};
struct Accept {
    Ballot ballot;
    CutId cut;
    bool operator==(const Accept&) const = default;

    static void fields(auto& it, auto&& each) {
        each("ballot", it.ballot);
        each("cut", it.cut);
    }
};
struct Accepted {
    Ballot ballot;
    CutId cut;
    bool operator==(const Accepted&) const = default;

    static void fields(auto& it, auto&& each) {
        each("ballot", it.ballot);
        each("cut", it.cut);
    }
};

/// "I leave on purpose": left, not lost.
struct Bye {
    Round final_round = 0;
    std::optional<PeerIndex> because_of{};  ///< the lost peer that is the reason, if any
    bool leaves = false;              ///< before the end: the run goes on without me
    /// How I ended; with `because_of`, how that peer did: `numbers`, `program`.
    Farewell farewell{};
    bool operator==(const Bye&) const = default;

    static void fields(auto& it, auto&& each) {
        each("final_round", it.final_round);
        each("because_of", it.because_of, bound::peer);
        each("leaves", it.leaves);
        each("farewell", it.farewell);
    }
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
constexpr ChunkKind last(ChunkKind) { return ChunkKind::velocity; }

/// Elements of the flat vector, from `first`; the payload is their values. What the modes ring,
/// parameter-server and local-sgd send.
struct Chunk {
    ChunkKind kind = ChunkKind::reduced;
    Wish wish = {};             ///< the strongest of all whose contribution is in it
    std::uint32_t workers = 0;  ///< pulled, final: workers whose gradients the last step took in
    std::uint64_t sync = 0;     ///< from 1; counts at the worker that it comes from or goes to
    std::uint64_t first = 0;    ///< element
    std::uint64_t rounds_total = 0;  ///< pulled, final: rounds of all workers in it
    std::uint32_t checksum = 0;      ///< CRC-32C of the payload; made and checked by the transport
    std::uint32_t epoch = 0;         ///< elastic ring: that of the sender
    PeerSet contributors = 0;        ///< restored: peers whose gradients are in the sum

    bool operator==(const Chunk&) const = default;

    static void fields(auto& it, auto&& each) {
        each("kind", it.kind);
        each("wish", it.wish);
        each("workers", it.workers);
        each("sync", it.sync);
        each("first", it.first);
        each("rounds_total", it.rounds_total);
        each("checksum", it.checksum);
        each("epoch", it.epoch);
        each("contributors", it.contributors);
    }
};

using Header =
    std::variant<Hello, Reject, Partial, Status, Want, WantCut, CutRow, Prepare, Promise, Accept,
                 Accepted, Bye, Chunk, Lack, WantVersions, Versions, Membership, MemberState,
                 Probe>;

/// A message of this kind that says nothing yet. REQUIRES kind < std::variant_size_v<Header>.
inline Header empty_header(std::size_t kind) {
    Header header;
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        ((k == kind ? static_cast<void>(header.emplace<k>()) : static_cast<void>(0)), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Header>>());
    return header;
}

/// The field's name of a message, for logs and errors.
inline const char* header_name(const Header& header) {
    static constexpr const char* names[] = {
        "Hello",  "Reject",  "Partial",      "Status",   "Want",       "WantCut",
        "CutRow", "Prepare", "Promise",      "Accept",   "Accepted",   "Bye",
        "Chunk",  "Lack",    "WantVersions", "Versions", "Membership", "MemberState",
        "Probe"};
    static_assert(std::size(names) == std::variant_size_v<Header>);
    return names[header.index()];
}

}  // namespace ako
