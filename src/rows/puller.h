// Pulling blocks from several holders at once: decides whom to ask for what and when; the caller
// sends the Wants. Each holder has a window of blocks that are on their way, which follows what its
// link delivers; a block is asked of the holder that is expected to bring it first, and asked again
// elsewhere once another is expected to bring it in half the time. What the owner of a row streams
// by itself stands in the same estimate. So a slow link holds up nothing that a faster one can
// bring, and carries for nothing at most a window of blocks that came from elsewhere.
//
// "Block" is one block of one row. Compute thread only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ako/blocks.h"
#include "ako/frame.h"
#include "ako/row_index.h"
#include "ako/types.h"
#include "src/exchange/roster.h"

namespace ako {

class Puller {
  public:
    /// Blocks asked of one holder and not yet there: as many as it queues for one peer
    /// (Outbox::relay_bytes_max).
    static constexpr double window_max = 256;
    /// The window of a holder of which nothing is known yet. It is small, for all of it may come
    /// late; it doubles with each window that comes.
    static constexpr double window_first = 4;
    /// A slow link is kept busy while the next question travels, and no more.
    static constexpr double window_min = 2;

    /// What is lacking, and who could send it.
    struct Need {
        /// The version given to a lacking block: what is wanted (exact) or what is held (newer
        /// than). Nothing: the block is not lacking.
        std::function<std::optional<Version>(RowIndex row, BlockIndex block)> lacking;
        /// The peers that may be asked for a block of this row; without any it is passed over.
        std::function<PeerSet(RowIndex row)> holders;
        /// Does the row's owner send this version by itself? Empty: none does.
        std::function<bool(RowIndex row, Version version)> streams = {};
    };
    struct Ask {
        PeerIndex holder = 0;
        Want want;
    };

    /// `exact`: the kind of Want that is sent. REQUIRES: `roster` outlives this.
    /// The patience with a holder is the time that the roster gives it for an answer (answer_time).
    /// A window holds what its link delivers in one patience. A holder that did not have a block is
    /// asked for it again after one. After four without a sign of the holder, all that was asked of
    /// it is taken for lost.
    Puller(const Roster& roster, BlockIndex block_count, bool exact);

    /// The questions that are due.
    std::vector<Ask> step(Time now, const Need& need);

    /// Blocks came from `from`, whether they were lacking or not: answers and, if not relayed, what
    /// an owner streams.
    void arrived(PeerIndex from, const Partial& partial, Time at);
    /// `from` answers that these do not come.
    void lacks(PeerIndex from, const Lack& lack, Time now);
    /// A new session of `holder`: what was asked in the last one does not come.
    void forget_asked(PeerIndex holder);
    /// Nothing that was asked counts any more.
    void reset();

    /// Blocks per second that came from this peer lately; 0 = not known.
    double rate(PeerIndex from) const;
    /// Blocks that are asked of this peer and not yet there.
    std::size_t asked(PeerIndex from) const { return sources_[from].asked.size(); }

  private:
    using Place = std::pair<RowIndex, BlockIndex>;

    struct Asked {
        Place place;
        Version version;    ///< see Need
        bool came = false;  ///< from elsewhere: it still takes its time on this link
    };
    struct Source {
        std::vector<Asked> asked;  ///< in the order of the questions, which is that of the answers
        double window = window_first;
        Time moved_at{};  ///< something came, or the first question after a rest was asked
        // What came lately, older blocks counting less: their number and their time.
        double blocks = 0;
        double seconds = 0;
        unsigned silences = 0;         ///< in a row
        Time rests_until{};            ///< after a silence
        BlockIndex streamed = 0;       ///< after the newest block that its owner streamed
        BlockIndex still_streams = 0;  ///< blocks that its owner is expected to stream
        double ahead = 0;              ///< blocks that come before one that is asked now

        bool busy() const { return !asked.empty() || still_streams > 0; }
    };
    /// When a block is expected.
    struct Expected {
        unsigned asked = 0;  ///< of so many holders that are not silent
        double seconds = 0;  ///< from now; of the first of them
    };
    /// Holders that did not have it. For a patience they are not asked again; after that they come
    /// behind everybody who was not asked yet, or the others would be asked for ever for a block
    /// that only the slowest link can bring.
    struct Denied {
        PeerSet holders = 0;
        Time until{};  ///< a patience after the newest answer
    };
    struct Candidate {
        Place place;
        Version version;
        Expected expected;
    };
    class Step;

    bool answers(const Partial& partial, const Asked& asked) const;
    Time patience(PeerIndex holder) const { return roster_.answer_time(holder); }
    /// Seconds for one block; while it is silent, at least as long as that.
    double block_seconds(PeerIndex holder, Time now) const;
    /// Nothing came from it for so long that what was asked is better asked elsewhere.
    bool quiet(PeerIndex holder, Time now) const;
    bool has_room(PeerIndex holder, Time now) const;
    void give_up_silent(Time now);
    void suit_windows(Time now);
    void count_streams(const Need& need, Time now);
    std::map<Place, Expected> expectations(Time now) const;
    void expect_streamed(const Need& need, Candidate& what, Time now) const;

    const Roster& roster_;
    const BlockIndex block_count_;
    const bool exact_;
    std::vector<Source> sources_;  ///< [peer_count]
    std::map<Place, Denied> denied_;
    Time stepped_at_{};
    std::size_t cursor_ = 0;  ///< where the next question starts, so that no block is starved
};

}  // namespace ako
