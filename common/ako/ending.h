// How a run ends for one peer: the endings, with the word that stands for each in result files and
// the exit status of its process. The one place that knows them all. Values; any thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ako/frame.h"

namespace ako {

/// Exit statuses, the same for every command.
enum ExitStatus : int {
    exit_ok = 0,
    exit_crash = 1,         ///< launch, compare: a peer was ended by a bug
    exit_unwell = 1,        ///< status --health, as Docker has it: no answer, or it stands still
    exit_start_up = 2,      ///< settings, data, ports, memory, too few peers, a name that is taken
    exit_numbers = 3,       ///< a loss, a gradient or a parameter is not finite
    exit_no_agreement = 4,  ///< none was possible, or the peers hold parameters that differ
    exit_broken = 5,        ///< a peer was lost that the mode cannot go on without (ring, a server)
    exit_not_written = 6,   ///< trained and agreed, but not all results could be written
    exit_stopped_early = 7,  ///< agreed before the budget was spent: somebody asked for the end
    exit_not_learned = 8,    ///< agreed, but the model has learned nothing, or its loss has grown
    exit_interrupted = 130,
    exit_left = 143,  ///< this peer alone went, before the end: as shells say of SIGTERM
};

enum class Ending {
    finished,       ///< and all who finished together hold the same parameters
    stopped_early,  ///< likewise, but before its time, for a peer was asked to stop: not this one
    interrupted,    ///< by a signal to this process; it may have agreed nevertheless
    not_agreed,     ///< trained to the end, but no agreement was possible
    not_identical,  ///< finished with the others, but not all hold the same parameters
    failed,         ///< training did not begin, such as for too few peers; or it is not this
                    ///< process that trains under its name, but another
    broken,         ///< it could not go on: a peer that its mode needs was lost
    numbers,        ///< a loss or a gradient of this peer is not finite, and nothing of it was
                    ///< sent; or a parameter at the end: there is no model
    left,           ///< on purpose, while the others go on: what it learned is with them
    not_learned,    ///< finished, but the model is no better than chance, or the training has
                    ///< diverged with numbers that are finite
};

/// What shells, and who starts programs elsewhere, add to the number of the signal that ended one.
inline constexpr int shell_signal_offset = 128;

struct EndingEntry {
    Ending ending;
    const char* word;
    ExitStatus exit;
};

/// In the order of the enumeration.
inline constexpr std::array<EndingEntry, 10> endings = {{
    {Ending::finished, "finished", exit_ok},
    {Ending::stopped_early, "stopped_early", exit_stopped_early},
    {Ending::interrupted, "interrupted", exit_interrupted},
    {Ending::not_agreed, "not_agreed", exit_no_agreement},
    {Ending::not_identical, "not_identical", exit_no_agreement},
    {Ending::failed, "failed", exit_start_up},
    {Ending::broken, "broken", exit_broken},
    {Ending::numbers, "numbers", exit_numbers},
    {Ending::left, "left", exit_left},
    {Ending::not_learned, "not_learned", exit_not_learned},
}};

static_assert([] {
    for (std::size_t place = 0; place < endings.size(); ++place) {
        if (endings[place].ending != static_cast<Ending>(place)) return false;
    }
    return endings.back().ending == Ending::not_learned;  // the last
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

/// The peers agreed, and all results lie where they should: no failure of any kind.
constexpr bool went_well(int exit) { return exit == exit_ok || exit == exit_stopped_early; }

/// Why there is nothing to finish: a peer was asked to stop, and nobody had made a round.
inline constexpr const char* never_began = "interrupted before training began";

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

/// The reason for `requested`, with names: "peer b asked for it", "peers a, b and c asked for it".
inline std::string asked_text(const std::vector<std::string>& names) {
    if (names.empty()) return "somebody asked for it";
    std::string text = names.size() == 1 ? "peer " : "peers ";
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (k > 0) text += k + 1 == names.size() ? " and " : ", ";
        text += names[k];
    }
    return text + " asked for it";
}

}  // namespace ako
