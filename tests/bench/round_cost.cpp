// What a round of the mode `ako` costs the compute thread beside the gradient: taking in the whole
// rows of three other peers, and making and publishing its own update; LeNet's size, both by the
// processor time of the thread. Beside each one pass over the same memory that does the same sums,
// without checksums, bounds, blocks and headers. Usage: round_cost [ROUNDS]. Prints medians.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "src/modes/ako_compute.h"
#include "src/numbers/checksum.h"

namespace {

using namespace ako;

constexpr std::size_t parameter_count = 431'080;
constexpr PeerIndex peer_count = 4;
constexpr Time round_time = std::chrono::milliseconds(10);

double thread_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

ModeSettings make_settings() {
    ModeSettings settings;
    for (PeerIndex peer = 0; peer < peer_count; ++peer) settings.peer_names.emplace_back("p");
    settings.sample_budget = std::uint64_t{1} << 40;
    settings.log = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
    return settings;
}

/// A peer whose network half is played here: everything that others send arrives every round.
class Bench {
  public:
    Bench() {
        for (PeerIndex peer = 1; peer < peer_count; ++peer) {
            mailbox_.set_presence(peer, Presence::up);
            Status status;
            status.standing.progress.resize(peer_count);
            status.rows.resize(peer_count);
            mailbox_.push({peer, std::move(status), {}, Time{0}});
            rows_.emplace_back(parameter_count);
        }
    }

    void round(std::vector<double>& drain_ms, std::vector<double>& end_ms) {
        now_ += round_time;
        ++round_;
        for (PeerIndex peer = 1; peer < peer_count; ++peer) send_row(peer);
        const double began = thread_ms();
        peer_.begin_round(now_);
        const double drained = thread_ms();
        for (float& element : gradient_) element = -element;  // as a network would have written it
        const double computed = thread_ms();
        if (!peer_.end_round(Gradient{gradient_}, {64, 0.5f}, now_)) std::abort();
        drain_ms.push_back(drained - began);
        end_ms.push_back(thread_ms() - computed);
        const Outbox::Unseen unseen = outbox_.take();
        if (newest_) outbox_.give_back(*newest_);  // as the network half does
        newest_ = unseen.snapshot;
    }

  private:
    void send_row(PeerIndex peer) {
        std::vector<float>& row = rows_[peer - 1];
        for (std::size_t k = 0; k < row.size(); ++k) row[k] += 1e-3f;
        for (BlockIndex first = 0; first < blocks_.count();) {
            const BlockRun run{first, std::min(blocks_.run_count_max(), blocks_.count() - first)};
            const Range range = blocks_.range(run);
            PooledBuffer payload = std::move(*pool_.take(range.count * sizeof(float)));
            std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                        payload.floats().begin());
            Partial header{row_of(peer), {1, round_}, run, now_ - round_time / 2, false, {}};
            for (BlockIndex block = first; block < first + run.count; ++block) {
                const Range one = blocks_.range(block);
                header.checksums.push_back(
                    crc32c(std::span<const float>(row).subspan(one.first, one.count)));
            }
            mailbox_.push({peer, std::move(header), std::move(payload), now_});
            first += run.count;
        }
    }

    const ModeSettings settings_ = make_settings();
    const Blocks blocks_{parameter_count};
    std::vector<float> initial_ = std::vector<float>(parameter_count, 1.0f);
    std::vector<float> gradient_ = std::vector<float>(parameter_count, 1e-3f);
    BufferPool pool_{std::size_t{64} << 20};
    Mailbox mailbox_{peer_count};
    Outbox outbox_{peer_count};
    Snapshots snapshots_{blocks_};
    AkoCompute peer_{settings_, initial_, mailbox_, outbox_, snapshots_};
    std::vector<std::vector<float>> rows_;  ///< [peer - 1]
    Time now_ = std::chrono::seconds(10);
    Round round_ = 0;
    std::optional<SnapshotIndex> newest_;
};

/// The arithmetic alone, in one pass for each row.
class Passes {
  public:
    explicit Passes(int rounds) {
        std::vector<double> taken_in_ms, own_ms;
        for (int round = 0; round < rounds; ++round) {
            const double began = thread_ms();
            for (Row& row : rows_) take_in(row);
            const double taken = thread_ms();
            grow();
            own_ms.push_back(thread_ms() - taken);
            taken_in_ms.push_back(taken - began);
        }
        taken_in = median(taken_in_ms);
        own = median(own_ms);
    }

    double taken_in = 0;  ///< ms
    double own = 0;       ///< ms

  private:
    using Values = std::vector<float>;
    struct Row {
        Values fresh = Values(parameter_count, 1e-3f);
        Values held = Values(parameter_count), mark = Values(parameter_count);
    };

    void take_in(Row& row) {
        for (std::size_t k = 0; k < parameter_count; ++k) {
            replica_[k] += weight * (row.fresh[k] - row.held[k] - (total_[k] - row.mark[k]));
            row.mark[k] = total_[k];
            row.held[k] = row.fresh[k];
        }
    }

    void grow() {
        for (std::size_t k = 0; k < parameter_count; ++k) {
            velocity_[k] = 0.9f * velocity_[k] + gradient_[k];
            const float wanted = carry_[k] - 1e-2f * velocity_[k];
            next_[k] = total_[k] + wanted;
            carry_[k] = wanted - (next_[k] - total_[k]);
            replica_[k] += next_[k] - total_[k];
        }
        total_.swap(next_);
    }

    static constexpr float weight = 1.0f / peer_count;
    std::vector<Row> rows_ = std::vector<Row>(peer_count - 1);
    Values total_ = Values(parameter_count), next_ = total_, carry_ = total_, velocity_ = total_,
           replica_ = total_, gradient_ = Values(parameter_count, 1e-3f);
};

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::max(10, std::atoi(argv[1])) : 300;
    Bench bench;
    std::vector<double> drain_ms;
    std::vector<double> end_ms;
    for (int round = 0; round < rounds; ++round) bench.round(drain_ms, end_ms);
    const Passes plain(rounds);
    std::printf("three rows taken in: %.3f ms, plain passes %.3f ms\n", median(drain_ms),
                plain.taken_in);
    std::printf("own update: %.3f ms, plain passes %.3f ms\n", median(end_ms), plain.own);
}
