// See cut.h.
#include "src/agreement/cut.h"

#include <algorithm>

namespace ako {

CutMap CutMap::of(const Ledger& ledger) {
    const BlockIndex block_count = ledger.blocks().count();
    CutMap map(ledger.row_count(), block_count);
    for (const RowIndex row : ledger.all()) {
        map.rows_[row].reserve(block_count);
        for (BlockIndex block = 0; block < block_count; ++block) {
            map.rows_[row].push_back(ledger.version(row, block));
        }
    }
    return map;
}

bool CutMap::set_row(RowIndex row, const std::vector<VersionRun>& runs) {
    std::size_t sum = 0;
    for (const VersionRun& run : runs) sum += run.count;
    if (sum != block_count_) return false;
    std::vector<Version> versions;
    versions.reserve(block_count_);
    for (const VersionRun& run : runs) versions.insert(versions.end(), run.count, run.version);
    rows_[row] = std::move(versions);
    return true;
}

std::vector<VersionRun> CutMap::runs(RowIndex row) const {
    std::vector<VersionRun> runs;
    for (const Version& version : rows_[row]) {
        if (!runs.empty() && runs.back().version == version) {
            ++runs.back().count;
        } else {
            runs.push_back({1, version});
        }
    }
    return runs;
}

bool CutMap::complete() const {
    return std::none_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.empty(); });
}

}  // namespace ako
