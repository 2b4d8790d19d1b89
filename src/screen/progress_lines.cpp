#include "src/screen/progress_lines.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <utility>

#include "src/results/number_text.h"

namespace ako {

ProgressLines::ProgressLines(Console& console, std::string name)
    : console_(console), name_(std::move(name)) {}

std::string progress_text(const RunState& state) {
    const PeerState& own = *state.own();
    const MetricsLine& line = own.line;
    std::string text =
        fmt::format("{:.0f} %  epoch {:.2f} of {:.4g}", std::floor(state.progress() * 100),
                    state.progress() * state.epochs(), state.epochs());
    if (const auto left = state.seconds_left())
        text += fmt::format("  {} left", clock_text(std::ceil(*left)));
    text += fmt::format("  round {}", grouped(line.round));
    if (line.phase != "training") return text + "  " + phase_text(line);
    text += fmt::format("  {:.0f} samples/s", line.samples_per_s);
    if (line.loss) text += fmt::format("  loss {:.4f}", *line.loss);
    if (line.noise_scale) text += fmt::format("  noise {:.3g}", *line.noise_scale);
    if (line.accuracy) text += fmt::format("  test {:.2f} %", *line.accuracy * 100);
    if (state.peers().size() == 1) return text;
    return text + fmt::format("  out {:.1f} in {:.1f} Mbit/s  {} of {} peers", line.egress_mbit,
                              line.ingress_mbit, state.peers_at_work(), state.peers().size());
}

void ProgressLines::show_second(const RunState& state) {
    const PeerState& own = *state.own();
    const std::string& phase = own.line.phase;
    // How it ends the log says, and at the start whom it waits for, and why.
    if (!own.heard || phase == "done" || (phase == "waiting" && own.line.round == 0)) return;
    // Rounds that wait now and then are no news.
    const auto trains = [](const std::string& it) { return it == "training" || it == "waiting"; };
    const bool news = phase != phase_ && !(trains(phase) && trains(phase_));
    if (!news && state.seconds() - said_at_ < line_distance_s) return;
    phase_ = phase;
    said_at_ = state.seconds();
    console_.print(Console::Stream::out,
                   fmt::format("{:%H:%M:%S}  {}  {}\n", fmt::localtime(std::time(nullptr)), name_,
                               progress_text(state)));
}

}  // namespace ako
