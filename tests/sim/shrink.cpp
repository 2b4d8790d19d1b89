// See shrink.h. The faults are left out in runs of half the list, a quarter, and so on down to one
// (as in delta debugging; Zeller, Hildebrandt, 2002).
#include "tests/sim/shrink.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace ako::sim {
namespace {

class Shrinker {
  public:
    Shrinker(const Scenario& failing, const std::string& violation, const Judge& judge,
             unsigned runs_max)
        : judge_(judge), kind_(kind_of(violation)), runs_max_(runs_max) {
        best_.scenario = failing;
        best_.scenario.shows_logs = false;
        best_.violation = violation;
    }

    Shrunk run() {
        bool smaller = true;
        while (smaller && best_.runs < runs_max_) {
            smaller = leave_out();
            for (std::size_t k = 0; k < faults().size(); ++k) smaller = simplify(k) || smaller;
        }
        return std::move(best_);
    }

  private:
    const Schedule& faults() const { return best_.scenario.faults; }

    bool fails(Schedule faults) {
        if (best_.runs >= runs_max_) return false;
        ++best_.runs;
        Scenario candidate = best_.scenario;
        candidate.faults = std::move(faults);
        const std::optional<std::string> violation = judge_(candidate);
        if (!violation || kind_of(*violation) != kind_) return false;
        best_.scenario = std::move(candidate);
        best_.violation = *violation;
        return true;
    }

    bool leave_out() {
        bool smaller = false;
        for (std::size_t run = std::max<std::size_t>(faults().size(), 1); run > 0; run /= 2) {
            for (std::size_t first = 0; first < faults().size();) {
                Schedule rest = faults();
                const auto from = rest.begin() + static_cast<std::ptrdiff_t>(first);
                const std::size_t count = std::min(run, rest.size() - first);
                rest.erase(from, from + static_cast<std::ptrdiff_t>(count));
                const bool left_out = fails(std::move(rest));
                smaller = smaller || left_out;
                if (!left_out) first += run;
            }
        }
        return smaller;
    }

    bool replace(std::size_t place, const Fault& simpler) {
        if (faults()[place] == simpler) return false;
        Schedule changed = faults();
        changed[place] = simpler;
        return fails(std::move(changed));
    }

    /// Shorter, then earlier: by half as long as that fails, then to a whole millisecond.
    bool simplify(std::size_t place) {
        bool simpler = false;
        for (Time Fault::*const time : {&Fault::lasts, &Fault::at}) {
            while ((faults()[place].*time).count() > 1000) {
                Fault half = faults()[place];
                half.*time /= 2;
                if (!replace(place, half)) break;
                simpler = true;
            }
            Fault whole = faults()[place];
            whole.*time = std::chrono::duration_cast<std::chrono::milliseconds>(whole.*time);
            simpler = replace(place, whole) || simpler;
        }
        return simpler;
    }

    const Judge& judge_;
    const std::string kind_;
    const unsigned runs_max_;
    Shrunk best_;
};

}  // namespace

std::string kind_of(const std::string& violation) {
    std::string kind;
    for (const char letter : violation) {
        const bool number = std::isdigit(static_cast<unsigned char>(letter)) || letter == '.';
        if (!number) kind += letter;
    }
    return kind;
}

Shrunk shrink(const Scenario& failing, const std::string& violation, const Judge& judge,
              unsigned runs_max) {
    return Shrinker(failing, violation, judge, runs_max).run();
}

}  // namespace ako::sim
