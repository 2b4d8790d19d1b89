// What a peer of the modes that exchange buckets does not take from another: every frame that none
// of ours sends, before any memory is touched.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "src/modes/bucket_mode.h"
#include "src/modes/bucket_traffic.h"
#include "tests/fakes/no_transport.h"

namespace ako::bucket_refusal_test {

namespace {

/// Peer 1 of three, 4 x 30 elements.
struct Bench {
    explicit Bench(Mode mode, std::size_t straight_bytes_max = 0)
        : settings(settings_of(mode, straight_bytes_max)),
          buckets({}, 120),
          initial(120),
          board(buckets.count(), [] {}),
          protocol(make_protocol(settings, buckets, initial, board, transport)),
          traffic(settings, mailbox, board, *protocol) {}

    static ModeSettings settings_of(Mode mode, std::size_t straight_bytes_max) {
        ModeSettings settings;
        settings.self = 1;
        settings.peer_names = {"a", "b", "c"};
        settings.exchange.mode = mode;
        settings.exchange.server.count = 2;  // a and b
        settings.straight_bytes_max = straight_bytes_max;
        settings.log = [](const std::string&) {};
        return settings;
    }
    std::string refused(PeerIndex from, const Header& header, std::size_t elements) {
        return traffic.refuse(from, header, elements * sizeof(float)).value_or("");
    }
    static Chunk chunk(ChunkKind kind, std::uint64_t sync, std::uint64_t first) {
        Chunk header;
        header.kind = kind;
        header.sync = sync;
        header.first = first;
        return header;
    }

    const ModeSettings settings;
    const Buckets buckets;
    const std::vector<float> initial;
    test::NoTransport transport;
    Mailbox mailbox{3};
    BucketBoard board;
    std::unique_ptr<BucketProtocol> protocol;
    BucketTraffic traffic;
};

constexpr auto reduced = ChunkKind::reduced;

}  // namespace

TEST_CASE("a ring takes chunks of its predecessor only, of one segment, once round") {
    Bench bench(Mode::ring);
    // Segments of 40: what starts at peer 0 comes first, what starts here must not.
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 0), 40) == "");
    CHECK(bench.refused(0, Bench::chunk(reduced, 2, 0), 40) == "");  // the next, which waits
    CHECK(bench.refused(0, Bench::chunk(reduced, 3, 0), 40).find("sync 3") != std::string::npos);
    CHECK(bench.refused(0, Bench::chunk(reduced, 0, 0), 40) != "");
    CHECK(bench.refused(2, Bench::chunk(reduced, 1, 0), 40).find("predecessor") !=
          std::string::npos);
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 40), 40).find("round the ring") !=
          std::string::npos);
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 30), 20).find("one segment") !=
          std::string::npos);
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 100), 40).find("outside") != std::string::npos);
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, UINT64_MAX), 1).find("outside") !=
          std::string::npos);
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 0), 0) != "");
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::pushed, 1, 0), 40) != "");
    Chunk with_learners = Bench::chunk(reduced, 1, 0);
    with_learners.wish.learners[2] = 64;
    CHECK(bench.refused(0, with_learners, 40) == "");
    with_learners.wish.learners[2] = 65;
    CHECK(bench.refused(0, with_learners, 40).find("65 of peer 2") != std::string::npos);
    with_learners.wish.learners[2] = 0;
    with_learners.wish.learners[3] = 1;
    CHECK(bench.refused(0, with_learners, 40).find("1 of peer 3") != std::string::npos);
    // A whole sum holds this peer's values too, which it has not given yet.
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::gathered, 1, 40), 40).find("its own values") !=
          std::string::npos);
    bench.protocol->arrived(0, Bench::chunk(reduced, 1, 0), 40);
    bench.protocol->arrived(0, Bench::chunk(reduced, 1, 80), 40);
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 0), 1).find("twice") != std::string::npos);
    bench.protocol->contributed({0, 1, bench.initial, StopReason::none});
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::gathered, 1, 40), 40) == "");
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::gathered, 1, 80), 40).find("round the ring") !=
          std::string::npos);
    bench.protocol->arrived(0, Bench::chunk(ChunkKind::gathered, 1, 0), 40);
    bench.protocol->arrived(0, Bench::chunk(ChunkKind::gathered, 1, 40), 40);
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::gathered, 1, 40), 1).find("twice") !=
          std::string::npos);
}

TEST_CASE("what goes straight comes to the owner of a part, or from it, once") {
    Bench bench(Mode::ring, 1000);
    const auto gathered = ChunkKind::gathered;
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 40), 40) == "");
    CHECK(bench.refused(2, Bench::chunk(reduced, 1, 40), 40) == "");
    CHECK(bench.refused(2, Bench::chunk(reduced, 1, 60), 30).find("another peer") !=
          std::string::npos);
    CHECK(bench.refused(2, Bench::chunk(reduced, 1, 0), 40).find("another peer") !=
          std::string::npos);
    CHECK(bench.refused(2, Bench::chunk(gathered, 1, 80), 40).find("its own values") !=
          std::string::npos);
    bench.protocol->contributed({0, 1, bench.initial, StopReason::none});
    CHECK(bench.refused(2, Bench::chunk(gathered, 1, 80), 40) == "");
    CHECK(bench.refused(0, Bench::chunk(gathered, 1, 80), 40).find("another peer") !=
          std::string::npos);
    const Chunk twice = Bench::chunk(reduced, 1, 40);
    bench.protocol->arrived(2, twice, 40);
    CHECK(bench.refused(2, twice, 1).find("twice") != std::string::npos);
    CHECK(bench.refused(2, Bench::chunk(reduced, 2, 40), 40) == "");  // the next, which waits
}

TEST_CASE("a parameter server takes each worker's next round, for what it serves") {
    Bench bench(Mode::parameter_server);
    const auto pushed = ChunkKind::pushed;
    CHECK(bench.refused(2, Bench::chunk(pushed, 1, 60), 60) == "");
    CHECK(bench.refused(2, Bench::chunk(pushed, 2, 60), 60).find("round 2 after 0") !=
          std::string::npos);
    CHECK(bench.refused(2, Bench::chunk(pushed, 1, 0), 60).find("does not serve") !=
          std::string::npos);
    CHECK(bench.refused(2, Bench::chunk(pushed, 1, 100), 60).find("one slice") !=
          std::string::npos);
    CHECK(bench.refused(2, Bench::chunk(pushed, 1, 999), 1).find("outside") != std::string::npos);
    for (const std::uint64_t sync : {0, 1})
        CHECK(
            bench.refused(0, Bench::chunk(ChunkKind::pulled, sync, 0), 60).find("not asked for") !=
            std::string::npos);
    bench.protocol->arrived(2, Bench::chunk(pushed, 1, 60), 60);
    CHECK(bench.refused(2, Bench::chunk(pushed, 2, 60), 60).find("answered") != std::string::npos);
    bench.protocol->finished(1, 0);
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::final, UINT64_MAX, 0), 60) == "");
    bench.protocol->arrived(0, Bench::chunk(ChunkKind::final, UINT64_MAX, 0), 60);
    bench.protocol->arrived(0, Bench::chunk(ChunkKind::final, UINT64_MAX, 60), 60);
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::final, UINT64_MAX, 0), 60).find("twice") !=
          std::string::npos);
    CHECK(bench.refused(2, Bench::chunk(ChunkKind::pulled, 1, 0), 60).find("does not serve") !=
          std::string::npos);
    CHECK(bench.refused(0, Bench::chunk(reduced, 1, 0), 60) != "");
}

TEST_CASE("final parameters are not taken before the last round") {
    Bench bench(Mode::parameter_server);
    CHECK(bench.refused(0, Bench::chunk(ChunkKind::final, UINT64_MAX, 0), 60).find("last round") !=
          std::string::npos);
}

TEST_CASE("frames of the mode ako are refused by name") {
    Bench bench(Mode::ring);
    CHECK(bench.refused(0, Want{}, 0).find("Want") != std::string::npos);
    CHECK(bench.refused(0, Partial{}, 4).find("Partial") != std::string::npos);
    Status status;
    CHECK(bench.refused(0, status, 0).find("cluster of 3") != std::string::npos);
    status.standing.progress.resize(3);
    CHECK(bench.refused(0, status, 0) == "");
    status.standing.asked = peer_bit(3);
    CHECK(bench.refused(0, status, 0).find("Status.asked names peer 3") != std::string::npos);
    CHECK(bench.refused(0, Bye{}, 0) == "");
}

}  // namespace ako::bucket_refusal_test
