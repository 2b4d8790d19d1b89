// The final exchange of several peers, some of which are started again in the middle of it: each
// finds out by what it hears that it is a later life, regains its vote, and all adopt one cut. What
// the agreement alone does in every order is searched by tests/sim/vote.cpp; here are the questions
// that are asked again, the patience of proposers and the outbidding, in virtual time.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "src/agreement/finish.h"
#include "src/numbers/checksum.h"
#include "src/rows/snapshots.h"

namespace ako::votes_at_the_end_test {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr FinishTimes times{seconds(10), seconds(10), seconds(120)};
constexpr Time step_time = milliseconds(50);
constexpr Round last_round = 5;
const Blocks blocks{4, 4};

/// One process. It holds all rows: pulling is not what is tested here.
struct Process {
    template <class Send>
    Process(PeerIndex of, std::size_t peer_count, std::uint64_t process_id, Send send)
        : self(of),
          ledger(of, peer_count, blocks),
          roster(of, peer_count),
          finish(ledger, roster, send, times, process_id) {
        own[0].version = version_of_row(ledger.own());
        ledger.set_own(own[0]);
        const std::vector<float> values(4, 1.0F);
        for (const RowIndex row : ledger.all()) {
            if (row != ledger.own())
                ledger.replace(row, 0, version_of_row(row), values,
                               crc32c(std::span<const float>(values)));
        }
    }
    Status status() const {
        Status status;
        status.standing.progress = roster.progress();
        for (const RowIndex row : ledger.all()) status.rows.push_back(ledger.held(row));
        if (finish.begun()) status.standing.final_round = last_round;
        status.vote.accepted = finish.accepted();
        status.vote.decided = finish.decided();
        status.standing.digest = finish.digest();
        status.vote.has_vote = finish.has_vote();
        status.vote.may_have_voted = finish.voter().may_have_voted();
        return status;
    }
    void arrived(PeerIndex from, const Header& header, Time now) {
        const auto* status = std::get_if<Status>(&header);
        if (status == nullptr) return finish.handle(from, header, now);
        roster.heard_status(from, *status, now, last_round);
        finish.heard(from, *status, now);
        // As it would after it had joined.
        if (roster[self].announced == 0) roster.set_own(last_round, last_round);
    }
    void step(Time now) {
        const bool knows_its_round = roster[self].announced > 0;
        if (!finish.begun() && knows_its_round && now >= begins_at) finish.begin(now);
        finish.step(now);
        if (!finish.ready_to_adopt()) return;
        ledger.detach_own();
        finish.adopt_cut(ledger, now);
        finish.set_digest({});
    }

    /// The first process of each peer has made the row.
    static Version version_of_row(RowIndex row) { return {row.place() + 1, last_round}; }

    const PeerIndex self;
    Snapshots own{blocks};
    Ledger ledger;
    Roster roster;
    Finish finish;
    Time begins_at{0};
};

/// Peers whose messages take a while, and who say how they are every 250 ms.
class Cluster {
  public:
    Cluster(std::size_t peer_count, std::uint64_t seed)
        : random_(seed), processes_(peer_count), delay_(milliseconds(1 + below(120))) {
        for (PeerIndex peer = 0; peer < peer_count; ++peer) {
            start(peer, milliseconds(below(2000)));
            processes_[peer]->roster.set_own(last_round, last_round);
        }
        run(seconds(1));
    }

    std::size_t below(std::size_t limit) { return random_() % limit; }
    std::size_t size() const { return processes_.size(); }

    /// The process ends, and another begins, which takes over the round and the rows once it has
    /// heard of them. What was under way to it or from it is lost.
    void restart(PeerIndex peer) {
        std::erase_if(flying_, [&](const auto& message) {
            return message.second.to == peer || message.second.from == peer;
        });
        start(peer, milliseconds(below(3000)));
    }
    void run(Time time) {
        for (const Time end = now_ + time; now_ < end; now_ += step_time) step();
    }
    bool all_adopted() const {
        return std::all_of(processes_.begin(), processes_.end(),
                           [](const auto& process) { return process->finish.adopted(); });
    }
    /// A process that has just been started does not know yet that it has no vote.
    bool has_vote(PeerIndex peer) const {
        const Finish& finish = processes_[peer]->finish;
        return finish.has_vote() && (finish.voter().may_have_voted() & peer_bit(peer)) != 0;
    }
    std::size_t votes() const {
        std::size_t count = 0;
        for (PeerIndex peer = 0; peer < size(); ++peer) count += has_vote(peer);
        return count;
    }
    std::set<CutId> decisions() const {
        std::set<CutId> found;
        for (const auto& process : processes_) {
            if (!process->finish.decided().none()) found.insert(process->finish.decided());
        }
        return found;
    }

  private:
    struct Message {
        PeerIndex from;
        PeerIndex to;
        Header header;
    };

    void start(PeerIndex peer, Time training) {
        const auto send = [this, peer](PeerIndex to, Header header) {
            flying_.emplace(now_ + delay_, Message{peer, to, std::move(header)});
        };
        processes_[peer] = std::make_unique<Process>(peer, size(), ++process_id_, send);
        processes_[peer]->begins_at = now_ + training;
        for (PeerIndex other = 0; other < size(); ++other) {
            if (other != peer) processes_[peer]->roster.set_presence(other, Presence::up);
        }
        say_status(peer);
        for (PeerIndex other = 0; other < size(); ++other) {  // the session begins with it
            if (other != peer && processes_[other]) say_status(other);
        }
    }
    void say_status(PeerIndex peer) {
        for (PeerIndex other = 0; other < size(); ++other) {
            if (other == peer) continue;
            flying_.emplace(now_ + delay_, Message{peer, other, processes_[peer]->status()});
        }
    }
    void step() {
        while (!flying_.empty() && flying_.begin()->first <= now_) {
            const Message message = std::move(flying_.begin()->second);
            flying_.erase(flying_.begin());
            processes_[message.to]->arrived(message.from, message.header, now_);
        }
        for (auto& process : processes_) process->step(now_);
        if (now_ < said_at_ + milliseconds(250)) return;
        said_at_ = now_;
        for (PeerIndex peer = 0; peer < size(); ++peer) say_status(peer);
    }

    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Process>> processes_;
    const Time delay_;
    std::multimap<Time, Message> flying_;
    std::uint64_t process_id_ = 0;
    Time now_ = seconds(100);
    Time said_at_{0};
};

}  // namespace

TEST_CASE("peers that are started again while a cut is agreed on end with the same cut") {
    std::size_t regained = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        Cluster cluster(3 + seed % 4, seed);
        const Agreement rules(0, cluster.size(), 0);
        for (std::size_t restarts = 1 + cluster.below(4); restarts > 0; --restarts) {
            cluster.run(milliseconds(cluster.below(1500)));
            const auto peer = static_cast<PeerIndex>(cluster.below(cluster.size()));
            // At most as many as can be without a vote at once.
            const std::size_t left = cluster.votes() - (cluster.has_vote(peer) ? 1 : 0);
            if (left >= rules.givers() && cluster.decisions().empty()) cluster.restart(peer);
        }
        cluster.run(seconds(60));
        CHECK(cluster.decisions().size() == 1);
        CHECK(cluster.all_adopted());
        regained += cluster.votes() == cluster.size();
    }
    CHECK(regained > 100);
}

TEST_CASE("with too few votes nobody takes a cut for decided") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        Cluster cluster(3, seed);
        cluster.restart(0);
        cluster.restart(1);
        cluster.run(seconds(60));
        CHECK(cluster.decisions().empty());
        CHECK(cluster.votes() == 1);
    }
}

}  // namespace ako::votes_at_the_end_test
