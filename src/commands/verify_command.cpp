// See verify_command.h. A stretch is a run of `ako launch --resume`, ended by training.until.
#include "src/commands/verify_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "models/catalog.h"
#include "models/safetensors.h"
#include "src/config/cluster_file.h"
#include "src/numbers/digest.h"
#include "src/results/checkpoint_difference.h"
#include "src/results/checkpoint_file.h"
#include "src/results/peer_result.h"
#include "src/system/child_process.h"
#include "src/system/scratch_folder.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr int starts_max = 3;
constexpr double replay_s_max = 7 * 24 * 3600;
constexpr std::size_t tail_of_output = 1500;

/// Of one round.
struct KeptRound {
    double progress = 0;             ///< 0 .. 1 of the run
    std::vector<std::string> peers;  ///< that have a checkpoint of it
};

struct Kept {
    std::map<Round, KeptRound> rounds;
    std::vector<std::string> damaged;  ///< what is wrong with others, for people
    std::size_t of_others = 0;         ///< checkpoints that other peers made
};

Kept kept_in(const std::string& folder, const std::vector<std::string>& peers) {
    Kept kept;
    for (const std::string& peer : peers) {
        for (const std::string& path : checkpoint_paths(folder, peer)) {
            const auto head = check_checkpoint(path);
            if (!head) {
                kept.damaged.push_back(path + ": " + head.error().what);
                continue;
            }
            if (head->owner.peers != peers) {  // what this run has gone on from
                ++kept.of_others;
                continue;
            }
            if (path != checkpoint_path(folder, head->owner.peer, head->id.round)) {
                kept.damaged.push_back(path + ": is another peer's or round's, by what is in it");
                continue;
            }
            KeptRound& round = kept.rounds[head->id.round];
            round.progress = std::max(round.progress, head->progress);
            round.peers.push_back(peer);
        }
    }
    return kept;
}

/// By peer, the digest of the model with which a run came to its end; none if it did not. In
/// `local` each has its own.
std::map<std::string, std::string> final_digests(const std::string& folder) try {
    std::ifstream file(folder + "/summary.json");
    if (!file) return {};
    const nlohmann::json summary = nlohmann::json::parse(file);
    std::map<std::string, std::string> found;
    for (const auto& peer : summary.at("peers")) {
        const int exit = peer.at("exit");
        if (exit != exit_ok && exit != exit_not_learned) return {};
        found[peer.at("name")] = peer.at("digest");
    }
    return found;
} catch (const nlohmann::json::exception& error) {
    throw StartupError(folder + "/summary.json: is not as Ako writes it: " + error.what(),
                       "without it the run is taken for one that did not end");
}

/// What is wrong with the model that a run has left; empty: nothing, or there is none.
std::string changed_model(const std::string& folder, const Settings& settings,
                          const std::map<std::string, std::string>& digests) {
    const std::string path = folder + "/model.safetensors";
    if (!fs::exists(path) || digests.empty() || entry_of(settings.exchange).is_alone()) return "";
    const std::vector<float> parameters =
        read_safetensors(path, make_network(settings.model)->tensors());
    const std::string found = hex(sha256(std::as_bytes(std::span(parameters))));
    const std::string& said = digests.begin()->second;
    return found == said ? ""
                         : fmt::format("{}: has the digest {}, and the run ended with {}", path,
                                       short_digest(found), short_digest(said));
}

/// Why a run that is made once more would not come to the same bits; empty if it would.
std::string why_not_repeatable(const Settings& settings) {
    const ModeEntry& mode = entry_of(settings.exchange);
    if (!mode.keeps_checkpoints())
        return fmt::format("exchange.mode: {}: {}", mode.name, mode.why_no_checkpoints);
    if (!mode.repeats())
        return fmt::format(
            "exchange.mode: {}: what arrives first counts first, so no two runs "
            "are the same",
            mode.name);
    if (settings.training.learners == 0)
        return "training.learners: auto: how many there are goes by how long rounds take";
    if (settings.training.batch.schedule.kind == BatchScheduleKind::automatic)
        return "training.batch.schedule: auto: what it has seen of the noise is in no checkpoint";
    return "";
}

class Verification {
  public:
    explicit Verification(const VerifyOptions& options)
        : options_(options),
          config_(options.folder + "/config.yaml"),
          settings_(read_cluster_file(config_, options.overrides)),
          peers_(peer_names(settings_)),
          kept_(kept_in(options.folder, peers_)),
          digests_(final_digests(options.folder)) {
        if (std::string wrong = changed_model(options.folder, settings_, digests_); !wrong.empty())
            kept_.damaged.push_back(std::move(wrong));
        if (const std::string why = why_not_repeatable(settings_); !why.empty())
            throw StartupError(config_ + ": " + why,
                               "ring, local-sgd, sma, local, and parameter-server with "
                               "consistency: bsp repeat themselves");
        const std::vector<Round> begins = rounds_of_all();
        const bool leads_on =
            !begins.empty() && (!digests_.empty() || begins.front() < kept_.rounds.rbegin()->first);
        if (kept_.damaged.empty() && !leads_on)
            throw StartupError(
                fmt::format("{}: {} rounds of which every peer has a checkpoint{}", options.folder,
                            begins.size(), digests_.empty() ? ", and no end" : ""),
                "with training.checkpoint_every a run keeps some; those of all peers have to be in "
                "one folder");
    }

    ExitStatus run() {
        fmt::print("{}: {}, {} peers, whole checkpoints of rounds {}\n", options_.folder,
                   entry_of(settings_.exchange).name, peers_.size(),
                   fmt::join(rounds_of_all(), ", "));
        if (kept_.of_others > 0)
            fmt::print("{} that other peers made are not looked at\n", kept_.of_others);
        for (const std::string& damaged : kept_.damaged) fmt::print("{}\n", damaged);
        replay_all();
        const bool verified = same_ && kept_.damaged.empty();
        fmt::print("{}\n", verified ? "verified: what goes on from these checkpoints is this run"
                                    : "not verified");
        if (!same_)
            fmt::print(
                "(sums are rounded otherwise on another kind of processor: if that trained "
                "it, verify it there)\n");
        return verified ? exit_ok : exit_no_agreement;
    }

  private:
    /// Only from these a run goes on.
    bool is_of_all(const KeptRound& it) const { return it.peers.size() == peers_.size(); }

    std::string whose(Round round) const {
        const KeptRound& kept = kept_.rounds.at(round);
        return is_of_all(kept) ? fmt::to_string(round)
                               : fmt::format("{} of {}", round, fmt::join(kept.peers, ", "));
    }

    std::vector<Round> rounds_of_all() const {
        std::vector<Round> found;
        for (const auto& [round, kept] : kept_.rounds)
            if (is_of_all(kept)) found.push_back(round);
        return found;
    }

    /// From each round that all have to the next of each peer, and from the newest to the end.
    void replay_all() {
        std::optional<Round> from;
        for (const auto& [to, kept] : kept_.rounds) {
            if (from)
                say(fmt::format("rounds {} to {}", *from, whose(to)),
                    [&, round = to] { return replay_to(*from, round); });
            else if (!is_of_all(kept))
                fmt::print(
                    "round {} is not looked at, and not verified: none before it is of all "
                    "peers\n",
                    whose(to));
            if (is_of_all(kept)) from = to;
        }
        if (from && !digests_.empty())
            say(fmt::format("round {} to the end", *from), [&] { return replay_to_end(*from); });
    }

    /// `replay` returns what differs; empty: nothing.
    template <class Replay>
    void say(const std::string& stretch, const Replay& replay) {
        const auto began = std::chrono::steady_clock::now();
        const std::string differs = replay();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
        fmt::print("{}: {} ({:.1f} s)\n", stretch,
                   differs.empty() ? "the same bits" : "differs: " + differs, seconds.count());
        std::fflush(stdout);
        same_ = same_ && differs.empty();
    }

    std::string there(const std::string& name) const { return (scratch_.path() / name).string(); }

    /// Trains once more from that round, into a folder of this name.
    void train(Round from, const std::string& name, std::vector<std::string> settings) {
        const std::string earlier = there(name + "-from");
        fs::create_directory(earlier);
        for (const std::string& peer : peers_)
            fs::create_symlink(fs::absolute(checkpoint_path(options_.folder, peer, from)),
                               checkpoint_path(earlier, peer, from));
        std::vector<std::string> words = {own_program(), "launch",       config_,
                                          "--resume",    earlier,        "--free-ports",
                                          "--plain",     "--output-dir", there(name)};
        settings.insert(settings.begin(), options_.overrides.begin(), options_.overrides.end());
        // What only made the run what it was to others.
        settings.insert(settings.end(), {"training.must_learn=false", "cluster_key_file=null",
                                         "observe.address=null"});
        for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
        CommandOutput done;
        for (int tries = 0; tries < starts_max; ++tries) {
            done = run_command(words, replay_s_max);
            if (done.exit != exit_start_up) break;  // a port that was free may be taken meanwhile
            fs::remove_all(there(name));
        }
        if (done.exit == exit_ok || done.exit == exit_no_agreement) return;  // by the bits, then
        const std::size_t length = done.text.size();
        throw StartupError(
            fmt::format("from round {} on it could not be trained once more: exit {}:\n{}", from,
                        done.exit, done.text.substr(length - std::min(length, tail_of_output))),
            "with --set its data, memory or time-outs can be others");
    }

    std::string replay_to(Round from, Round to) {
        const std::string name = fmt::to_string(to);
        const KeptRound& kept_there = kept_.rounds.at(to);
        const double epochs = kept_there.progress * settings_.training.epochs;
        train(from, name, {fmt::format("training.until={}", epochs)});
        std::string differs;
        for (const std::string& peer : kept_there.peers) {
            const auto kept = read_checkpoint(checkpoint_path(options_.folder, peer, to));
            const auto replayed = read_checkpoint(checkpoint_path(there(name), peer, to));
            if (!kept || !replayed) {
                differs = fmt::format("peer {}: {}", peer,
                                      kept ? replayed.error().what : kept.error().what);
                break;
            }
            if (const std::string what = difference_of(*kept, *replayed); !what.empty()) {
                differs = fmt::format("peer {}: {}", peer, what);
                break;
            }
        }
        fs::remove_all(there(name));
        return differs;
    }

    std::string replay_to_end(Round from) {
        train(from, "end", {});
        auto replayed = final_digests(there("end"));
        for (const auto& [peer, digest] : digests_)
            if (replayed[peer] != digest)
                return fmt::format("peer {}: the model, {} and {}", peer, short_digest(digest),
                                   short_digest(replayed[peer]));
        return "";
    }

    const VerifyOptions& options_;
    const std::string config_;
    const Settings settings_;
    const std::vector<std::string> peers_;
    Kept kept_;
    const std::map<std::string, std::string> digests_;
    const ScratchFolder scratch_{"verify"};
    bool same_ = true;  ///< so far
};

}  // namespace

ExitStatus verify(const VerifyOptions& options) try {
    return Verification(options).run();
} catch (const fs::filesystem_error& error) {
    throw StartupError(error.what(), "is the run under way? verify it when it has ended");
}

}  // namespace ako
