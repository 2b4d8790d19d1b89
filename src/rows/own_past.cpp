// See own_past.h.
#include "src/rows/own_past.h"

namespace ako {

void OwnPast::add(SnapshotIndex newest) {
    outbox_.keep(newest);
    kept_.push_back(newest);
    if (kept_.size() <= past_snapshots) return;
    outbox_.give_back(kept_.front());
    kept_.erase(kept_.begin());
}

void OwnPast::forget() {
    for (const SnapshotIndex snapshot : kept_) outbox_.give_back(snapshot);
    kept_.clear();
}

std::optional<OwnPast::Moment> OwnPast::at(Time time) const {
    const Snapshot* after = nullptr;
    for (auto index = kept_.rbegin(); index != kept_.rend(); ++index) {
        const Snapshot& snapshot = snapshots_[*index];
        if (snapshot.sealed_at > time) {
            after = &snapshot;
            continue;
        }
        if (after == nullptr) return Moment{&snapshot, &snapshot, 0.0f};
        const auto between = static_cast<double>((after->sealed_at - snapshot.sealed_at).count());
        const auto since = static_cast<double>((time - snapshot.sealed_at).count());
        return Moment{&snapshot, after, static_cast<float>(since / between)};
    }
    return std::nullopt;
}

std::optional<OwnPast::Moment> OwnPast::after(Round round) const {
    for (auto index = kept_.rbegin(); index != kept_.rend(); ++index) {
        const Snapshot& snapshot = snapshots_[*index];
        if (snapshot.version.round <= round) return Moment{&snapshot, &snapshot, 0.0f};
    }
    return std::nullopt;
}

}  // namespace ako
