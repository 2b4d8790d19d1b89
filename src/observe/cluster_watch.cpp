// See cluster_watch.h.
#include "src/observe/cluster_watch.h"

#include <exception>
#include <utility>
#include <vector>

#include "src/observe/ask_status.h"

namespace ako {
namespace {

/// In the order of the peers of the run, this one with what it has posted.
std::vector<StatusAnswer> ask_the_others(const Observed& own) {
    std::vector<ObservedPeer> others;
    for (const ObservedPeer& peer : own.run.peers)
        if (peer.name != own.run.peer) others.push_back(peer);
    std::vector<StatusAnswer> answers = ask_all(others);
    for (std::size_t k = 0; k < own.run.peers.size(); ++k)
        if (own.run.peers[k].name == own.run.peer)
            answers.insert(answers.begin() + static_cast<std::ptrdiff_t>(k), {own, ""});
    return answers;
}

}  // namespace

Bottleneck ClusterWatch::newest() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds fresh{1};
    const Board::Post post = board_.newest();
    {
        const std::lock_guard lock(mutex_);
        const bool is_fresh = asked_at_ && Clock::now() - *asked_at_ < fresh;
        if (is_fresh || asking_ || !post.observed) return newest_;
        asking_ = true;
    }
    std::optional<Bottleneck> found;
    try {
        found = bottleneck_of(post.observed->run, ask_the_others(*post.observed));
    } catch (const std::exception&) {  // no thread, or no memory, to ask with: as it was
    }
    const std::lock_guard lock(mutex_);
    if (found) newest_ = *std::move(found);
    asked_at_ = Clock::now();
    asking_ = false;
    return newest_;
}

}  // namespace ako
