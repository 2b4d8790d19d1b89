// How a peer ended, as its Bye tells the others: the causes, the word for each in files, and the
// sentence that people read. Values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ako/bounds.h"
#include "ako/types.h"

namespace ako {

enum class EndCause : std::uint8_t {
    finished,     ///< with the others
    left,         ///< it was asked to go, and the others go on
    interrupted,  ///< by a signal, at the end
    broken,       ///< it could not go on: a peer was lost, or its place is another's
    numbers,      ///< what it made is not to be trusted, and nothing of that was sent
    program,      ///< its program ended, or failed, before the training was over
};
constexpr EndCause last(EndCause) { return EndCause::program; }

/// In the order of the enumeration.
inline constexpr std::array<const char*, 6> end_cause_words = {"finished", "left",    "interrupted",
                                                               "broken",   "numbers", "program"};

constexpr const char* word(EndCause cause) {
    return end_cause_words.at(static_cast<std::size_t>(cause));
}

/// `left` for what is no such word.
constexpr EndCause end_cause_of(std::string_view text) {
    for (std::size_t k = 0; k < end_cause_words.size(); ++k) {
        if (text == end_cause_words.at(k)) return static_cast<EndCause>(k);
    }
    return EndCause::left;
}

struct Farewell {
    /// As much as travels of `why`.
    static constexpr std::size_t why_bytes_max = 200;

    EndCause cause = EndCause::finished;
    Round since = 0;  ///< numbers: the first round that is not to be trusted
    std::string why;  ///< for people, on one line

    /// Did it end otherwise than somebody wanted?
    bool failed() const { return cause >= EndCause::broken; }
    bool operator==(const Farewell&) const = default;

    static void fields(auto& it, auto&& each) {
        each("cause", it.cause);
        each("since", it.since);
        each("why", it.why, bound::FittedLine{why_bytes_max});
    }
};

/// Had it made rounds that are not to be trusted before it noticed? `last`: its newest.
inline bool noticed_late(const Farewell& said, Round last) {
    return said.cause == EndCause::numbers && said.since > 0 && said.since < last;
}

/// The text for a peer that failed. "ended at round 31: its numbers are not to be trusted (the loss
/// of round 31 is not finite)", or, if it noticed late, "ended after round 58: its numbers are not
/// to be trusted from round 40 on (..)". `last`: its newest round; 0: none, or not known.
inline std::string ended_text(const Farewell& said, Round last) {
    const bool late = noticed_late(said, last);
    const bool at_once = said.cause == EndCause::numbers && said.since > 0 && !late;
    const std::string at = at_once    ? " at round " + std::to_string(said.since)
                           : last > 0 ? " after round " + std::to_string(last)
                                      : "";
    const std::string what = said.cause == EndCause::numbers   ? "its numbers are not to be trusted"
                             : said.cause == EndCause::program ? "its program ended"
                                                               : "it could not go on";
    const std::string from = late ? " from round " + std::to_string(said.since) + " on" : "";
    return "ended" + at + ": " + what + from + (said.why.empty() ? "" : " (" + said.why + ")");
}

/// The same where the run goes on: "..; what it gave up to round 30 stays".
inline std::string ended_and_stays_text(const Farewell& said, Round last) {
    const std::string stays = "; what it gave up to round " + std::to_string(last) + " stays" +
                              (noticed_late(said, last) ? ", those rounds too" : "");
    return ended_text(said, last) + (last > 0 ? stays : "");
}

}  // namespace ako
