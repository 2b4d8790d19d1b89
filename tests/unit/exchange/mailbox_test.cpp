// Order, limit, presence and waiting.
#include "src/exchange/mailbox.h"

#include <doctest/doctest.h>

#include <thread>

#include "ako/clock.h"

namespace ako::mailbox_test {

namespace {

Arrival arrival(Round round) { return {1, Bye{round}, {}, Time{0}}; }

std::vector<std::pair<PeerIndex, Presence>> changes(Mailbox& mailbox) {
    std::vector<std::pair<PeerIndex, Presence>> all;
    for (const PresenceChange& change : mailbox.take_presence()) {
        all.emplace_back(change.peer, change.presence);
    }
    return all;
}

}  // namespace

TEST_CASE("frames come out in the order they went in, once") {
    Mailbox mailbox(3);
    CHECK(mailbox.take().empty());
    for (Round round = 1; round <= 5; ++round) mailbox.push(arrival(round));
    const auto taken = mailbox.take();
    REQUIRE(taken.size() == 5);
    for (Round round = 1; round <= 5; ++round) {
        CHECK(std::get<Bye>(taken[round - 1].header).final_round == round);
    }
    CHECK(mailbox.take().empty());
}

TEST_CASE("there is room for frames_max frames; presence needs none") {
    Mailbox mailbox(2);
    for (std::size_t k = 0; k < Mailbox::frames_max; ++k) {
        REQUIRE(mailbox.has_room());
        mailbox.push(arrival(k));
    }
    CHECK(!mailbox.has_room());
    mailbox.take();
    CHECK(mailbox.has_room(Mailbox::frames_max - 1));
    CHECK(!mailbox.has_room(Mailbox::frames_max));  // all of it is promised to frames on their way
    mailbox.push(arrival(0));
    CHECK(!mailbox.has_room(Mailbox::frames_max - 1));
    mailbox.set_presence(1, Presence::up);
    CHECK(changes(mailbox).size() == 1);
    mailbox.take();
    CHECK(mailbox.has_room());
}

TEST_CASE("presence is state: the newest counts, but a loss is never hidden by what follows") {
    using Changes = std::vector<std::pair<PeerIndex, Presence>>;
    Mailbox mailbox(4);
    CHECK(changes(mailbox).empty());
    mailbox.set_presence(2, Presence::up);
    mailbox.set_presence(2, Presence::down);
    mailbox.set_presence(1, Presence::up);
    CHECK(changes(mailbox) == Changes{{1, Presence::up}, {2, Presence::down}});
    mailbox.set_presence(2, Presence::lost);
    mailbox.set_presence(2, Presence::up);
    CHECK(changes(mailbox) == Changes{{2, Presence::lost}, {2, Presence::up}});
    mailbox.set_presence(3, Presence::lost);
    CHECK(changes(mailbox) == Changes{{3, Presence::lost}});
    CHECK(changes(mailbox).empty());
}

TEST_CASE("waiting ends when something comes, or when the time is over") {
    Mailbox mailbox(2);
    const SteadyClock clock;
    const Time began = clock.now();
    mailbox.wait(std::chrono::milliseconds(20));
    CHECK(clock.now() - began >= std::chrono::milliseconds(20));
    const Time long_time = std::chrono::seconds(100);
    mailbox.push(arrival(1));
    mailbox.wait(long_time);  // at once
    mailbox.take();
    std::thread other([&] { mailbox.set_presence(1, Presence::lost); });
    mailbox.wait(long_time);
    other.join();
    CHECK(changes(mailbox).size() == 1);
    CHECK(clock.now() - began < long_time);
}

TEST_CASE("a Status is replaced, and its urgency is not lost with the one replaced") {
    Mailbox mailbox(2);
    Status status;
    status.standing.loss = 1;
    mailbox.post(status, true);
    status.standing.loss = 2;
    mailbox.post(status, false);
    const Mailbox::Posted posted = mailbox.take_posted();
    REQUIRE(posted.status);
    CHECK(posted.status->standing.loss == 2);
    CHECK(posted.urgent);
    CHECK(!mailbox.take_posted().urgent);
    CHECK(!mailbox.take_posted().status);
}

TEST_CASE("begun, broken and closing are states: they stay") {
    Mailbox mailbox(2);
    const Mailbox::Posted before = mailbox.take_posted();
    CHECK_FALSE(before.started);
    CHECK_FALSE(before.broken);
    CHECK_FALSE(before.closing);
    mailbox.start();
    mailbox.break_off("a peer is gone");
    mailbox.break_off("another as well");
    mailbox.close();
    for (int times = 0; times < 2; ++times) {
        const Mailbox::Posted posted = mailbox.take_posted();
        CHECK(posted.started);
        CHECK(posted.broken);
        CHECK(posted.closing);
    }
    CHECK(mailbox.broken() == "a peer is gone");
    const Next next = mailbox.broken_next();
    CHECK(next.kind == Next::Kind::give_up);
    CHECK(next.ending == Ending::broken);
    CHECK(next.why == "a peer is gone");
    CHECK(!next.numbers_of);
}

TEST_CASE("a Status may take the place of an older one of its peer, and of nothing else") {
    Mailbox mailbox(3);
    const auto status_of = [](PeerIndex from, float loss, bool opens_session) {
        Status status;
        status.standing.loss = loss;
        return Arrival{from, status, {}, Time{0}, opens_session};
    };
    Arrival first = status_of(1, 1, true);
    first.new_process = true;
    CHECK_FALSE(mailbox.replace_status(first));  // there is none
    mailbox.push(std::move(first));
    Arrival of_other = status_of(2, 2, true);
    CHECK_FALSE(mailbox.replace_status(of_other));
    Arrival bye{1, Bye{}, {}, Time{0}};
    CHECK_FALSE(mailbox.replace_status(bye));
    Arrival newer = status_of(1, 3, false);
    CHECK(mailbox.replace_status(newer));
    const auto frames = mailbox.take();
    REQUIRE(frames.size() == 1);
    CHECK(std::get<Status>(frames[0].header).standing.loss == 3);
    CHECK(frames[0].opens_session);
    CHECK(frames[0].new_process);
}

TEST_CASE("a header takes as much memory as the lists and texts in it, wherever they are") {
    Status status;
    const std::size_t bare = memory_of(status);
    CHECK(bare == sizeof(Arrival));
    status.standing.progress.resize(64);
    status.rows.resize(32);
    status.start.checkpoints.resize(4);
    const std::size_t lists =
        64 * sizeof(Progress) + 32 * sizeof(RowHeld) + 4 * sizeof(CheckpointId);
    CHECK(memory_of(status) == bare + lists);
    Bye bye;
    bye.farewell.why.resize(1000);
    CHECK(memory_of(bye) == bare + 1000);
}

}  // namespace ako::mailbox_test
