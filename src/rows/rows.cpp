// The order of things: the replica takes the difference to what the ledger holds, then the ledger
// forgets it.
#include "src/rows/rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ako/assert.h"
#include "src/exchange/incarnation.h"
#include "src/numbers/checksum.h"
#include "src/numbers/finite.h"
#include "src/rows/anchor.h"
#include "src/rows/row_copies.h"

namespace ako {

Rows::Rows(PeerIndex self, std::size_t peer_count, const Blocks& blocks,
           std::span<const float> initial, Outbox& outbox, Snapshots& snapshots,
           Precision precision)
    : outbox_(outbox),
      snapshots_(snapshots),
      initial_(initial),
      ledger_(self, peer_count, blocks),
      replica_(ledger_, initial),
      own_row_(blocks, precision),
      own_past_(snapshots, outbox),
      ahead_(peer_count),
      update_(blocks.block_elements()),
      difference_(blocks.block_elements()),
      giving_(blocks.block_elements()),
      sealed_at_(peer_count, std::vector<Time>(blocks.count())) {}

void Rows::copy_anchor(std::span<float> out) const {
    compute_anchor(initial_, ledger_.rows(), {0, ledger_.blocks().element_count()}, out);
}

void Rows::claim(Incarnation incarnation, Round round, Time now) {
    AKO_ASSERT(!claimed() && !open_for_cut_ && !next_, "a row is claimed twice, or in a round");
    const SnapshotIndex next = outbox_.spare();
    Snapshot& snapshot = snapshots_[next];
    const std::span<const float> held = ledger_.values(ledger_.own());
    std::copy(held.begin(), held.end(), snapshot.values.begin());
    for (BlockIndex block = 0; block < ledger_.blocks().count(); ++block) {
        const Range range = ledger_.blocks().range(block);
        const std::span<float> values =
            std::span(snapshot.values).subspan(range.first, range.count);
        // A block of a later life holds what was begun before it.
        const Version version = ledger_.version(ledger_.own(), block);
        if (!aside_.empty() && lives_before(version.incarnation) == 0) {
            for (std::size_t k = 0; k < range.count; ++k) values[k] += aside_[range.first + k];
        }
        snapshot.checksums[block] = crc32c(std::span<const float>(values));
    }
    snapshot.version = version_of(round, incarnation);
    snapshot.sealed_at = now;
    incarnation_ = incarnation;
    take_up_carry();
    ledger_.set_own(snapshot);
    replica_.begin_anew();
    own_past_.forget();
    own_past_.add(next);
    current_ = next;
    current_posted_ = round > 0;  // of a row that is zero there is nothing to send
    if (current_posted_) outbox_.post(next);
}

void Rows::take_up_carry() {
    own_row_.forget_carry();
    const bool another = !aside_.empty() || restored_.versions.empty();
    for (BlockIndex block = 0; block < ledger_.blocks().count() && !another; ++block) {
        if (ledger_.version(ledger_.own(), block) != restored_.versions[block]) continue;
        const Range range = ledger_.blocks().range(block);
        const std::span<const float> carry = restored_.carry;
        std::ranges::copy(carry.subspan(range.first, range.count), own_row_.carry(block).begin());
    }
    aside_ = {};
    restored_ = {};
}

// ---- checkpoints

namespace {

std::string name_of(RowIndex row) { return "row." + std::to_string(row.place()); }

}  // namespace

void Rows::save(Checkpoint& out) const {
    for (const RowIndex row : ledger_.all()) save(row, out);
    out.put("carry", own_row_.carry());
}

void Rows::save(RowIndex row, Checkpoint& out) const {
    const Blocks& blocks = ledger_.blocks();
    const RowCopies copies(ledger_.row_count(), blocks.count());
    std::vector<float>& values = out.floats[name_of(row)];
    std::vector<std::uint64_t>& checksums = out.words[name_of(row) + ".checksums"];
    std::vector<std::uint64_t>& runs = out.words[name_of(row) + ".versions"];
    values.clear();
    values.reserve(copies.kept_of(owner_of(ledger_.own()), row) * blocks.block_elements());
    checksums.clear();
    runs.clear();
    std::optional<Version> of_run;
    for (BlockIndex block = 0; block < blocks.count(); ++block) {
        const bool keeps = copies.keeps(owner_of(ledger_.own()), row, block);
        const Version version = keeps ? ledger_.version(row, block) : Version{};
        if (std::exchange(of_run, version) == version)
            ++runs[runs.size() - 3];
        else
            runs.insert(runs.end(), {1, version.incarnation, version.round});
        if (version == Version{}) continue;
        const std::span<const float> held = ledger_.block(row, block);
        values.insert(values.end(), held.begin(), held.end());
        checksums.push_back(ledger_.checksum(row, block));
    }
}

Result<std::vector<Version>> Rows::kept_versions(RowIndex row, const Checkpoint& from) const {
    const auto runs = from.word_list(name_of(row) + ".versions");
    if (!runs) return tl::make_unexpected(runs.error());
    const std::size_t count = ledger_.blocks().count();
    std::vector<Version> versions;
    for (std::size_t k = 0; k + 2 < runs->size(); k += 3) {
        const std::uint64_t of_run = std::min<std::uint64_t>((*runs)[k], count - versions.size());
        versions.resize(versions.size() + of_run, Version{(*runs)[k + 1], (*runs)[k + 2]});
    }
    if (versions.size() == count) return versions;
    return fail(Error::Kind::io, "the checkpoint lacks versions of " + name_of(row));
}

Result<void> Rows::restore(RowIndex row, const Checkpoint& from) {
    const Result<std::vector<Version>> versions = kept_versions(row, from);
    if (!versions) return tl::make_unexpected(versions.error());
    const Blocks& blocks = ledger_.blocks();
    // Older ones hold every block, zeros where there was none.
    const auto sums = from.word_list(name_of(row) + ".checksums");
    const bool every = sums && sums->size() == blocks.count();
    const auto in_file = [&](BlockIndex block) { return every || (*versions)[block] != Version{}; };
    std::size_t elements = 0, kept = 0;
    for (BlockIndex block = 0; block < blocks.count(); ++block) {
        if (!in_file(block)) continue;
        elements += blocks.range(block).count;
        ++kept;
    }
    const auto values = from.vector(name_of(row), elements);
    if (!values) return tl::make_unexpected(values.error());
    const auto checksums = from.word_list(name_of(row) + ".checksums", kept);
    if (!checksums) return tl::make_unexpected(checksums.error());
    auto next_values = values->begin();
    auto next_checksum = checksums->begin();
    for (BlockIndex block = 0; block < blocks.count(); ++block) {
        if (!in_file(block)) continue;
        const std::span<const float> of_block(next_values, blocks.range(block).count);
        const auto checksum = static_cast<std::uint32_t>(*next_checksum++);
        next_values += static_cast<std::ptrdiff_t>(of_block.size());
        if ((*versions)[block] == Version{}) continue;
        const BlockCheck found =
            take(row, block, (*versions)[block], of_block, checksum, std::nullopt, Time{0});
        if (found != BlockCheck::good)
            return fail(Error::Kind::io, "the checkpoint has a block " + std::to_string(block) +
                                             " of " + name_of(row) +
                                             " that is not as its owner made it");
    }
    return {};
}

Result<void> Rows::restore(const Checkpoint& from) {
    for (const RowIndex row : ledger_.all()) {
        if (auto taken = restore(row, from); !taken) return taken;
    }
    restored_.carry.resize(ledger_.blocks().element_count());
    for (BlockIndex block = 0; block < ledger_.blocks().count(); ++block)
        restored_.versions.push_back(ledger_.version(ledger_.own(), block));
    return from.copy("carry", restored_.carry);
}

void Rows::disclaim() {
    ledger_.detach_own();
    own_past_.forget();
    if (!current_posted_) outbox_.give_back(*current_);
    current_.reset();
    replica_.begin_anew();
}

void Rows::set_aside(const std::vector<BlockIndex>& blocks) {
    aside_.resize(ledger_.blocks().element_count());
    for (const BlockIndex block : blocks) {
        const std::span<const float> held = ledger_.block(ledger_.own(), block);
        const Range range = ledger_.blocks().range(block);
        for (std::size_t k = 0; k < range.count; ++k) aside_[range.first + k] += held[k];
    }
    ledger_.clear_begun(blocks);
    replica_.begin_anew();
}

bool Rows::add(Round round, const MakeUpdate& make_update, Time now) {
    if (!add_blocks(round, 0, make_update)) return false;
    const SnapshotIndex next = *std::exchange(next_, std::nullopt);
    snapshots_[next].version = {incarnation_, round};
    snapshots_[next].sealed_at = now;
    ledger_.set_own(snapshots_[next]);
    if (!gives_way_.empty()) own_past_.forget();  // it holds what gave way
    own_past_.add(next);
    for (const GivesWay& it : gives_way_) replica_.end_giving_way(it.peer, it.advances);
    gave_way_ = std::exchange(gives_way_, {});
    outbox_.post(next);
    if (!current_posted_) outbox_.give_back(*current_);
    current_ = next;
    current_posted_ = true;
    replica_.fade();
    replica_.rebuild_next();
    return true;
}

bool Rows::add_early(Round round, BlockIndex first, const MakeUpdate& make_update, Time now) {
    if (!add_blocks(round, first, make_update)) return false;
    outbox_.post_part({*next_, first, {incarnation_, round}, now});
    return true;
}

bool Rows::add_blocks(Round round, BlockIndex first, const MakeUpdate& make_update) {
    AKO_ASSERT(claimed() && !open_for_cut_, "a round without a row, or after its cut was adopted");
    const Blocks& blocks = ledger_.blocks();
    if (!next_) {
        next_ = outbox_.spare();
        next_from_ = blocks.count();
    }
    for (BlockIndex block = first; block < next_from_; ++block) {
        const Range range = blocks.range(block);
        const std::span<float> update = std::span(update_).first(range.count);
        const std::span<float> difference = std::span(difference_).first(range.count);
        make_update(range, update);
        const std::span<const float> giving = take_out(block, update);
        own_row_.add(block, snapshots_[*current_], update, snapshots_[*next_], difference);
        const std::span<const float> grown(snapshots_[*next_].values);
        if (!all_in_row_bounds(grown.subspan(range.first, range.count))) return false;
        replica_.add_own(range, difference, giving);
        keep_marks_up(round, block, difference);
    }
    next_from_ = first;
    return true;
}

void Rows::keep_marks_up(Round round, BlockIndex block, std::span<const float> difference) {
    for (const RowIndex row : ledger_.all()) {
        const PeerIndex peer = owner_of(row);
        if (!ahead_[peer] || !replica_.stands_in(peer)) continue;
        if (own_round(peer, ledger_.version(row, block).round) >= round)
            replica_.keep_up(peer, block, difference);
    }
}

std::span<const float> Rows::take_out(BlockIndex block, std::span<float> update) {
    if (gives_way_.empty()) return {};
    const std::span<float> giving = std::span(giving_).first(update.size());
    std::fill(giving.begin(), giving.end(), 0.0f);
    for (const GivesWay& it : gives_way_)
        replica_.give_way(it.peer, block, it.share, it.before, giving);
    for (std::size_t k = 0; k < update.size(); ++k) update[k] -= giving[k];
    return giving;
}

BlockCheck Rows::take(RowIndex row, BlockIndex block, Version version,
                      std::span<const float> values, std::uint32_t checksum,
                      const std::optional<Time>& sealed_at, Time now) {
    AKO_ASSERT(!open_for_cut_, "a block after the cut was adopted");
    if (row == ledger_.own() && claimed()) return BlockCheck::late;
    const BlockCheck found = ledger_.check(row, block, version, values, checksum);
    if (found != BlockCheck::good) return found;
    const PeerIndex owner = owner_of(row);
    if (sealed_at && replica_.stands_in(owner)) {
        const double share = replica_.share(owner, block, *sealed_at, now);
        std::optional<OwnPast::Moment> then;
        if (ahead_[owner]) then = own_past_.after(own_round(owner, version.round));
        // A seal that is older than what the mark counts from moves nothing.
        if (!then && share > 0) then = own_past_.at(*sealed_at);
        replica_.absorb(owner, block, values, &share, then ? &*then : nullptr);
    } else if (replica_.awaits(owner, block)) {
        const double share = replica_.share(owner, block, now, now);
        replica_.absorb(owner, block, values, &share);
    } else {
        replica_.absorb(owner, block, values, nullptr);
    }
    ledger_.replace(row, block, version, values, checksum);
    if (sealed_at) sealed_at_[row][block] = *sealed_at;
    return found;
}

void Rows::stand_in(PeerIndex peer, bool stands_in, Time now) {
    for (GivesWay& it : gives_way_) {
        if (it.peer != peer) continue;
        it.advances = stands_in;
        return;  // it begins with what gives way
    }
    if (stands_in == replica_.stands_in(peer)) return;
    if (stands_in) {
        replica_.begin_standing_in(peer, now);
    } else {
        replica_.stop_standing_in(peer);
    }
}

bool Rows::give_way(PeerIndex peer, double share, Round before) {
    const bool gives_already = std::any_of(gives_way_.begin(), gives_way_.end(),
                                           [peer](const GivesWay& it) { return it.peer == peer; });
    if (gives_already || !replica_.apart(peer)) return false;
    gives_way_.push_back({peer, share, before, replica_.apart_since(peer), false});
    return true;
}

void Rows::heard_of(PeerIndex peer) {
    if (replica_.apart(peer)) replica_.heard_of(peer);
}

Ledger& Rows::open_for_cut() {
    open_for_cut_ = true;
    ledger_.detach_own();
    return ledger_;
}

Time Rows::oldest_seal(RowIndex row) const {
    return *std::min_element(sealed_at_[row].begin(), sealed_at_[row].end());
}

}  // namespace ako
