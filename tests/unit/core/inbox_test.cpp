// Order, limit, presence and waiting.
#include "src/inbox.h"

#include <doctest/doctest.h>

#include <thread>

#include "ako/clock.h"

using namespace ako;

namespace {

Arrival arrival(Round round) { return {1, Bye{round}, {}, Time{0}}; }

std::vector<std::pair<PeerIndex, Presence>> changes(Inbox& inbox) {
    std::vector<std::pair<PeerIndex, Presence>> all;
    for (const PresenceChange& change : inbox.take_presence()) {
        all.emplace_back(change.peer, change.presence);
    }
    return all;
}

}  // namespace

TEST_CASE("frames come out in the order they went in, once") {
    Inbox inbox(3);
    CHECK(inbox.take().empty());
    for (Round round = 1; round <= 5; ++round) inbox.push(arrival(round));
    const auto taken = inbox.take();
    REQUIRE(taken.size() == 5);
    for (Round round = 1; round <= 5; ++round) {
        CHECK(std::get<Bye>(taken[round - 1].header).final_round == round);
    }
    CHECK(inbox.take().empty());
}

TEST_CASE("there is room for frames_max frames; presence needs none") {
    Inbox inbox(2);
    for (std::size_t k = 0; k < Inbox::frames_max; ++k) {
        REQUIRE(inbox.has_room());
        inbox.push(arrival(k));
    }
    CHECK(!inbox.has_room());
    inbox.take();
    CHECK(inbox.has_room(Inbox::frames_max - 1));
    CHECK(!inbox.has_room(Inbox::frames_max));  // all of it is promised to frames on their way
    inbox.push(arrival(0));
    CHECK(!inbox.has_room(Inbox::frames_max - 1));
    inbox.set_presence(1, Presence::up);
    CHECK(changes(inbox).size() == 1);
    inbox.take();
    CHECK(inbox.has_room());
}

TEST_CASE("presence is state: the newest counts, but a loss is never hidden by what follows") {
    using Changes = std::vector<std::pair<PeerIndex, Presence>>;
    Inbox inbox(4);
    CHECK(changes(inbox).empty());
    inbox.set_presence(2, Presence::up);
    inbox.set_presence(2, Presence::down);
    inbox.set_presence(1, Presence::up);
    CHECK(changes(inbox) == Changes{{1, Presence::up}, {2, Presence::down}});
    inbox.set_presence(2, Presence::lost);
    inbox.set_presence(2, Presence::up);
    CHECK(changes(inbox) == Changes{{2, Presence::lost}, {2, Presence::up}});
    inbox.set_presence(3, Presence::lost);
    CHECK(changes(inbox) == Changes{{3, Presence::lost}});
    CHECK(changes(inbox).empty());
}

TEST_CASE("waiting ends when something comes, or when the time is over") {
    Inbox inbox(2);
    const SteadyClock clock;
    const Time began = clock.now();
    inbox.wait(std::chrono::milliseconds(20));
    CHECK(clock.now() - began >= std::chrono::milliseconds(20));
    const Time long_time = std::chrono::seconds(100);
    inbox.push(arrival(1));
    inbox.wait(long_time);  // at once
    inbox.take();
    std::thread other([&] { inbox.set_presence(1, Presence::lost); });
    inbox.wait(long_time);
    other.join();
    CHECK(changes(inbox).size() == 1);
    CHECK(clock.now() - began < long_time);
}
