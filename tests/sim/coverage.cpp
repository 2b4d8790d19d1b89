// See coverage.h.
#include "tests/sim/coverage.h"

#include <iterator>

namespace ako::sim {
namespace {

constexpr const char* names[] = {"deaths",
                                 "silent deaths",
                                 "hangs",
                                 "pauses",
                                 "stopped clocks",
                                 "cuts",
                                 "one-way silences",
                                 "frames lost",
                                 "frames reordered",
                                 "bits flipped",
                                 "infinite blocks",
                                 "damaged headers",
                                 "late joiners",
                                 "stops asked for",
                                 "targets reached",
                                 "hurried ends",
                                 "narrow links",
                                 "second processes",
                                 "sessions again",
                                 "second processes admitted",
                                 "second processes refused",
                                 "sessions parted by a row of two",
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
                                 "updates of own optimizers",
                                 "peers taken for gone",
                                 "peers left behind",
                                 "ends without agreement"};
static_assert(std::size(names) == static_cast<std::size_t>(Event::count));

}  // namespace

Coverage& Coverage::operator+=(const Coverage& other) {
    for (std::size_t k = 0; k < times_.size(); ++k) times_[k] += other.times_[k];
    return *this;
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
    return text;
}

std::string Coverage::never() const {
    std::string text;
    for (std::size_t k = 0; k < times_.size(); ++k) {
        if (times_[k] == 0) text += (text.empty() ? "" : ", ") + std::string(names[k]);
    }
    return text;
}

}  // namespace ako::sim
