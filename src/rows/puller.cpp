// See puller.h.
#include "src/rows/puller.h"

#include <algorithm>
#include <utility>

namespace ako {
namespace {

/// Blocks over which the rate of a link is measured, about.
constexpr double rate_blocks = 16;
/// Where nothing is known of a holder, its first window is expected to take one patience.
constexpr double block_share_unknown = 1 / Puller::window_first;
/// Without a sign for so many times the patience, or so many blocks' time, a holder is silent.
constexpr int silence_patiences = 4;
constexpr double silence_blocks = 8;
/// After so many blocks' time, and a patience, what it was asked is asked elsewhere.
constexpr double quiet_blocks = 4;
/// Each silence in a row doubles the rest after it, so often at most.
constexpr unsigned silences_max = 4;
/// A block is under way from so many holders at most.
constexpr unsigned asked_max = 2;
/// Asked again where it comes so many times sooner: what is gained must outweigh that it comes
/// twice.
constexpr double sooner = 2;

bool contains(BlockRun run, BlockIndex block) {
    return block >= run.first && block - run.first < run.count;
}

}  // namespace

/// The questions of one step, while they are being put together.
class Puller::Step {
  public:
    Step(Puller& puller, Time now, const Need& need) : puller_(puller), now_(now) {
        for (const RowIndex row : AllRows(puller.sources_.size())) {
            holders_.push_back(need.holders(row));
            all_holders_ |= holders_[row];
        }
    }

    /// Has a holder so much room that it is worth a question?
    bool due() const {
        for (PeerIndex holder = 0; holder < puller_.sources_.size(); ++holder) {
            if (!(all_holders_ & peer_bit(holder)) || !puller_.has_room(holder, now_)) continue;
            const Source& source = puller_.sources_[holder];
            if (static_cast<double>(source.asked.size()) <= source.window * 3 / 4) return true;
        }
        return false;
    }

    PeerSet holders(RowIndex row) const { return holders_[row]; }

    /// The holder with room that would bring it first; nothing: there is none to ask.
    std::optional<PeerIndex> best(const Candidate& what) const {
        const PeerSet holders = holders_[what.place.first];
        const auto denied = puller_.denied_.find(what.place);
        if (denied == puller_.denied_.end()) return best_of(holders, what.place);
        const bool may_have_it_now = now_ >= denied->second.until;
        const bool is_first = what.expected.asked == 0;
        if (is_first || !may_have_it_now) {
            const auto other = best_of(holders & ~denied->second.holders, what.place);
            if (other || !may_have_it_now) return other;
        }
        return best_of(holders, what.place);
    }

    /// Seconds until a block that is asked of this holder now is there.
    double brings_in(PeerIndex holder) const {
        return (puller_.sources_[holder].ahead + 1) * puller_.block_seconds(holder, now_);
    }

    void ask(PeerIndex holder, const Candidate& what) {
        Source& source = puller_.sources_[holder];
        if (!source.busy()) source.moved_at = now_;
        source.asked.push_back({what.place, what.version});
        ++source.ahead;
        const auto [row, block] = what.place;
        auto& runs = want_of(holder, row).runs;
        if (!runs.empty() && runs.back().version == what.version &&
            runs.back().blocks.first + runs.back().blocks.count == block) {
            ++runs.back().blocks.count;
        } else {
            runs.push_back({{block, 1}, what.version});
        }
    }

    std::vector<Ask> take() { return std::move(asks_); }

  private:
    std::optional<PeerIndex> best_of(PeerSet holders, Place place) const {
        std::optional<PeerIndex> best;
        for (PeerIndex holder = 0; holder < puller_.sources_.size(); ++holder) {
            if (!(holders & peer_bit(holder)) || !puller_.has_room(holder, now_)) continue;
            if (best && brings_in(holder) >= brings_in(*best)) continue;
            if (!asked_of(holder, place)) best = holder;
        }
        return best;
    }
    bool asked_of(PeerIndex holder, Place place) const {
        const auto& asked = puller_.sources_[holder].asked;
        return std::any_of(asked.begin(), asked.end(),
                           [&](const Asked& a) { return a.place == place && !a.came; });
    }
    Want& want_of(PeerIndex holder, RowIndex row) {
        for (Ask& ask : asks_) {
            if (ask.holder == holder && ask.want.row == row) return ask.want;
        }
        asks_.push_back({holder, {row, puller_.exact_, {}}});
        return asks_.back().want;
    }

    Puller& puller_;
    const Time now_;
    PerRow<PeerSet> holders_;
    PeerSet all_holders_ = 0;
    std::vector<Ask> asks_;
};

Puller::Puller(const Roster& roster, BlockIndex block_count, bool exact)
    : roster_(roster), block_count_(block_count), exact_(exact), sources_(roster.peer_count()) {}

// ---- what a link brings

bool Puller::answers(const Partial& partial, const Asked& asked) const {
    if (asked.place.first != partial.origin || !contains(partial.run, asked.place.second)) {
        return false;
    }
    return exact_ ? partial.version == asked.version : partial.version > asked.version;
}

void Puller::arrived(PeerIndex from, const Partial& partial, Time at) {
    Source& source = sources_[from];
    if (source.busy() && at > source.moved_at) {
        const double keep = std::max(0.0, 1 - partial.run.count / rate_blocks);
        source.blocks = keep * source.blocks + partial.run.count;
        source.seconds = keep * source.seconds + seconds_of(at - source.moved_at);
    }
    source.moved_at = std::max(source.moved_at, at);
    source.silences = 0;
    if (!partial.relayed) {
        source.streamed = (partial.run.first + partial.run.count) % block_count_;
        source.still_streams -= std::min(source.still_streams, partial.run.count);
    } else {
        source.window += static_cast<double>(std::erase_if(
            source.asked, [&](const Asked& asked) { return answers(partial, asked); }));
    }
    for (Source& other : sources_) {
        for (Asked& asked : other.asked) asked.came |= answers(partial, asked);
    }
    const BlockRun run = partial.run;
    denied_.erase(denied_.lower_bound({partial.origin, run.first}),
                  denied_.lower_bound({partial.origin, run.first + run.count}));
}

void Puller::lacks(PeerIndex from, const Lack& lack, Time now) {
    Source& source = sources_[from];
    source.moved_at = std::max(source.moved_at, now);
    source.silences = 0;
    // An answer like any other, and one that cost the link nothing: most answers are of this
    // kind for a row of which little is newer elsewhere.
    source.window += static_cast<double>(std::erase_if(source.asked, [&](const Asked& asked) {
        const bool lacking = asked.place.first == lack.row &&
                             std::any_of(lack.runs.begin(), lack.runs.end(), [&](BlockRun run) {
                                 return contains(run, asked.place.second);
                             });
        if (lacking) {
            Denied& denied = denied_[asked.place];
            denied.holders |= peer_bit(from);
            denied.until = now + patience(from);
        }
        return lacking;
    }));
}

void Puller::forget_asked(PeerIndex holder) {
    Source& source = sources_[holder];
    source.asked.clear();
    source.window = std::min(source.window, window_first);
    source.silences = 0;
    source.rests_until = {};
}

void Puller::reset() {
    for (Source& source : sources_) {
        source.asked.clear();
        source.still_streams = 0;
    }
    denied_.clear();
}

double Puller::rate(PeerIndex from) const {
    const Source& source = sources_[from];
    return source.seconds > 0 ? source.blocks / source.seconds : 0;
}

double Puller::block_seconds(PeerIndex holder, Time now) const {
    const Source& source = sources_[holder];
    const double usual = source.seconds > 0 ? source.seconds / source.blocks
                                            : seconds_of(patience(holder)) * block_share_unknown;
    return source.busy() ? std::max(usual, seconds_of(now - source.moved_at)) : usual;
}

bool Puller::quiet(PeerIndex holder, Time now) const {
    const Source& source = sources_[holder];
    const double usual = source.seconds > 0 ? source.seconds / source.blocks : 0;
    const double allowed = std::max(seconds_of(patience(holder)), quiet_blocks * usual);
    return seconds_of(now - source.moved_at) > allowed;
}

bool Puller::has_room(PeerIndex holder, Time now) const {
    const Source& source = sources_[holder];
    return now >= source.rests_until && static_cast<double>(source.asked.size()) < source.window;
}

void Puller::give_up_silent(Time now) {
    for (PeerIndex holder = 0; holder < sources_.size(); ++holder) {
        Source& source = sources_[holder];
        const Time answer = patience(holder);
        const double usual = source.seconds > 0 ? source.seconds / source.blocks : 0;
        // As long as no block came, its time is not known: answers without any are far faster.
        const double least = source.seconds > 0 ? 0 : seconds_of(roster_.answer_time_at_first());
        const double allowed =
            std::max({silence_patiences * seconds_of(answer), silence_blocks * usual, least});
        if (!source.busy() || seconds_of(now - source.moved_at) <= allowed) continue;
        source.silences = std::min(source.silences + 1, silences_max);
        if (source.asked.empty()) continue;
        source.rests_until = now + answer * (1 << (source.silences - 1));
        source.window = window_first;
        source.asked.clear();
    }
}

void Puller::suit_windows(Time now) {
    // A peer that asks only between two rounds must ask for what comes in one.
    const Time since = now - std::exchange(stepped_at_, now);
    for (PeerIndex holder = 0; holder < sources_.size(); ++holder) {
        Source& source = sources_[holder];
        const Time span = std::max(patience(holder), since);
        // As long as the rate is not known, what has come doubles the window.
        const double brings =
            source.seconds > 0 ? seconds_of(span) * source.blocks / source.seconds : window_max;
        source.window = std::min(source.window, std::clamp(brings, window_min, window_max));
    }
}

// ---- what is expected

void Puller::count_streams(const Need& need, Time now) {
    for (PeerIndex owner = 0; owner < sources_.size(); ++owner) {
        const RowIndex row = row_of(owner);
        Source& source = sources_[owner];
        const bool was_busy = source.busy();
        source.still_streams = 0;
        const bool may = need.streams && source.silences == 0;
        for (BlockIndex block = 0; may && block < block_count_; ++block) {
            const std::optional<Version> version = need.lacking(row, block);
            if (version && need.streams(row, *version)) ++source.still_streams;
        }
        if (source.busy() && !was_busy) source.moved_at = now;
        source.ahead = static_cast<double>(source.asked.size() + source.still_streams);
    }
}

std::map<Puller::Place, Puller::Expected> Puller::expectations(Time now) const {
    std::map<Place, Expected> expected;
    for (PeerIndex holder = 0; holder < sources_.size(); ++holder) {
        if (quiet(holder, now)) continue;
        const double each = block_seconds(holder, now);
        double in = 0;
        for (const Asked& asked : sources_[holder].asked) {
            in += each;
            if (asked.came) continue;
            Expected& one = expected[asked.place];
            one.seconds = one.asked++ == 0 ? in : std::min(one.seconds, in);
        }
    }
    return expected;
}

void Puller::expect_streamed(const Need& need, Candidate& what, Time now) const {
    const auto [row, block] = what.place;
    const PeerIndex by = owner_of(row);
    const Source& owner = sources_[by];
    if (owner.still_streams == 0 || quiet(by, now) || !need.streams(row, what.version)) return;
    const BlockIndex before = (block + block_count_ - owner.streamed) % block_count_;
    const double in = (before + 1) * block_seconds(by, now);
    Expected& expected = what.expected;
    expected.seconds = expected.asked++ == 0 ? in : std::min(expected.seconds, in);
}

std::vector<Puller::Ask> Puller::step(Time now, const Need& need) {
    give_up_silent(now);
    suit_windows(now);
    Step step(*this, now, need);
    if (!step.due()) return {};

    count_streams(need, now);
    const std::map<Place, Expected> expected = expectations(now);
    std::vector<Candidate> under_way;
    const std::size_t all = sources_.size() * block_count_;
    const std::size_t first = cursor_;
    for (std::size_t seen = 0; seen < all; ++seen) {
        const std::size_t at = (first + seen) % all;
        const Place place{RowIndex::at(at / block_count_),
                          static_cast<BlockIndex>(at % block_count_)};
        if (step.holders(place.first) == 0) {
            seen += block_count_ - 1 - place.second;
            continue;
        }
        const std::optional<Version> version = need.lacking(place.first, place.second);
        if (!version) continue;
        const auto known = expected.find(place);
        Candidate what{place, *version, known == expected.end() ? Expected{} : known->second};
        expect_streamed(need, what, now);
        if (what.expected.asked > 0) {
            under_way.push_back(what);
        } else if (const std::optional<PeerIndex> holder = step.best(what)) {
            step.ask(*holder, what);
            cursor_ = (at + 1) % all;
        }
    }
    // The latest first: so the other holders send the end of what an owner streams.
    std::stable_sort(under_way.begin(), under_way.end(), [](const auto& a, const auto& b) {
        return a.expected.seconds > b.expected.seconds;
    });
    for (const Candidate& what : under_way) {
        if (what.expected.asked >= asked_max) continue;
        const std::optional<PeerIndex> holder = step.best(what);
        if (holder && sooner * step.brings_in(*holder) < what.expected.seconds) {
            step.ask(*holder, what);
        }
    }
    return step.take();
}

}  // namespace ako
