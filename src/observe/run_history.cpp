// See run_history.h.
#include "src/observe/run_history.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ako {
namespace {

/// What has become of a peer; nothing while that may be over in a moment.
std::string text_of(const LinkLine& link, bool was_told, PeerStanding before) {
    const std::string why = link.why.empty() ? "" : ": " + link.why;
    switch (standing_of(link)) {
        case PeerStanding::advancing:
            if (was_told && before == PeerStanding::slow) return "keeps up again";
            return was_told ? "is back, and trains" : "trains";
        case PeerStanding::slow:
            return "is too slow to be waited for";
        case PeerStanding::joining:
            return "takes in what the others have";
        case PeerStanding::lost:
            return "was lost" + why;
        case PeerStanding::gone:
            return "is gone" + why;
        case PeerStanding::left:
            return "left" + why;
        case PeerStanding::ended:
            return link.why.empty() ? words(PeerStanding::ended) : link.why;
        case PeerStanding::absent:
        case PeerStanding::connected:
        case PeerStanding::still:
        case PeerStanding::down:
            break;
    }
    return "";
}

}  // namespace

void ThinnedCurve::add(double time, double value) {
    if (sums_.empty() || sums_.back().count == count_of_each_) {
        if (sums_.size() == points_max) {
            for (std::size_t k = 0; k < points_max / 2; ++k) {
                const Sum& first = sums_[2 * k];
                const Sum& second = sums_[2 * k + 1];
                sums_[k] = {first.time + second.time, first.value + second.value,
                            first.count + second.count};
            }
            sums_.resize(points_max / 2);
            count_of_each_ *= 2;
        }
        sums_.emplace_back();
    }
    Sum& last = sums_.back();
    last = {last.time + time, last.value + value, last.count + 1};
}

std::vector<std::pair<double, double>> ThinnedCurve::points() const {
    std::vector<std::pair<double, double>> points;
    for (const Sum& sum : sums_) {
        const auto count = static_cast<double>(sum.count);
        points.emplace_back(sum.time / count, sum.value / count);
    }
    return points;
}

void RunHistory::add(const MetricsLine& line) {
    double losses = line.loss.value_or(0);
    int known = line.loss ? 1 : 0;
    for (const LinkLine& link : line.links) {
        add_event(line, link);
        if (!link.live || !link.loss) continue;
        losses += *link.loss;
        ++known;
    }
    if (known > 0) loss_.add(line.time, losses / known);
    if (line.accuracy && line.accuracy_at != accuracy_at_) {
        accuracy_.add(line.time, *line.accuracy);
        accuracy_at_ = line.accuracy_at;
    }
    if (!begun_ && line.progress > 0) begun_ = {line.time, line.progress};
}

void RunHistory::add_event(const MetricsLine& line, const LinkLine& link) {
    Told& told = told_[link.peer];
    const PeerStanding standing = standing_of(link);
    const bool trains = standing == PeerStanding::advancing || standing == PeerStanding::slow;
    if (!told.text.empty() && standing == told.standing) return;
    const std::string text = text_of(link, !told.text.empty(), told.standing);
    if (text.empty()) return;
    told = {standing, text};
    events_.push_back({trains ? line.time : std::min(link.since, line.time), link.peer, text});
    if (events_.size() > events_max) events_.pop_front();
}

std::string RunHistory::text() const {
    nlohmann::ordered_json json = {{"loss", loss_.points()}, {"accuracy", accuracy_.points()}};
    json["events"] = nlohmann::ordered_json::array();
    for (const Event& event : events_)
        json["events"].push_back(
            {{"time", event.time}, {"peer", event.peer}, {"text", event.text}});
    json["begun"] = nullptr;
    if (begun_) json["begun"] = {begun_->first, begun_->second};
    return json.dump();
}

}  // namespace ako
