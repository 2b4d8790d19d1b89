// A user saw: one member of a run could make another take more than a gigabyte within seconds, with
// version maps of 32,768 runs faster than they were read: the mailbox counted frames, 16,384 of
// them, and not what they held. Since then there is no room beyond 64 MiB of headers either, and
// the sender waits.
#include <doctest/doctest.h>

#include "src/exchange/mailbox.h"

namespace ako::mailbox_of_long_headers {

TEST_CASE("the mailbox is full of few long headers, or of many short ones") {
    Mailbox mailbox(2);
    CutRow row;
    row.runs.resize(32'768);
    std::size_t frames = 0, bytes = 0;
    while (mailbox.has_room() && frames < 200) {
        bytes += memory_of(row);
        mailbox.push({1, row, {}, Time{0}});
        ++frames;
    }
    CHECK(frames > 64);
    CHECK(bytes >= Mailbox::header_bytes_total_max);
    CHECK(bytes <= Mailbox::header_bytes_total_max + memory_of(row));
    CHECK(mailbox.take().size() == frames);
    CHECK(mailbox.has_room());
    for (frames = 0; frames < Mailbox::frames_max; ++frames) {
        REQUIRE(mailbox.has_room());
        mailbox.push({1, Bye{}, {}, Time{0}});
    }
    CHECK_FALSE(mailbox.has_room());
}

TEST_CASE("what a header takes is itself and its lists") {
    Want want;
    const std::size_t empty = memory_of(want);
    want.runs.resize(100);
    CHECK(memory_of(want) == empty + 100 * sizeof(Want::Run));
    Lack lack;
    lack.runs.resize(100);
    CHECK(memory_of(lack) == empty + 100 * sizeof(BlockRun));
    Partial partial;
    partial.checksums.resize(100);
    CHECK(memory_of(partial) == empty + 400);
    Status status;
    status.standing.progress.resize(3);
    status.rows.resize(3);
    CHECK(memory_of(status) == empty + 3 * (sizeof(Progress) + sizeof(RowHeld)));
}

}  // namespace ako::mailbox_of_long_headers
