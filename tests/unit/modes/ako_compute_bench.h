// A peer of the mode `ako` without a network: what others send is pushed into its mailbox. For the
// length of one test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/modes/ako_compute.h"
#include "src/numbers/checksum.h"
#include "src/numbers/finite.h"

namespace ako::compute_bench {

constexpr std::size_t element_count = 10;
constexpr Time ms = std::chrono::milliseconds(1);

inline ModeSettings settings_of(std::size_t peer_count, unsigned life_timeout_ms) {
    ModeSettings settings;
    settings.exchange.life_timeout_ms = life_timeout_ms;
    settings.exchange.precision = Precision::float32;
    settings.exchange.staleness_rounds_max = 0;
    settings.self = 0;
    for (std::size_t peer = 0; peer < peer_count; ++peer) settings.peer_names.emplace_back("p");
    settings.training.learning_rate = 1;
    settings.training.momentum = 0;
    settings.sample_budget = 1000;
    settings.training.batch.local = 1;
    settings.block_elements = 4;
    settings.exchange.start_wait_s = 1;
    return settings;
}

struct Bench {
    explicit Bench(std::size_t count, unsigned life_timeout_ms = 2000)
        : peer_count(count), settings(settings_of(count, life_timeout_ms)) {
        settings.log = [this](const std::string& line) { lines.push_back(line); };
        peer.emplace(settings, initial, mailbox, outbox, snapshots);
    }

    /// Peer `from` is there and has said how it is.
    void come(PeerIndex from) {
        mailbox.set_presence(from, Presence::up);
        Status status;
        status.standing.progress.resize(peer_count);
        status.rows.resize(peer_count);
        mailbox.push({from, status, {}, now});
    }
    /// Peer `from` says row `origin` is `value` everywhere on block 0; of another's row it was
    /// asked.
    void hear(PeerIndex from, RowIndex origin, Round round, float value, bool spoil = false) {
        Partial partial{origin, {1, round}, {0, 1}, now - 2 * ms, row_of(from) != origin, {}};
        if (partial.relayed) outbox.send(from, Want{origin, false, {}});
        PooledBuffer payload = std::move(*pool.take(4 * sizeof(float)));
        for (float& element : payload.floats()) element = value;
        partial.checksums = {crc32c(std::span<const float>(payload.floats())) + (spoil ? 1 : 0)};
        mailbox.push({from, partial, std::move(payload), now});
    }
    std::optional<Next> begin() {
        now += 10 * ms;
        return peer->begin_round(now);
    }
    Result<void> round(float gradient = -1) {
        begin();
        const std::vector<float> gradients(element_count, gradient);
        return peer->end_round(Gradient{gradients}, {1, 0.5F}, now);
    }
    /// What the replica is beyond the anchor at the first element.
    float lead() const {
        std::vector<float> anchor(element_count);
        peer->copy_parameters(anchor);
        return peer->replica()[0] - anchor[0];
    }

    const std::size_t peer_count;
    ModeSettings settings;
    std::vector<std::string> lines;
    std::vector<float> initial = std::vector<float>(element_count, 0.5F);
    BufferPool pool{1 << 16};
    Mailbox mailbox{peer_count};
    Outbox outbox{peer_count};
    Snapshots snapshots{Blocks(element_count, 4)};
    std::optional<AkoCompute> peer;
    Time now = std::chrono::seconds(10);
};

}  // namespace ako::compute_bench
