// A restarted process begins its row anew, with the version numbers of its first life. Whoever had
// only heard of the first one admitted it and took its row for the continuation of the old one: the
// peers ended with a row that had lost the first life's updates, and called it identical. Now what
// is said of a row names the process that made it, and two lives of one row never meet.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/group/links.h"
#include "src/modes/ako_traffic.h"
#include "src/numbers/checksum.h"
#include "tests/contains.h"
#include "tests/unit/core/no_transport.h"

using namespace ako;
using ako::test::contains;

namespace {

constexpr PeerIndex a = 0, b = 1, c = 2;
constexpr std::uint64_t first_a = 11, second_a = 12, own_b = 20, own_c = 30;

Hello hello(std::uint64_t process_id) {
    Hello hello;
    hello.process_id = process_id;
    return hello;
}

Partial partial(RowIndex origin, std::uint64_t life) {
    Partial partial;
    partial.origin = origin;
    partial.version = {1, 5};
    partial.run = {0, 1};
    partial.checksums = {0};
    partial.relayed = life != 0;
    partial.life = life;
    return partial;
}

Status status() {
    Status status;
    status.progress.resize(3);
    status.rows.resize(3);
    return status;
}

/// It holds round 5 of a, of this life.
Status status_of(std::uint64_t life) {
    Status said = status();
    said.rows[row_of(a)] = {{1, 5}, {1, 5}, 1, life};
    return said;
}

/// The network side of c, to which b is connected.
struct Bench {
    Bench() {
        mailbox.post(status(), false);
        links.session_up(b, hello(own_b));
        links.poll(Time{0});
    }
    static ModeSettings make_settings() {
        ModeSettings settings;
        settings.self = c;
        settings.process_id = own_c;
        settings.peer_names = {"a", "b", "c"};
        settings.training.batch_per_peer = 1;
        settings.sample_budget = 100;
        settings.log = [](const std::string&) {};
        return settings;
    }
    std::string complaint(PeerIndex from, const Header& header) {
        const bool payload = std::holds_alternative<Partial>(header);
        return links.refuse(from, header, payload ? 4 * sizeof(float) : 0).value_or("");
    }
    /// The next frame of this kind that goes to b.
    template <class Message>
    Message sent() {
        links.poll(Time{0});
        while (const auto frame = links.next(b, 1 << 20)) {
            if (const auto* message = std::get_if<Message>(&frame->header)) return *message;
        }
        FAIL("no such frame");
        return {};
    }

    const ModeSettings settings = make_settings();
    const Blocks blocks{8, 4};
    SteadyClock clock;
    test::NoTransport transport;
    Mailbox mailbox{3, 1 << 16};
    Outbox outbox{3};
    Snapshots snapshots{blocks};
    AkoTraffic traffic{settings, blocks, mailbox, outbox, snapshots, transport, clock};
    Links links{settings, mailbox, traffic, transport, clock};
};

}  // namespace

TEST_CASE("what is passed on of another life than is held is never taken") {
    Bench bench;
    bench.links.session_up(a, hello(first_a));
    CHECK(bench.complaint(a, partial(row_of(a), 0)) ==
          "");  // from here on the row is of the first one
    CHECK(bench.complaint(b, partial(row_of(a), first_a)) == "");
    CHECK(contains(bench.complaint(b, partial(row_of(a), second_a)), "another process as a"));
    CHECK(bench.complaint(b, partial(row_of(a), first_a)) == "");
}

TEST_CASE("a second process is refused by whoever has only heard of the first one") {
    Bench bench;
    CHECK_FALSE(bench.links.admit(a, hello(second_a)));
    CHECK(bench.complaint(b, status_of(first_a)) == "");
    const auto reject = bench.links.admit(a, hello(second_a));
    REQUIRE(reject);
    CHECK(reject->field == "process_id");
    CHECK(contains(reject->expected, "the process that trained as a before"));
    CHECK_FALSE(bench.links.admit(a, hello(first_a)));
}

TEST_CASE("a second process that was admitted is let go once the first one is heard of") {
    Bench bench;
    bench.links.session_up(a, hello(second_a));
    CHECK(bench.complaint(a, status()) == "");
    CHECK(bench.complaint(b, status_of(first_a)) == "");
    CHECK(contains(bench.complaint(a, partial(row_of(a), 0)),
                   "another process has trained as a before"));
    CHECK(bench.links.admit(a, hello(second_a)));
}

TEST_CASE("two that hold different lives of a row stay apart, and no cut joins them") {
    Bench bench;
    CHECK(bench.complaint(b, status_of(first_a)) == "");
    CHECK_FALSE(bench.links.admit(b, hello(own_b)));
    const std::vector<VersionRun> runs = {{2, {1, 5}}};
    CHECK(bench.complaint(b, CutRow{{1, b}, row_of(a), runs, first_a}) == "");
    CHECK(contains(bench.complaint(b, CutRow{{1, b}, row_of(a), runs, second_a}),
                   "another process as a"));
    const auto reject = bench.links.admit(b, hello(own_b));
    REQUIRE(reject);
    CHECK(reject->field == "process_id of a");
    CHECK_FALSE(bench.links.admit(b, hello(own_b + 1)));  // it may know better
}

TEST_CASE("of a Status that names another life nothing is taken in") {
    Bench bench;
    CHECK(bench.complaint(b, status_of(first_a)) == "");
    Status said = status_of(second_a);
    said.rows[row_of(b)] = {{1, 3}, {1, 3}, 1, own_b + 1};
    said.rows[row_of(c)].life = own_c + 1;
    CHECK(contains(bench.complaint(b, said), "trained with another process"));
    CHECK(bench.complaint(b, partial(row_of(b), 0)) == "");
}

TEST_CASE("whatever goes out of a row names the process that made it") {
    Bench bench;
    CHECK(bench.complaint(b, status_of(first_a)) == "");
    Status sent = bench.sent<Status>();
    CHECK(sent.rows[row_of(a)].life == first_a);
    CHECK(sent.rows[row_of(b)].life == 0);
    CHECK(sent.rows[row_of(c)].life == 0);  // it has made no round yet, and may still be restarted
    bench.outbox.send(b, CutRow{{1, c}, row_of(a), {{2, {1, 5}}}});
    CHECK(bench.sent<CutRow>().life == first_a);
    bench.outbox.relay(b, {partial(row_of(a), 1), std::move(*bench.outbox.relay_buffer(16))});
    CHECK(bench.sent<Partial>().life == first_a);

    bench.outbox.post(bench.outbox.spare());
    bench.mailbox.post(status(), true);
    CHECK(bench.sent<Status>().rows[row_of(c)].life == own_c);
}
