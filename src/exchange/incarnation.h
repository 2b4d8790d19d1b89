// What an incarnation is made of. The upper 16 bits count the lives of the row before this one, the
// lower 48 are of the random id of the process that makes it: so an incarnation names one life of
// one process, and no two processes ever claim the same one, not even in two halves of a network
// that cannot reach each other. A later life is the higher number. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "ako/assert.h"
#include "ako/types.h"

namespace ako {

inline constexpr unsigned process_bits = 48;
/// The most that can be counted; a peer that is restarted every minute comes there in 45 days.
inline constexpr std::uint64_t lives_max = (std::uint64_t{1} << (64 - process_bits)) - 1;

/// The process of an incarnation, or the part of a process id that goes into an incarnation. Never
/// 0 for a valid process id.
constexpr std::uint64_t process_of(std::uint64_t id) {
    return id & ((std::uint64_t{1} << process_bits) - 1);
}

/// How many lives the row had before this one.
constexpr std::uint64_t lives_before(Incarnation incarnation) {
    return incarnation >> process_bits;
}

/// Is it of a row that was begun at zero?
constexpr bool begins(Incarnation incarnation) {
    return incarnation != 0 && lives_before(incarnation) == 0;
}

/// The incarnation of a row that begins at zero.
inline Incarnation first_incarnation(std::uint64_t process_id) {
    AKO_ASSERT(process_of(process_id) != 0, "a process id without a number");
    return process_of(process_id);
}

/// The incarnation of a row that goes on from one whose highest incarnation was `highest`; 0: there
/// was none. Returns nothing if no more lives can be counted.
inline std::optional<Incarnation> next_incarnation(Incarnation highest, std::uint64_t process_id) {
    if (highest == 0) return first_incarnation(process_id);
    if (lives_before(highest) == lives_max) return std::nullopt;
    return (lives_before(highest) + 1) << process_bits | first_incarnation(process_id);
}

/// What it means to a process whose row is of `own` that somebody holds that row as of `heard`.
enum class Rival {
    none,         ///< nothing, or an ancestor, or one that is to give way itself
    begun_apart,  ///< another row of this name: neither holds what the other does
    taken_over,   ///< a later life of this row
};
constexpr Rival rival(Incarnation heard, Incarnation own) {
    if (heard == 0 || own == 0 || heard == own) return Rival::none;
    if (begins(heard) && begins(own)) return Rival::begun_apart;
    return heard > own ? Rival::taken_over : Rival::none;
}

/// Nothing was ever made in round 0, so its row is the zero row that everybody starts with.
constexpr Version version_of(Round round, Incarnation incarnation) {
    return round == 0 ? Version{} : Version{incarnation, round};
}

}  // namespace ako
