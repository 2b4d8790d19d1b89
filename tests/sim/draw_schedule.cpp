// See draw_schedule.h. Each fault has its chance, in each phase of a run: most strike at a time,
// some when somebody comes to a certain point, at which nobody else knows of it yet.
#include "tests/sim/draw_schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/sim/scenario.h"
#include "tests/sim/sim_times.h"

namespace ako::sim {
namespace {

/// How long the first sessions take to come up, about.
constexpr Time connecting = ms(12);

class Draw {
  public:
    Draw(const Scenario& scenario, Random& random)
        : scenario_(scenario),
          random_(random),
          leaving_(scenario.seed ^ 0x1EAF),
          exploding_(scenario.seed ^ 0xB1A57),
          count_(scenario.peers.size()) {}

    Schedule schedule() {
        const bool rough = scenario_.weather == Weather::rough;
        if (rough || scenario_.weather == Weather::deaths) {
            draw_deaths();
            if (random_.chance(0.4)) draw_restarts();
        }
        if (rough) {
            draw_broken_network();
            draw_broken_finish();
            draw_clocks();
            if (random_.chance(0.15)) draw_alone();
            if (random_.chance(0.1)) draw_second();
        }
        if (random_.chance(0.2)) draw_stop_wish();
        const bool faulty = rough || scenario_.weather == Weather::deaths;
        if (faulty && leaving_.chance(0.12)) draw_leaving();
        if (faulty && exploding_.chance(0.1)) draw_exploding();
        return std::move(faults_);
    }

  private:
    PeerIndex some_peer() { return static_cast<PeerIndex>(random_.below(count_)); }
    PeerSet some_side() { return PeerSet{1 + random_.below((std::uint64_t{1} << count_) - 2)}; }
    PeerSet half() {
        PeerSet side = 0;
        for (std::size_t left = count_ / 2; left > 0;) {
            const PeerSet bit = peer_bit(some_peer());
            if ((side & bit) != 0) continue;
            side |= bit;
            --left;
        }
        return side;
    }
    std::pair<PeerIndex, PeerIndex> some_link() {
        const PeerIndex from = some_peer();
        return {from, static_cast<PeerIndex>((from + random_.between(1, count_ - 1)) % count_)};
    }
    void add(FaultKind kind, PeerIndex peer, Time at, Time lasts = Time{0}) {
        Fault fault;
        fault.kind = kind;
        fault.peer = peer;
        fault.at = at;
        fault.lasts = lasts;
        faults_.push_back(fault);
    }
    void add_lasting(FaultKind kind, double amount) {
        Fault fault;
        fault.kind = kind;
        fault.amount = amount;
        faults_.push_back(fault);
    }
    void add_cut(FaultKind kind, PeerSet side, Time at, Time lasts, PeerSet others = 0) {
        Fault fault;
        fault.kind = kind;
        fault.side = side;
        fault.others = others;
        fault.at = at;
        fault.lasts = lasts;
        faults_.push_back(fault);
    }
    /// Some of the newest fault strike while sessions come up, and some wait for a trigger.
    void move_newest(double triggered) { move_newest(triggered, random_); }
    void move_newest(double triggered, Random& random) {
        Fault& fault = faults_.back();
        if (random.chance(0.1)) fault.at = random.time(ms(0), connecting);
        if (!random.chance(triggered)) return;
        fault.trigger =
            static_cast<Trigger>(random.between(1, static_cast<std::uint64_t>(Trigger::count) - 1));
        fault.at = random.chance(0.3) ? Time{0} : random.time(ms(0), ms(120));
        if (!random.chance(0.4)) return;
        fault.peer.reset();  // whoever pulls it
        fault.side = fault.others = 0;
    }
    /// Short ones are as frequent as long ones.
    Time spread(Time low, Time high) {
        const double log = random_.real(std::log(static_cast<double>(low.count())),
                                        std::log(static_cast<double>(high.count())));
        return Time(static_cast<std::int64_t>(std::exp(log)));
    }

    void draw_deaths();
    void draw_restarts();
    void draw_broken_network();
    void draw_broken_finish();
    void draw_clocks();
    void draw_alone();
    void draw_second();
    void draw_stop_wish();
    void draw_leaving();
    void draw_exploding();
    void draw_straggler(const Fault& wish);

    const Scenario& scenario_;
    Random& random_;
    // Numbers of their own, so that all else of a seed is as it is without these faults.
    Random leaving_;
    Random exploding_;
    const std::size_t count_;
    Schedule faults_;
};

/// Peers die, hang, come late or do not wait at the end.
void Draw::draw_deaths() {
    if (random_.chance(0.35)) {
        const std::size_t victims = random_.between(1, std::max<std::size_t>(1, (count_ - 1) / 2));
        for (std::size_t k = 0; k < victims; ++k) {
            const bool silent = random_.chance(0.4);
            add(silent ? FaultKind::vanish : FaultKind::kill, some_peer(),
                random_.time(ms(5), ms(600)));
            move_newest(0.2);
        }
    }
    if (random_.chance(0.3)) {
        // Much longer than the final exchange takes, and than the others may wait.
        const Time lasts =
            random_.chance(0.15) ? random_.time(ms(7000), ms(9000)) : random_.time(ms(50), ms(400));
        add(FaultKind::hang, some_peer(), random_.time(ms(20), ms(300)), lasts);
        move_newest(0.2);
    }
    if (random_.chance(0.4)) {  // the sessions of one end at the finish, and come up again
        add_cut(FaultKind::cut, peer_bit(some_peer()), random_.time(ms(0), ms(20)), Time{0});
        faults_.back().trigger = Trigger::stop;
    }
    if (random_.chance(0.2)) {
        add(random_.chance(0.5) ? FaultKind::kill : FaultKind::vanish, some_peer(),
            random_.time(ms(0), ms(150)));
        faults_.back().trigger = Trigger::stop;
    }
    if (random_.chance(0.15)) {
        const Time at =
            random_.chance(0.7) ? random_.time(ms(450), ms(900)) : random_.time(ms(0), ms(2000));
        add(FaultKind::late, some_peer(), at);
    }
    if (random_.chance(0.1)) add_lasting(FaultKind::hurry, 0), faults_.back().peer = some_peer();
}

/// Other processes begin under the names of the dead: once, of several, of one again and again.
void Draw::draw_restarts() {
    const bool again_and_again = random_.chance(0.3);
    const std::size_t times = again_and_again ? random_.between(2, 6) : random_.between(1, 3);
    const PeerIndex victim = some_peer();
    for (std::size_t k = 0; k < times; ++k) {
        add(random_.chance(0.7) ? FaultKind::restart : FaultKind::reboot,
            again_and_again ? victim : some_peer(), random_.time(ms(20), ms(700)),
            spread(ms(1), ms(500)));
        move_newest(again_and_again ? 0.1 : 0.45);
    }
}

void Draw::draw_broken_network() {
    if (random_.chance(0.3)) add_lasting(FaultKind::loss, random_.real(0.0005, 0.02));
    if (random_.chance(0.25)) {
        const PeerSet side = random_.chance(0.4) ? half() : some_side();
        add_cut(FaultKind::cut, side, random_.time(ms(10), ms(400)), spread(ms(20), ms(1500)));
        move_newest(0.2);
    }
    if (random_.chance(0.1)) {
        add_cut(FaultKind::dark, random_.chance(0.5) ? half() : some_side(),
                random_.time(ms(10), ms(600)), spread(ms(20), ms(1500)));
        move_newest(0.3);
    }
    if (random_.chance(0.2)) {
        const auto [from, to] = some_link();
        add_cut(FaultKind::silence, peer_bit(from), random_.time(ms(10), ms(600)),
                random_.time(ms(20), ms(600)), peer_bit(to));
        move_newest(0.2);
    }
    if (random_.chance(0.1)) {  // all that one or some send, or all that they should hear
        const PeerSet side = some_side();
        const PeerSet all = (PeerSet{1} << count_) - 1;
        add_cut(FaultKind::silence, side, random_.time(ms(10), ms(600)), spread(ms(20), ms(1000)),
                all & ~side);
        move_newest(0.3);
    }
    if (random_.chance(0.2)) {
        add(random_.chance(0.6) ? FaultKind::pause : FaultKind::suspend, some_peer(),
            random_.time(ms(20), ms(600)), random_.time(ms(50), ms(900)));
        move_newest(0.3);
    }
    if (random_.chance(0.15)) add_lasting(FaultKind::flip, random_.real(0.001, 0.05));
    if (random_.chance(0.1)) add_lasting(FaultKind::infinite, random_.real(0.001, 0.05));
    if (random_.chance(0.1)) add_lasting(FaultKind::header, random_.real(0.0005, 0.01));
    if (random_.chance(0.25)) {
        const auto [from, to] = some_link();
        add_cut(FaultKind::slow, peer_bit(from), Time{0}, Time{0}, peer_bit(to));
        faults_.back().amount = random_.real(0.06, 0.15);
    }
    if (random_.chance(0.3)) add_lasting(FaultKind::rates, 0);
    if (random_.chance(0.2)) {
        add_lasting(FaultKind::pool, static_cast<double>(random_.between(64, 1024)));
    }
}

/// Cuts at the moments that the agreement is most sensitive to.
void Draw::draw_broken_finish() {
    const auto strike = [this](FaultKind kind, Trigger trigger, PeerSet side, Time lasts) {
        add_cut(kind, side, Time{0}, lasts);
        faults_.back().trigger = trigger;
    };
    const auto who = PeerSet{0};
    if (random_.chance(0.3)) {
        strike(FaultKind::cut, Trigger::stop, some_side(), random_.time(ms(50), ms(1500)));
    }
    if (random_.chance(0.3)) {
        strike(FaultKind::cut, Trigger::accept, who, random_.time(ms(50), ms(1500)));
    }
    if (random_.chance(0.2)) {
        strike(FaultKind::kill, Trigger::decide, who, Time{0});
    } else if (random_.chance(0.25)) {
        strike(FaultKind::cut, Trigger::decide, who, random_.time(ms(50), ms(1500)));
    }
    if (random_.chance(0.1)) {
        // A process that has accepted, or knows the decision, forgets it.
        strike(random_.chance(0.7) ? FaultKind::restart : FaultKind::reboot,
               random_.chance(0.5) ? Trigger::accept : Trigger::decide, who,
               spread(ms(1), ms(300)));
    }
}

void Draw::draw_clocks() {
    if (!random_.chance(0.15)) return;
    const std::size_t drifting = random_.between(1, count_);
    for (std::size_t k = 0; k < drifting; ++k) {
        add(FaultKind::drift, some_peer(),
            random_.chance(0.6) ? Time{0} : random_.time(ms(0), ms(500)));
        faults_.back().amount = random_.real(0.95, 1.05);
    }
}

/// Somebody is alone until a process has died, or while its next begins, or longer than all others
/// wait: it, or the one that begins, knows nothing of what was before.
void Draw::draw_alone() {
    const auto [peer, alone] = some_link();
    const Time killed_at = random_.time(ms(20), ms(700));
    const Time dead_for = spread(ms(1), ms(400));
    add(FaultKind::restart, peer, killed_at, dead_for);
    const double drawn = random_.real();
    if (drawn < 0.4) {
        add_cut(FaultKind::cut, peer_bit(alone), Time{0},
                killed_at + random_.time(ms(0), dead_for + ms(100)));
    } else if (drawn < 0.8) {
        const PeerSet side = peer_bit(peer) | (random_.chance(0.4) ? peer_bit(alone) : 0);
        if (side == (PeerSet{1} << count_) - 1) return;
        add_cut(FaultKind::cut, side, killed_at + random_.time(ms(0), dead_for),
                random_.time(ms(300), ms(1500)));
    } else {
        add_cut(FaultKind::cut, half(), random_.time(ms(10), ms(400)),
                random_.time(ms(6500), ms(9000)));
    }
}

/// A process is taken for dead, because it stands still or cannot be heard, and another begins; or
/// somebody just starts a second one.
void Draw::draw_second() {
    const PeerIndex peer = some_peer();
    const Time at = random_.time(ms(5), ms(500));
    const double drawn = random_.real();
    if (drawn < 0.35) {
        add(FaultKind::pause, peer, at, random_.time(ms(200), ms(1500)));
    } else if (drawn < 0.7) {
        add_cut(random_.chance(0.5) ? FaultKind::dark : FaultKind::cut, peer_bit(peer), at,
                random_.time(ms(200), ms(1500)));
    }
    add(FaultKind::second, peer, at + random_.time(ms(0), ms(400)));
    if (drawn >= 0.7) move_newest(0.3);
}

void Draw::draw_stop_wish() {
    Fault wish;
    wish.kind = random_.chance(0.5) ? FaultKind::stop : FaultKind::target;
    wish.peer = some_peer();
    wish.at = random_.time(ms(60), ms(400));
    // A peer that comes after the others have left would train alone.
    for (const PeerPlan& plan : scenario_.peers) {
        wish.at = std::max(wish.at, plan.starts_at + ms(100));
    }
    for (const Fault& fault : faults_) {
        if (fault.kind == FaultKind::late) wish.at = std::max(wish.at, fault.at + ms(100));
    }
    if (scenario_.weather == Weather::rough && random_.chance(0.2)) draw_straggler(wish);
    faults_.push_back(wish);
}

/// One, or several, of which some at the same time, are asked to leave.
void Draw::draw_leaving() {
    const std::size_t times = leaving_.between(1, leaving_.chance(0.2) ? count_ : 2);
    Time at = leaving_.time(ms(5), ms(700));
    for (std::size_t k = 0; k < times; ++k) {
        add(FaultKind::leave, static_cast<PeerIndex>(leaving_.below(count_)), at);
        move_newest(0.4, leaving_);
        if (leaving_.chance(0.5)) at = leaving_.time(ms(5), ms(700));
    }
}

/// One diverges; from its first round on nobody could tell.
void Draw::draw_exploding() {
    add(FaultKind::explode, static_cast<PeerIndex>(exploding_.below(count_)),
        exploding_.time(ms(5), ms(700)));
    faults_.back().amount = std::pow(10.0, exploding_.real(1, 9));
    move_newest(0.4, exploding_);
}

/// Stands still from before the stop until the others have waited for it and left.
void Draw::draw_straggler(const Fault& wish) {
    const auto straggler =
        static_cast<PeerIndex>((*wish.peer + random_.between(1, count_ - 1)) % count_);
    add(FaultKind::pause, straggler, random_.time(ms(20), wish.at),
        random_.time(ms(6000), ms(8000)));
}

}  // namespace

Schedule draw_schedule(const Scenario& scenario, Random& random) {
    return Draw(scenario, random).schedule();
}

}  // namespace ako::sim
