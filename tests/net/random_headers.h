// Random headers of every kind, within what the codec takes: for its tests, and as the first
// inputs of its fuzz target.
#pragma once

#include <random>
#include <string>

#include "net/codec.h"
#include "net/frame_prefix.h"

namespace ako::test {

class RandomHeaders {
  public:
    explicit RandomHeaders(unsigned seed) : random_(seed) {}

    Header make(std::size_t kind) {
        switch (kind) {
            case 0:
                return hello();
            case 1:
                return Reject{text(), text(), text()};
            case 2:
                return partial();
            case 3:
                return status();
            case 4:
                return want();
            case 5:
                return WantCut{ballot()};
            case 6:
                return cut_row();
            case 7:
                return Prepare{ballot(), below(2) == 1};
            case 8:
                return promise();
            case 9:
                return Accept{ballot(), ballot()};
            case 10:
                return Accepted{ballot(), ballot()};
            case 11:
                return below(2) == 0 ? Bye{u64()} : Bye{u64(), peer(), below(2) == 1};
            case 13:
                return lack();
            case 14:
                return WantVersions{};
            case 15:
                return Versions{row_of(peer()), version_runs()};
            case 16:
                return membership();
            case 17:
                return MemberState{u32(), tally(), tally(), digest()};
            default:
                return Chunk{static_cast<ChunkKind>(below(8)),
                             {static_cast<StopReason>(below(4)),
                              static_cast<std::uint8_t>(below(9)), peer_counts()},
                             u32(),
                             u64(),
                             u64(),
                             u64(),
                             u32(),
                             u32(),
                             u64()};
        }
    }

    std::uint64_t u64() { return random_(); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(random_()); }
    std::size_t below(std::size_t limit) { return random_() % limit; }

  private:
    PeerIndex peer() { return static_cast<PeerIndex>(below(peers_max)); }
    PeerCounts peer_counts() {
        PeerCounts counts{};
        for (std::size_t said = below(peers_max + 1); said > 0; --said)
            counts[said - 1] = static_cast<std::uint8_t>(below(256));
        return counts;
    }
    Ballot ballot() { return {u32(), peer(), u64()}; }
    Version version() { return {u64(), u64()}; }
    Time time() { return Time(static_cast<Time::rep>(u64() >> 2)); }
    float value() { return std::normal_distribution<float>()(random_); }
    Digest digest() {
        Digest result;
        for (auto& byte : result) byte = static_cast<std::uint8_t>(random_());
        return result;
    }
    std::string text() {
        std::string result(below(text_bytes_max + 1), ' ');
        for (char& c : result) c = static_cast<char>(' ' + below(95));
        return result;
    }
    Hello hello() {
        Hello hello{protocol_version, text(), digest(), digest(),     digest(),
                    text(),           text(), u64(),    std::nullopt, ""};
        if (below(2) == 1) hello.key_proof = KeyProof{digest(), digest()};
        for (std::size_t i = below(8); i > 0; --i) hello.settings_text += text() + "\n";
        return hello;
    }
    Partial partial() {
        Partial partial{row_of(peer()), version(), {u32(), u32()}, time(), below(2) == 1, {}};
        partial.checksums.resize(below(100));
        for (auto& checksum : partial.checksums) checksum = u32();
        partial.bound_at = time();
        partial.coded = below(2) == 1;
        return partial;
    }
    Covered covered() {
        Covered covered{u32(), {}, {}, std::nullopt, u64()};
        for (std::size_t i = below(covered_words_max + 1); i > 0; --i) {
            covered.done.push_back(u64());
            covered.done_next.push_back(u64());
        }
        if (below(2) == 1) covered.in_hand = Portion{u32(), u32()};
        return covered;
    }
    Status status() {
        Status status;
        status.sent_at = time();
        status.echo_sent_at = time();
        status.echo_held = time();
        status.loss = value();
        for (std::size_t i = below(peers_max + 1); i > 0; --i)
            status.progress.push_back({u64(), u64()});
        for (std::size_t i = below(peers_max + 1); i > 0; --i)
            status.rows.push_back({version(), version(), u32()});
        status.reached = u64();
        status.stop = static_cast<StopReason>(below(4));
        if (below(2) == 1) status.final_round = u64();
        status.accepted = ballot();
        status.decided = ballot();
        if (below(2) == 1) status.digest = digest();
        if (below(2) == 1) {
            status.verdict = Verdict{0.25, 0.5F, value()};
            if (below(2) == 1) status.verdict->loss.reset();
        }
        status.cut_blocks = u32();
        status.asked = u64();
        status.joining = below(2) == 1;
        status.has_vote = below(2) == 1;
        status.may_have_voted = u64();
        status.leaving = below(2) == 1;
        if (below(2) == 1) status.covered = covered();
        status.process_id = u64();
        for (std::size_t i = below(checkpoints_told_max + 1); i > 0; --i)
            status.checkpoints.push_back({u64(), u64()});
        status.resuming = below(2) == 1;
        status.run_id = u64();
        if (below(2) == 1) status.initial = digest();
        return status;
    }
    Want want() {
        Want want{row_of(peer()), below(2) == 1, {}};
        for (std::size_t i = below(200); i > 0; --i)
            want.runs.push_back({{u32(), u32()}, version()});
        return want;
    }
    Lack lack() {
        Lack lack{row_of(peer()), {}};
        for (std::size_t i = below(200); i > 0; --i) lack.runs.push_back({u32(), u32()});
        return lack;
    }
    std::vector<VersionRun> version_runs() {
        std::vector<VersionRun> runs;
        for (std::size_t i = below(200); i > 0; --i) runs.push_back({u32(), version()});
        return runs;
    }
    CutRow cut_row() { return {ballot(), row_of(peer()), version_runs()}; }

    Promise promise() {
        Promise promise{ballot(), ballot(), ballot(), below(2) == 1};
        for (std::size_t i = below(peers_max + 1); i > 0; --i) promise.votes.push_back(ballot());
        return promise;
    }

    std::vector<std::uint64_t> each_peer() {
        std::vector<std::uint64_t> values(below(peers_max + 1));
        for (auto& value : values) value = u64();
        return values;
    }
    Membership membership() {
        Membership said;
        said.epoch = {u32(), each_peer()};
        said.promised = ballot();
        said.accepted_ballot = ballot();
        said.accepted = each_peer();
        said.asks = ballot();
        said.proposed = each_peer();
        said.hears = u64();
        said.broken = below(2) == 1;
        said.wants_in = below(2) == 1;
        said.holding.begun = u64();
        for (std::size_t i = below(200); i > 0; --i) said.holding.sums.push_back({u32(), u64()});
        said.holding.late = below(2) == 1;
        said.ready = below(2) == 1;
        said.whole = below(2) == 1;
        said.taken = u64();
        return said;
    }
    Tally tally() { return {u64(), u64(), static_cast<StopReason>(below(4)), 0.75, each_peer()}; }

    std::mt19937_64 random_;
};

}  // namespace ako::test
