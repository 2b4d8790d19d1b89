// Of which process's life each row is. A process that is restarted begins its row anew with the
// same version numbers, so a version alone does not say whether two copies can be compared.
// A row is of the first life that has made a round of it, as far as is known here: bound once, by
// its owner's own Partials or by what others say, and never changed. Not synchronised.
#pragma once

#include <cstdint>
#include <optional>

#include "ako/frame.h"
#include "ako/row_index.h"
#include "ako/types.h"

namespace ako {

class Lives {
  public:
    /// The own row is of this process, whatever others say.
    Lives(PeerIndex self, std::uint64_t process_id, std::size_t peer_count) : lives_(peer_count) {
        lives_[row_of(self)] = process_id;
    }

    /// The process id; 0 = nothing of this row was heard of.
    std::uint64_t of(RowIndex row) const { return lives_[row]; }

    /// Is the row known to be of another process than this one?
    bool other_than(RowIndex row, std::uint64_t process_id) const {
        return process_id != 0 && lives_[row] != 0 && lives_[row] != process_id;
    }

    /// Takes in what `header` from `peer`, which is process `process_id`, says of lives. A row of
    /// which it names another life than is known, if there is one: then nothing was taken in.
    std::optional<RowIndex> hear(PeerIndex peer, std::uint64_t process_id, const Header& header) {
        for (const bool bind : {false, true}) {
            std::optional<RowIndex> other;
            const auto named = [&](RowIndex row, std::uint64_t life) {
                if (other_than(row, life)) other = row;
                if (bind && lives_[row] == 0) lives_[row] = life;
            };
            if (const auto* partial = std::get_if<Partial>(&header)) {
                // The owner's Hello has said who it is.
                if (partial->relayed) named(partial->origin, partial->life);
                if (!partial->relayed) named(row_of(peer), process_id);
            } else if (const auto* row = std::get_if<CutRow>(&header)) {
                named(row->row, row->life);
            } else if (const auto* status = std::get_if<Status>(&header)) {
                for (const RowIndex i : AllRows(status->rows.size()))
                    named(i, status->rows[i].life);
            }
            if (other) return other;
        }
        return std::nullopt;
    }

  private:
    PerRow<std::uint64_t> lives_;
};

}  // namespace ako
