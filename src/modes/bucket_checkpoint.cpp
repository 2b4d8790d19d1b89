// What the compute half of a mode with buckets keeps in a checkpoint, and goes on from: see
// bucket_compute.h.
#include <string>
#include <utility>

#include "src/modes/bucket_compute.h"

namespace ako {

namespace {

/// Of the names of numbers in a checkpoint: was the accuracy reached that the run is to stop at?
constexpr const char* target = ".target_reached";

/// And of this: how many learners had that peer?
std::string learners_of(const std::string& summary, PeerIndex peer) {
    return summary + ".learners." + std::to_string(peer);
}

}  // namespace

bool BucketCompute::save(Checkpoint& out) {
    if (!settings_.exchange.keeps_checkpoints()) return false;
    out.id = {start_, round_};
    out.samples = samples_;
    out.numbers["samples_total"] = samples_total_;
    out.progress = progress();
    out.together = true;
    out.common = common_.newest_of(status_.checkpoints);
    // That somebody has asked for the end is over with this start; what training has come to stays.
    const auto reached = [&out](const std::string& name, StopReason stop) {
        out.numbers[name + target] = stop == StopReason::target_reached ? 1 : 0;
    };
    reached("wish", wish_);
    const auto put = [&](const std::string& name, const SyncSummary& summary) {
        reached(name, summary.wish.stop);
        out.numbers[name + ".doublings"] = summary.wish.doublings;
        out.numbers[name + ".rounds_total"] = summary.rounds_total;
        out.numbers[name + ".workers"] = summary.workers;
        for (PeerIndex peer = 0; averages() && peer < roster_.peer_count(); ++peer)
            out.numbers[learners_of(name, peer)] = summary.wish.learners[peer];
    };
    put("known", known_);
    put("newest", newest_);
    rule_->save(out);
    protocol_.save(out);
    return true;
}

Result<void> BucketCompute::restore(std::shared_ptr<const Checkpoint> from) {
    const auto reached = [&from](const std::string& name) {
        const auto found = from->numbers.find(name + target);
        const bool is = found != from->numbers.end() && found->second == 1;
        return is ? StopReason::target_reached : StopReason::none;
    };
    for (const auto& [name, summary] :
         {std::pair("known", &known_), std::pair("newest", &newest_)}) {
        const auto rounds = from->number(std::string(name) + ".rounds_total");
        const auto workers = from->number(std::string(name) + ".workers");
        if (!rounds) return tl::make_unexpected(rounds.error());
        const auto doubled = from->number(std::string(name) + ".doublings");
        if (!workers) return tl::make_unexpected(workers.error());
        if (!doubled) return tl::make_unexpected(doubled.error());
        *summary = {{reached(name), static_cast<std::uint8_t>(*doubled)},
                    *rounds,
                    static_cast<std::uint32_t>(*workers)};
        for (PeerIndex peer = 0; averages() && peer < roster_.peer_count(); ++peer) {
            // Checkpoints from before they were told are of as many at each peer.
            const auto learners = from->numbers.find(learners_of(name, peer));
            if (learners == from->numbers.end()) break;
            summary->wish.learners[peer] = static_cast<std::uint8_t>(learners->second);
        }
    }
    const auto samples_total = from->number("samples_total");
    if (!samples_total) return tl::make_unexpected(samples_total.error());
    if (const auto kept = protocol_.check(*from); !kept) return kept;
    if (const auto held = rule_->restore(*from); !held) return held;
    round_ = from->id.round;
    samples_ = from->samples;
    samples_total_ = *samples_total;
    if (const std::size_t made = images_of_learners(); made > 0) global_ = made;
    synced_round_ = rule_->syncs(round_) ? round_ : 0;
    progress_ = from->progress;
    wish_ = stronger(wish_, reached("wish"));
    board_.restore(std::move(from));
    post_status(true);
    return {};
}

void BucketCompute::tell_kept(const std::vector<CheckpointId>& kept) {
    status_.checkpoints = kept;
    post_status(false);
}

}  // namespace ako
