#include "net/own_dial.h"

#include <utility>

#include "ako/assert.h"

namespace ako {
namespace {

/// How long an own dial waits for the confirmation of the other end's, and the other end's for the
/// answer to an own one: several round trips and a hiccup. Longer, and a greeting said again, or a
/// stopped process, costs more; shorter, and a slow machine has two sessions for a moment.
constexpr Time hold_back_max = std::chrono::seconds(1);

}  // namespace

Handshake* OwnDial::pending() const {
    const auto handshake = pending_.lock();
    return handshake && handshake->pending() ? handshake.get() : nullptr;
}

bool OwnDial::may_cross(Time now) const {
    return pending() != nullptr && now - expected_at_ < hold_back_max;
}

void OwnDial::expect(const std::shared_ptr<Handshake>& handshake, Time now) {
    AKO_ASSERT(pending() == nullptr, handshake->session()->remote() + " is dialled twice");
    was_held_ = false;
    expected_at_ = now;
    pending_ = handshake;
}

void OwnDial::hold_back(const Handshake& answered, Time now) {
    if (std::exchange(was_held_, true)) return;
    held_for_ = &answered;
    held_until_ = now + hold_back_max;
    dialer_->cancel(now);
}

void OwnDial::let_go(const Handshake& answered) {
    if (held_for_ != &answered) return;
    held_for_ = nullptr;
    held_until_ = Time{};
}

void OwnDial::settle(const Handshake& stands, Time now) {
    if (Handshake* dial = pending(); dial != nullptr && dial != &stands) dial->drop();
    pending_.reset();
    let_go(stands);
    was_held_ = false;
    dialer_->cancel(now);
}

void OwnDial::cancel(Time now) {
    dialer_->cancel(now);
    if (Handshake* dial = pending()) dial->drop();
}

void OwnDial::tick(Time now, Time excuse, bool wanted) {
    if (held_until_ != Time{}) held_until_ += excuse;
    if (wanted && pending() == nullptr && now >= held_until_) dialer_->tick(now, excuse);
}

}  // namespace ako
