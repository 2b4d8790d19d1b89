// Are ever two cuts decided, when processes end at any time and are started again without memory?
// Searches the runs of the agreement (vote_world.h) in two ways:
//     vote --all PEERS PROPOSALS RESTARTS ASKS   every run with at most so many proposals, restarts
//                                                and votes asked for: every order of arrival, every
//                                                message that never arrives
//     vote [--first SEED] [--count COUNT]        random runs of 3 to 6 peers, which are cut off
//     from
//                                                one another in changing groups; where enough votes
//                                                are left in the end, a cut must be decided
// Exit 0: never two cuts, and a decision wherever there must be one. Exit 1: the last lines say
// what happened; a random run is repeated by its seed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/sim/violation.h"
#include "tests/sim/vote_world.h"

namespace {

using namespace ako;
using namespace ako::sim;

constexpr PeerSet everybody = ~PeerSet{0};
constexpr std::size_t all_messages = 100000;

void check(const VoteWorld& world, const std::string& run) {
    if (world.decisions().size() > 1)
        throw Violation("two cuts are decided\n" + world.text() + run);
}

// ---- every run

struct Budget {
    unsigned proposals = 0;
    unsigned restarts = 0;
    unsigned asks = 0;
};

class Search {
  public:
    void from(VoteWorld world, Budget left) {
        std::vector<std::pair<VoteWorld, Budget>> open;
        open.emplace_back(std::move(world), left);
        while (!open.empty()) {
            const auto [at, budget] = std::move(open.back());
            open.pop_back();
            step(at, budget, open);
        }
    }
    std::size_t states() const { return seen_.size(); }
    std::size_t decided() const { return decided_; }

  private:
    using Open = std::vector<std::pair<VoteWorld, Budget>>;

    struct Hash {
        std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& sum) const {
            return sum.first;
        }
    };

    void add(VoteWorld world, const Budget& left, Open& open) {
        // A cut is pulled as soon as somebody holds it: how long that takes, changes nothing.
        for (PeerIndex peer = 0; peer < world.peer_count(); ++peer) world.hold(peer, everybody);
        world.lose_idle();
        auto sum = world.fingerprint();
        sum.second ^= (std::uint64_t{left.proposals} << 40) ^ (std::uint64_t{left.restarts} << 48) ^
                      (std::uint64_t{left.asks} << 56);
        if (!seen_.insert(sum).second) return;
        check(world, "in every run of so many proposals, restarts and asks");
        decided_ += !world.decisions().empty();
        open.emplace_back(std::move(world), left);
    }
    void step(const VoteWorld& at, const Budget& left, Open& open) {
        for (std::size_t message = 0; message < at.flying(); ++message) {
            VoteWorld next = at;
            next.deliver(message);
            add(std::move(next), left, open);
        }
        for (PeerIndex peer = 0; peer < at.peer_count(); ++peer) {
            if (left.proposals > 0 && at.may_propose(peer)) {
                VoteWorld next = at;
                next.propose(peer);
                add(std::move(next), {left.proposals - 1, left.restarts, left.asks}, open);
            }
            if (left.asks > 0 && at.may_ask_for_vote(peer)) {
                VoteWorld next = at;
                next.ask_for_vote(peer);
                add(std::move(next), {left.proposals, left.restarts, left.asks - 1}, open);
            }
            if (left.restarts > 0) {
                VoteWorld next = at;
                next.restart(peer);
                add(std::move(next), {left.proposals, left.restarts - 1, left.asks}, open);
            }
        }
    }

    std::unordered_set<std::pair<std::uint64_t, std::uint64_t>, Hash> seen_;
    std::size_t decided_ = 0;
};

void search_all(std::size_t peer_count, const Budget& budget) {
    Search search;
    search.from(VoteWorld(peer_count), budget);
    std::printf("%zu peers, %u proposals, %u restarts, %u asks: %zu states, %zu decided\n",
                peer_count, budget.proposals, budget.restarts, budget.asks, search.states(),
                search.decided());
    if (search.decided() == 0) throw Violation("no run decided anything");
}

// ---- random runs

/// What random runs came to, all together.
struct Sums {
    std::size_t runs = 0;
    std::size_t decided = 0;   ///< before all was well again
    std::size_t regained = 0;  ///< votes
    std::size_t due = 0;       ///< runs with enough votes left for a decision
};

class RandomRun {
  public:
    explicit RandomRun(std::uint64_t seed)
        : random_(seed), world_(3 + seed % 4), side_(random_()), restarts_left_(1 + below(4)) {}

    void go(Sums& sums) {
        for (std::size_t spells = 4 + below(16); spells > 0; --spells) spell();
        ++sums.runs;
        sums.decided += !world_.decisions().empty();
        sums.regained += regained_;
        end(sums);
    }

  private:
    std::size_t below(std::size_t limit) { return random_() % limit; }
    PeerIndex somebody() { return static_cast<PeerIndex>(below(world_.peer_count())); }

    bool chance(std::size_t one_in) { return below(one_in) == 0; }

    /// The peers are cut in two. One changes sides, perhaps with another process, or one does
    /// something; then messages arrive on both sides.
    void spell() {
        const PeerIndex peer = somebody();
        if (!chance(3)) side_ ^= peer_bit(peer);
        if (restarts_left_ > 0 && chance(3)) {
            --restarts_left_;
            world_.restart(peer);
            act(peer);
        } else if (chance(2)) {
            act(somebody());
        }
        run(chance(4) ? below(10) : std::size_t{1000});  // not always all that could
    }
    void act(PeerIndex actor) {
        if (world_.may_ask_for_vote(actor)) {
            world_.ask_for_vote(actor);
        } else if (world_.may_propose(actor) && !chance(3)) {
            for (std::size_t again = 1 + below(3); again > 0; --again) world_.propose(actor);
        } else {
            world_.repeat(actor, everybody);
        }
    }
    bool together(PeerIndex one, PeerIndex other) const {
        return ((side_ >> one) & 1) == ((side_ >> other) & 1);
    }
    void run(std::size_t messages_max) {
        const std::size_t votes = world_.votes();
        for (std::size_t messages = 0; messages < messages_max; ++messages) {
            for (PeerIndex peer = 0; peer < world_.peer_count(); ++peer)
                world_.hold(peer, (side_ & peer_bit(peer)) != 0 ? side_ : ~side_);
            check(world_, "in a random run");
            const auto message = some_message();
            if (!message) break;
            world_.deliver(*message);
        }
        if (world_.votes() > votes) regained_ += world_.votes() - votes;
    }
    /// Between two of one side.
    std::optional<std::size_t> some_message() {
        std::vector<std::size_t> able;
        for (std::size_t message = 0; message < world_.flying(); ++message) {
            const auto [from, to] = world_.ends(message);
            if (together(from, to)) able.push_back(message);
        }
        if (able.empty()) return std::nullopt;
        return able[below(able.size())];
    }

    /// All hear one another again: if enough have a vote, a cut is decided.
    void end(Sums& sums) {
        side_ = everybody;
        if (chance(2)) world_.lose_all();
        run(all_messages);
        const std::size_t peers = world_.peer_count();
        const bool due = world_[0].enough(peers, world_.votes());
        sums.due += due;
        for (std::size_t turn = 0; turn < 20 * peers && !world_.somebody_decided(); ++turn) {
            const auto peer = static_cast<PeerIndex>(turn % peers);
            if (world_.may_ask_for_vote(peer)) world_.ask_for_vote(peer);
            world_.repeat(peer, everybody);
            run(all_messages);
            if (world_.may_propose(peer)) world_.propose(peer);
            run(all_messages);
        }
        if (due && !world_.somebody_decided())
            throw Violation("no cut is decided, although enough have a vote\n" + world_.text());
        for (PeerIndex peer = 1; peer < peers; ++peer) world_.learn(peer, 0);
        check(world_, "in the end of a random run");
    }

    std::mt19937_64 random_;
    VoteWorld world_;
    PeerSet side_;  ///< who is on one side; the others are on the other
    std::size_t restarts_left_;
    std::size_t regained_ = 0;
};

void search_random(std::uint64_t first, std::uint64_t count) {
    Sums sums;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        try {
            RandomRun(seed).go(sums);
        } catch (const Violation& violation) {
            throw Violation(violation.what() + ("; vote --first " + std::to_string(seed)) +
                            " --count 1");
        }
    }
    std::printf(
        "%zu runs: %zu decided in spite of all, %zu votes regained, a decision due in %zu\n",
        sums.runs, sums.decided, sums.regained, sums.due);
    // The runs are worth something.
    if (count > 100 && (sums.decided < count / 10 || sums.regained < count / 10 ||
                        sums.due < count / 2 || sums.due == sums.runs))
        throw Violation("the runs do not come to what they are for");
}

std::uint64_t number(const char* word) { return std::strtoull(word, nullptr, 10); }

void search(int argc, char** argv) {
    if (argc == 6 && std::strcmp(argv[1], "--all") == 0) {
        const auto limit = [&](int place) { return static_cast<unsigned>(number(argv[place])); };
        return search_all(number(argv[2]), {limit(3), limit(4), limit(5)});
    }
    std::uint64_t first = 1;
    std::uint64_t count = 20000;
    for (int k = 1; k + 1 < argc; k += 2) {
        if (std::strcmp(argv[k], "--first") == 0) first = number(argv[k + 1]);
        if (std::strcmp(argv[k], "--count") == 0) count = number(argv[k + 1]);
    }
    search_random(first, count);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        search(argc, argv);
    } catch (const Violation& violation) {
        std::printf("violated: %s\n", violation.what());
        return 1;
    }
    return 0;
}
