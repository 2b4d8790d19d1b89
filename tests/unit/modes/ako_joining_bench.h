// Peer a of three in the mode `ako`, on its way into a run: what a test has the others say to it,
// and what it says and does.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "src/exchange/incarnation.h"
#include "src/modes/ako_compute.h"
#include "src/numbers/checksum.h"

namespace ako::joining_bench {

inline constexpr std::size_t element_count = 12;  // three blocks
inline constexpr Time ms = std::chrono::milliseconds(1);
inline constexpr std::uint64_t own_id = 0x0000'0000'00aa, former_id = 0x0000'0000'00ff,
                               b_id = 0x0000'0000'0bbb, other_id = 0x0000'0000'00cc;
inline constexpr PeerIndex self = 0, b = 1, c = 2;

/// Peer 0 of three, whose process is another one than that which began its row.
struct JoiningBench {
    JoiningBench() {
        settings.self = self;
        settings.process_id = own_id;
        settings.peer_names = {"a", "b", "c"};
        settings.training.learning_rate = 1;
        settings.training.momentum = 0.5;
        settings.training.nesterov = false;
        settings.training.batch.local = 1;
        settings.exchange.precision = Precision::float32;
        settings.exchange.staleness_rounds_max = 0;
        settings.sample_budget = 1000;
        settings.block_elements = 4;
        settings.exchange.start_wait_s = 60;
        settings.exchange.finish_timeout_s = 30;
        settings.log = [this](const std::string& line) { lines.push_back(line); };
        peer.emplace(settings, initial, mailbox, outbox, snapshots);
    }

    /// What peer b says: `own` of this peer's row, `its` of its own.
    Status said(Version own, Version its, Progress of_self = {}) {
        Status status;
        status.standing.progress = PerPeer(3);
        status.standing.progress[self] = of_self;
        status.standing.progress[b] = {its.round, its.round};
        status.rows = PerRow<RowHeld>(3);
        status.rows[row_of(self)] = {own, own, 1};
        status.rows[row_of(b)] = {its, its, 2};
        return status;
    }
    using PerPeer = std::vector<Progress>;
    void say(PeerIndex from, Header header, bool opens_session = false, bool new_process = false) {
        mailbox.push({from, std::move(header), {}, now, opens_session, new_process});
    }
    /// Peer b is there, and this is its first Status.
    void come(const Status& status) {
        mailbox.set_presence(b, Presence::up);
        say(b, status, true);
    }
    /// All blocks of row `row` come from b, which was asked for them, of this version and value.
    void bring(RowIndex row, Version version, float value) {
        Partial partial{row, version, {0, 3}, now - ms, row_of(b) != row, {}};
        if (partial.relayed) outbox.send(b, Want{row, false, {}});
        PooledBuffer payload = std::move(*pool.take(element_count * sizeof(float)));
        for (float& element : payload.floats()) element = value;
        const std::span<const float> values(payload.floats());
        for (std::size_t block = 0; block < 3; ++block)
            partial.checksums.push_back(crc32c(values.subspan(4 * block, 4)));
        mailbox.push({b, partial, std::move(payload), now});
    }
    /// b answers what it was asked: which version of each row it holds.
    void say_versions(Version own, Version its, Version of_c = {}) {
        say(b, Versions{row_of(self), {{3, own}}});
        say(b, Versions{row_of(b), {{3, its}}});
        say(b, Versions{row_of(c), {{3, of_c}}});
    }
    std::optional<Next> begin(Time passes = 10 * ms) {
        now += passes;
        return peer->begin_round(now);
    }
    bool trains() {
        const std::optional<Next> next = begin();
        return next && next->kind == Next::Kind::train;
    }
    void round() { REQUIRE(peer->end_round(Gradient{gradient}, {1, 0.5F}, now)); }
    bool says_it_joins() {
        const auto posted = mailbox.take_posted();
        return posted.status && posted.status->start.joining;
    }
    template <class Message>
    std::vector<Message> sent() {
        std::vector<Message> found;
        const Outbox::Unseen unseen = outbox.take(false);
        for (const Header& header : unseen.control[b]) {
            outbox.control_sent(b, header);
            if (const auto* message = std::get_if<Message>(&header)) found.push_back(*message);
        }
        return found;
    }
    Version own_version() const { return peer->rows().ledger().version(row_of(self), 0); }

    ModeSettings settings;
    std::vector<std::string> lines;
    std::vector<float> initial = std::vector<float>(element_count, 0.5F);
    const std::vector<float> gradient = std::vector<float>(element_count, -1);
    BufferPool pool{1 << 16};
    Mailbox mailbox{3};
    Outbox outbox{3};
    Snapshots snapshots{Blocks(element_count, 4)};
    std::optional<AkoCompute> peer;
    Time now = std::chrono::seconds(10);
};

}  // namespace ako::joining_bench
