// How a run ends for one peer: the endings, with the word that stands for each in result files and
// the exit status of its process. The one place that knows them all. Values; any thread.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ako/frame.h"

namespace ako {

/// Exit statuses, the same for every command.
enum ExitStatus : int {
    exit_ok = 0,
    exit_crash = 1,         ///< of launch and compare: a peer ended by a bug
    exit_start_up = 2,      ///< settings, data, ports, memory, too few peers
    exit_numbers = 3,       ///< a loss, a gradient or a parameter is not finite
    exit_no_agreement = 4,  ///< none was possible, or the peers hold parameters that differ
    exit_broken = 5,        ///< a peer was lost that the mode cannot go on without (ring, a server)
    exit_not_written = 6,   ///< trained and agreed, but not all results could be written
    exit_interrupted = 130,
};

enum class Ending {
    finished,       ///< and all who finished together hold the same parameters
    interrupted,    ///< by a signal to this process; it may have agreed nevertheless
    not_agreed,     ///< trained to the end, but no agreement was possible
    not_identical,  ///< finished with the others, but not all hold the same parameters
    failed,         ///< training did not begin, such as for too few peers
    broken,         ///< it could not go on: a peer that its mode needs was lost
    numbers,        ///< a loss or a gradient of this peer is not finite, and nothing of it was
                    ///< sent; or a parameter at the end: there is no model
};

struct EndingEntry {
    Ending ending;
    const char* word;
    ExitStatus exit;
};

/// In the order of the enumeration.
inline constexpr std::array<EndingEntry, 7> endings = {{
    {Ending::finished, "finished", exit_ok},
    {Ending::interrupted, "interrupted", exit_interrupted},
    {Ending::not_agreed, "not_agreed", exit_no_agreement},
    {Ending::not_identical, "not_identical", exit_no_agreement},
    {Ending::failed, "failed", exit_start_up},
    {Ending::broken, "broken", exit_broken},
    {Ending::numbers, "numbers", exit_numbers},
}};

static_assert([] {
    for (std::size_t place = 0; place < endings.size(); ++place) {
        if (endings[place].ending != static_cast<Ending>(place)) return false;
    }
    return endings.back().ending == Ending::numbers;  // the last
}());

constexpr const EndingEntry& entry_of(Ending ending) {
    return endings[static_cast<std::size_t>(ending)];
}

constexpr std::optional<Ending> ending_of(std::string_view word) {
    for (const EndingEntry& it : endings) {
        if (word == it.word) return it.ending;
    }
    return std::nullopt;
}

/// It ended before the final exchange, so there are neither a verdict nor parameters.
constexpr bool gave_up(Ending ending) {
    return ending == Ending::failed || ending == Ending::broken || ending == Ending::numbers;
}

/// Why training is over, for people.
constexpr const char* sentence(StopReason reason) {
    switch (reason) {
        case StopReason::budget_spent:
            return "the sample budget is spent";
        case StopReason::target_reached:
            return "the target accuracy is reached";
        case StopReason::requested:
            return "a stop was requested";
        case StopReason::none:
            break;
    }
    return "";
}

}  // namespace ako
