// Versions decide which copy of a block is newer; values are only ever replaced whole.
#include "src/rows/ledger.h"

#include <algorithm>
#include <cstring>

#include "ako/assert.h"
#include "src/numbers/checksum.h"
#include "src/numbers/finite.h"

namespace ako {
namespace {

std::string at(PeerIndex peer, BlockIndex block) {
    return "row " + std::to_string(peer) + ", block " + std::to_string(block);
}

}  // namespace

Ledger::Ledger(PeerIndex self, std::size_t peer_count, const Blocks& blocks)
    : self_(self), blocks_(blocks), rows_(peer_count) {
    for (PeerIndex peer = 0; peer < peer_count; ++peer) {
        if (peer == self) continue;
        rows_[peer].values.assign(blocks.element_count(), 0.0f);
        rows_[peer].versions.assign(blocks.count(), Version{});
        for (BlockIndex block = 0; block < blocks.count();
             ++block) {  // a cut may hold zero rows too
            rows_[peer].checksums.push_back(crc32c(this->block(peer, block)));
        }
    }
}

void Ledger::set_own(const Snapshot& snapshot) {
    own_ = &snapshot;
    rows_[self_].held_stale = true;
}

void Ledger::detach_own() {
    Row& row = rows_[self_];
    row.values = own_->values;
    row.versions.assign(blocks_.count(), own_->version);
    row.checksums = own_->checksums;
    own_ = nullptr;
}

std::span<const float> Ledger::row(PeerIndex peer) const {
    return is_snapshot(peer) ? own_->values : rows_[peer].values;
}

std::span<const float> Ledger::block(PeerIndex peer, BlockIndex block) const {
    const Range range = blocks_.range(block);
    return row(peer).subspan(range.first, range.count);
}

Version Ledger::version(PeerIndex peer, BlockIndex block) const {
    return is_snapshot(peer) ? own_->version : rows_[peer].versions[block];
}

std::uint32_t Ledger::checksum(PeerIndex peer, BlockIndex block) const {
    return is_snapshot(peer) ? own_->checksums[block] : rows_[peer].checksums[block];
}

std::vector<std::span<const float>> Ledger::rows() const {
    std::vector<std::span<const float>> all;
    for (PeerIndex peer = 0; peer < rows_.size(); ++peer) all.push_back(row(peer));
    return all;
}

BlockVerdict Ledger::judge(PeerIndex peer, BlockIndex block, Version version,
                           std::span<const float> values, std::uint32_t checksum) const {
    if (version <= this->version(peer, block)) return BlockVerdict::late;
    return inspect(values, checksum);
}

BlockVerdict Ledger::inspect(std::span<const float> values, std::uint32_t checksum) {
    if (crc32c(values) != checksum) return BlockVerdict::damaged;
    if (!all_in_row_bounds(values)) return BlockVerdict::diverged;
    return BlockVerdict::fresh;
}

void Ledger::replace(PeerIndex peer, BlockIndex block, Version version,
                     std::span<const float> values, std::uint32_t checksum) {
    AKO_ASSERT(version > this->version(peer, block), "a version would fall: " + at(peer, block));
    write(peer, block, version, values, checksum);
}

void Ledger::adopt(PeerIndex peer, BlockIndex block, Version version, std::span<const float> values,
                   std::uint32_t checksum) {
    write(peer, block, version, values, checksum);
}

void Ledger::write(PeerIndex peer, BlockIndex block, Version version, std::span<const float> values,
                   std::uint32_t checksum) {
    AKO_ASSERT(!rows_[peer].values.empty(),
               "the own row is written as a snapshot: " + at(peer, block));
    const Range range = blocks_.range(block);
    AKO_ASSERT(values.size() == range.count, "wrong length: " + at(peer, block));
    Row& row = rows_[peer];
    std::memcpy(row.values.data() + range.first, values.data(), values.size_bytes());
    row.versions[block] = version;
    row.checksums[block] = checksum;
    row.held_stale = true;
}

RowHeld Ledger::held(PeerIndex peer) const {
    const Row& row = rows_[peer];
    if (!row.held_stale) return row.held;
    std::vector<Version> own_versions;
    if (is_snapshot(peer)) own_versions.assign(blocks_.count(), own_->version);
    const std::vector<Version>& versions = is_snapshot(peer) ? own_versions : row.versions;
    const auto [lowest, highest] = std::minmax_element(versions.begin(), versions.end());
    std::vector<std::uint64_t> flat;  // Version has padding, which a checksum must not see
    flat.reserve(2 * versions.size());
    for (const Version& version : versions) {
        flat.push_back(version.incarnation);
        flat.push_back(version.round);
    }
    row.held = {*lowest, *highest, crc32c(std::as_bytes(std::span<const std::uint64_t>(flat)))};
    row.held_stale = false;
    return row.held;
}

}  // namespace ako
