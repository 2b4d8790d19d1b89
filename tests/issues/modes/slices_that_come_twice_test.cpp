// A part of a bucket that one parameter server sent twice took the place of the other server's: the
// other's session ended with "parameters that were not asked for", and the worker gave up for the
// loss of the wrong server; the same happened at the end. And a worker that pushed on after its
// last round moved parameters that others had been sent as final. Since then each slice is counted
// by itself, and a push after the last round is refused.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "src/modes/bucket_mode.h"
#include "tests/contains.h"
#include "tests/fakes/no_transport.h"

namespace ako::slices_that_come_twice_test {

using ako::test::contains;

namespace {

/// One of a, b and c, of which a and b keep 60 of 120 parameters each.
struct Bench {
    explicit Bench(PeerIndex self)
        : protocol(make_protocol(settings_of(self), buckets, vector, board, transport)) {}

    static ModeSettings settings_of(PeerIndex self) {
        ModeSettings settings;
        settings.self = self;
        settings.peer_names = {"a", "b", "c"};
        settings.exchange.mode = Mode::parameter_server;
        settings.exchange.server.count = 2;
        settings.sample_budget = 6400;
        return settings;
    }
    std::string arrive(PeerIndex from, const Chunk& chunk) {
        if (const auto complaint = protocol->refuse(from, chunk, 60)) return *complaint;
        REQUIRE(protocol->reserve(from, chunk, 60));
        protocol->arrived(from, chunk, 60);
        return "";
    }

    const Buckets buckets{{}, 120};
    const std::vector<float> vector = std::vector<float>(120);
    test::NoTransport transport;
    BucketBoard board{1, [] {}};
    std::unique_ptr<BucketProtocol> protocol;
};

}  // namespace

TEST_CASE("no server's slice takes the place of another's") {
    Bench worker(2);
    worker.protocol->contributed({0, 1, worker.vector, StopReason::none});
    const Chunk of_a{.kind = ChunkKind::pulled, .sync = 1, .first = 0};
    CHECK(worker.arrive(0, of_a) == "");
    CHECK(contains(worker.arrive(0, of_a), "not asked for"));
    CHECK(!worker.board.completed(0, 1));
    CHECK(worker.arrive(1, {.kind = ChunkKind::pulled, .sync = 1, .first = 60}) == "");
    CHECK(worker.board.completed(0, 1));

    worker.protocol->finished(2, 1);
    const Chunk last_of_a{.kind = ChunkKind::final, .sync = UINT64_MAX, .first = 0};
    CHECK(worker.arrive(0, last_of_a) == "");
    CHECK(contains(worker.arrive(0, last_of_a), "sent twice"));
    CHECK(!worker.board.final_is_here());
    CHECK(worker.arrive(1, {.kind = ChunkKind::final, .sync = UINT64_MAX, .first = 60}) == "");
    CHECK(worker.board.final_is_here());
}

TEST_CASE("nobody pushes after a last round") {
    Bench server(0);
    server.protocol->finished(2, 1);
    CHECK(server.arrive(2, {.kind = ChunkKind::pushed, .sync = 1, .first = 0}) == "");
    server.protocol->finished(1, 0);
    server.protocol->contributed({0, 1, server.vector, StopReason::none});
    CHECK(contains(server.arrive(2, {.kind = ChunkKind::pushed, .sync = 2, .first = 0}),
                   "after the last round"));
}

}  // namespace ako::slices_that_come_twice_test
