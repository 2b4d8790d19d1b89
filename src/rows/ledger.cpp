// Versions decide which copy of a block is newer; values are only ever replaced whole.
#include "src/rows/ledger.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ako/assert.h"
#include "src/exchange/incarnation.h"
#include "src/numbers/checksum.h"
#include "src/numbers/finite.h"

namespace ako {
namespace {

std::string at(RowIndex row, BlockIndex block) {
    return "row " + std::to_string(row.place()) + ", block " + std::to_string(block);
}

}  // namespace

Ledger::Ledger(PeerIndex self, std::size_t peer_count, const Blocks& blocks)
    : own_row_(row_of(self)), blocks_(blocks), rows_(peer_count) {
    for (const RowIndex row : all()) make_zero(rows_[row]);
}

void Ledger::make_zero(Row& row) const {
    row = {};
    row.values.assign(blocks_.element_count(), 0.0f);
    row.versions.assign(blocks_.count(), Version{});
    const std::span<const float> values(row.values);
    for (BlockIndex block = 0; block < blocks_.count(); ++block) {  // a cut may hold zero rows too
        const Range range = blocks_.range(block);
        row.checksums.push_back(crc32c(values.subspan(range.first, range.count)));
    }
}

void Ledger::set_own(const Snapshot& snapshot) {
    if (snapshot_ == nullptr) rows_[own_row_] = {};
    snapshot_ = &snapshot;
    rows_[own_row_].held_stale = true;
}

void Ledger::detach_own() {
    if (snapshot_ == nullptr) return;
    Row& row = rows_[own_row_];
    row.values = snapshot_->values;
    row.versions.assign(blocks_.count(), snapshot_->version);
    row.checksums = snapshot_->checksums;
    row.begun = begins(snapshot_->version.incarnation) ? snapshot_->version.incarnation : 0;
    snapshot_ = nullptr;
}

void Ledger::clear_begun(const std::vector<BlockIndex>& blocks) {
    AKO_ASSERT(snapshot_ == nullptr, "the own row is a snapshot");
    const std::vector<float> zeros(blocks_.block_elements());
    for (const BlockIndex block : blocks) {
        const auto values = std::span<const float>(zeros).first(blocks_.range(block).count);
        write(own_row_, block, {}, values, crc32c(values));
    }
    rows_[own_row_].begun = 0;
}

std::span<const float> Ledger::values(RowIndex row) const {
    return is_snapshot(row) ? snapshot_->values : rows_[row].values;
}

std::span<const float> Ledger::block(RowIndex row, BlockIndex block) const {
    const Range range = blocks_.range(block);
    return values(row).subspan(range.first, range.count);
}

Version Ledger::version(RowIndex row, BlockIndex block) const {
    return is_snapshot(row) ? snapshot_->version : rows_[row].versions[block];
}

std::uint32_t Ledger::checksum(RowIndex row, BlockIndex block) const {
    return is_snapshot(row) ? snapshot_->checksums[block] : rows_[row].checksums[block];
}

std::vector<std::span<const float>> Ledger::rows() const {
    std::vector<std::span<const float>> all;
    for (const RowIndex row : this->all()) all.push_back(values(row));
    return all;
}

std::vector<VersionRun> Ledger::versions(RowIndex row) const {
    std::vector<VersionRun> runs;
    for (BlockIndex block = 0; block < blocks_.count(); ++block) {
        const Version version = this->version(row, block);
        if (!runs.empty() && runs.back().version == version) {
            ++runs.back().count;
        } else {
            runs.push_back({1, version});
        }
    }
    return runs;
}

bool Ledger::begun_apart(RowIndex row, Incarnation incarnation) const {
    const Incarnation begun = rows_[row].begun;
    return begun != 0 && incarnation != begun && begins(incarnation);
}

BlockCheck Ledger::check(RowIndex row, BlockIndex block, Version version,
                         std::span<const float> values, std::uint32_t checksum) const {
    if (!takes(row, block, version)) return BlockCheck::late;
    return inspect(values, checksum);
}

BlockCheck Ledger::inspect(std::span<const float> values, std::uint32_t checksum) {
    if (crc32c(values) != checksum) return BlockCheck::damaged;
    if (!all_in_row_bounds(values)) return BlockCheck::diverged;
    return BlockCheck::good;
}

void Ledger::replace(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                     std::uint32_t checksum) {
    AKO_ASSERT(takes(row, block, version), "a version would fall: " + at(row, block));
    write(row, block, version, values, checksum);
}

void Ledger::adopt(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                   std::uint32_t checksum) {
    write(row, block, version, values, checksum);
}

void Ledger::write(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                   std::uint32_t checksum) {
    Row& held = rows_[row];
    AKO_ASSERT(!held.values.empty(), "the own row is written as a snapshot: " + at(row, block));
    const Range range = blocks_.range(block);
    AKO_ASSERT(values.size() == range.count, "wrong length: " + at(row, block));
    std::memcpy(held.values.data() + range.first, values.data(), values.size_bytes());
    held.versions[block] = version;
    held.checksums[block] = checksum;
    if (begins(version.incarnation)) held.begun = version.incarnation;
    held.held_stale = true;
}

RowHeld Ledger::held(RowIndex row) const {
    const Row& known = rows_[row];
    if (!known.held_stale) return known.held;
    std::vector<Version> own_versions;
    if (is_snapshot(row)) own_versions.assign(blocks_.count(), snapshot_->version);
    const std::vector<Version>& versions = is_snapshot(row) ? own_versions : known.versions;
    const auto [lowest, highest] = std::minmax_element(versions.begin(), versions.end());
    static_assert(std::has_unique_object_representations_v<Version>);  // no padding in a checksum
    known.held = {*lowest, *highest, crc32c(std::as_bytes(std::span(versions)))};
    known.held_stale = false;
    return known.held;
}

}  // namespace ako
