// See coverage.h.
#include "tests/sim/coverage.h"

#include <iterator>

namespace ako::sim {
namespace {

constexpr const char* names[] = {"frames lost",
                                 "frames reordered",
                                 "bits flipped",
                                 "infinite blocks",
                                 "damaged headers",
                                 "stops asked for",
                                 "targets reached",
                                 "hurried ends",
                                 "narrow links",
                                 "processes begun anew",
                                 "for the third time and more",
                                 "second processes elsewhere",
                                 "sessions again",
                                 "second processes refused",
                                 "rows taken up again",
                                 "joined only to finish",
                                 "starts at zero of a forgotten name",
                                 "processes overtaken",
                                 "processes that gave up",
                                 "votes regained",
                                 "votes never regained",
                                 "cuts of those who forgot",
                                 "sessions ended over a damaged block",
                                 "silences noticed",
                                 "frames abandoned",
                                 "stalled links",
                                 "partials relayed",
                                 "blocks refused",
                                 "stand-ins begun",
                                 "stand-ins ended",
                                 "waits for staleness",
                                 "rows that gave way",
                                 "rows that gave way at the end",
                                 "Prepares",
                                 "second proposers",
                                 "outbid proposers",
                                 "re-proposals of an accepted cut",
                                 "Wants of a cut",
                                 "cuts below what was held",
                                 "pulls longer than the linger",
                                 "goodbyes",
                                 "layers ahead of their round",
                                 "updates of own optimizers",
                                 "peers taken for gone",
                                 "peers that left on purpose",
                                 "rows handed over before that",
                                 "peers refused for their growth",
                                 "peers left behind",
                                 "ends without agreement"};
static_assert(std::size(names) == static_cast<std::size_t>(Event::count));

}  // namespace

Coverage& Coverage::operator+=(const Coverage& other) {
    for (std::size_t k = 0; k < times_.size(); ++k) times_[k] += other.times_[k];
    for (std::size_t k = 0; k < struck_.size(); ++k) struck_[k] += other.struck_[k];
    return *this;
}

bool Coverage::has_phases(FaultKind kind) {
    return !is_lasting(kind) && kind != FaultKind::stop && kind != FaultKind::target;
}

std::string Coverage::text() const {
    std::string text;
    std::size_t column = 0;
    for (std::size_t k = 0; k < times_.size(); ++k) {
        const std::string item = std::string(names[k]) + " " + std::to_string(times_[k]);
        if (column + item.size() > 96) column = 0;
        text += column == 0 ? (k == 0 ? "  " : ",\n  ") : ", ";
        text += item;
        column += item.size() + 2;
    }
    text += "\nfaults that struck, by phase:";
    for (const char* phase : phase_words) text += std::string(" ") + phase;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        if (!has_phases(static_cast<FaultKind>(kind))) continue;
        text += std::string("\n  ") + word(static_cast<FaultKind>(kind)) + ":";
        for (std::size_t k = 0; k < phases; ++k) {
            text += " " + std::to_string(struck_[kind * phases + k]);
        }
    }
    return text;
}

std::string Coverage::never() const {
    std::string text;
    for (std::size_t k = 0; k < times_.size(); ++k) {
        if (times_[k] == 0) text += (text.empty() ? "" : ", ") + std::string(names[k]);
    }
    for (std::size_t k = 0; k < struck_.size(); ++k) {
        const auto kind = static_cast<FaultKind>(k / phases);
        if (struck_[k] != 0 || !has_phases(kind)) continue;
        // `late` counts in the furthest phase of the others. Where one of them joins, another is
        // further, so that it never counts in joining.
        if (kind == FaultKind::late && static_cast<Phase>(k % phases) == Phase::joining) continue;
        text += (text.empty() ? "" : ", ") + std::string(word(kind)) + " while " +
                phase_words[k % phases];
    }
    return text;
}

}  // namespace ako::sim
