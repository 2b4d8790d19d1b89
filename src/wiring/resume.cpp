#include "src/wiring/resume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "net/hello_check.h"
#include "net/settings_difference.h"
#include "src/config/cluster_file.h"
#include "src/numbers/digest.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr const char* from_a_model =
    "to begin with what the earlier run had learned: --set model.initial=FILE, a saved model such "
    "as its checkpoint.safetensors";

/// What differs in the settings that all peers share.
std::string settings_text(const CheckpointOwner& own, const CheckpointOwner& found) {
    const auto keys = reject_for_settings(own.settings, found.settings);
    const auto text =
        keys ? settings_reject_text(keys->expected, keys->got, "there") : std::nullopt;
    return "it was made with other settings" + (text ? ": " + *text : "");
}

/// Is `found` what `own` is, but for keys that the version which wrote it did not know, and which
/// have the value here that they have in `defaults`?
bool lacks_new_keys_only(const std::string& own, const std::string& found,
                         const std::string& defaults) {
    const std::vector<std::string> theirs = lines_of(found), standard = lines_of(defaults);
    std::size_t next = 0;
    for (const std::string& line : lines_of(own)) {
        if (next < theirs.size() && theirs[next] == line)
            ++next;
        else if (std::find(standard.begin(), standard.end(), line) == standard.end())
            return false;
    }
    return next == theirs.size();
}

/// May a branch have another value of this key? Peers that go on together count rounds of one size.
bool may_branch(const std::string& key, bool alone) {
    if (key.starts_with("training.learners")) return false;
    if (key.starts_with("training.batch")) return alone;
    return key.starts_with("training.");
}

/// Why a branch cannot begin at a checkpoint that was made with other settings; empty if it can.
std::string cannot_branch(const CheckpointOwner& own, const CheckpointOwner& found, bool alone) {
    for (const std::string& key : differing_settings(own.settings, found.settings))
        if (!may_branch(key, alone))
            return fmt::format("it was made with another {}, at which no branch can begin", key);
    return "";
}

/// May a peer go on from what another one has left, perhaps of other peers?
bool may_change(const ChangedPeers* changed) {
    return changed != nullptr && changed->why_not().empty();
}

/// Why this peer cannot go on from what those of another run left; empty if it can.
std::string of_other_peers(const CheckpointOwner& own, const CheckpointOwner& found,
                           const ChangedPeers* changed) {
    if (may_change(changed)) return "";
    if (found.peer != own.peer) return fmt::format("it is of peer {}", found.peer);
    if (found.peers == own.peers) return "";
    const std::string why = changed != nullptr ? "; " + changed->why_not() : "";
    return fmt::format("it is of the peers {}; the cluster file names {}{}",
                       fmt::join(found.peers, ", "), fmt::join(own.peers, ", "), why);
}

/// Without the last line of its settings, which names the peers.
CheckpointOwner of_any_peers(CheckpointOwner owner) {
    std::string& text = owner.settings;
    if (const auto line = text.rfind("peers:"); line != std::string::npos) text.resize(line);
    owner.peers.clear();
    owner.training = sha256(text);
    return owner;
}

/// Why a whole checkpoint is not this peer's; empty if it is.
std::string foreign(const CheckpointOwner& own, const CheckpointOwner& found,
                    const std::string& defaults, const EarlierRun& run,
                    const ChangedPeers* changed) {
    if (found.run != own.run && !run.branches)
        return fmt::format("it is of the run {}, not {}", found.run, own.run);
    if (std::string why = of_other_peers(own, found, changed); !why.empty()) return why;
    if (found.peers != own.peers) {
        CheckpointOwner made = of_any_peers(found);
        made.peer = own.peer;
        return foreign(of_any_peers(own), made, defaults, run, changed);
    }
    if (run.branches) {
        if (std::string why = cannot_branch(own, found, run.alone); !why.empty()) return why;
    } else if (found.training != own.training &&
               !lacks_new_keys_only(own.settings, found.settings, defaults))
        return settings_text(own, found);
    if (found.layout != own.layout)
        return fmt::format("it is of another network (layout {}, not {})", short_hex(found.layout),
                           short_hex(own.layout));
    if (found.initial != own.initial)
        return fmt::format("its run began with other initial parameters ({}, not {})",
                           short_hex(found.initial), short_hex(own.initial));
    return "";
}

/// The newest of these files, with its time; nothing if there is none.
std::optional<std::pair<fs::file_time_type, std::string>> newest_of(
    const std::vector<std::string>& paths) {
    std::optional<std::pair<fs::file_time_type, std::string>> newest;
    for (const std::string& path : paths) {
        std::error_code error;
        const fs::file_time_type written = fs::last_write_time(path, error);
        if (!error) newest = std::max(newest, std::optional(std::pair(written, path)));
    }
    return newest;
}

/// When the newest checkpoint of these peers in the folder was written, if there is one.
std::optional<fs::file_time_type> newest_in(const fs::path& folder,
                                            const std::vector<std::string>& peers) {
    std::vector<std::string> paths = checkpoint_paths(folder.string());
    std::erase_if(paths, [&peers](const std::string& path) {
        return std::find(peers.begin(), peers.end(), peer_in_name(path)) == peers.end();
    });
    const auto newest = newest_of(paths);
    return newest ? std::optional(newest->first) : std::nullopt;
}

/// "20260131-235959", as after the name of a run in that of its folder; then a number may follow.
bool is_time(const std::string& text) {
    constexpr std::string_view form = "00000000-000000";
    if (text.size() < form.size()) return false;
    for (std::size_t k = 0; k < form.size(); ++k) {
        const bool digit = text[k] >= '0' && text[k] <= '9';
        if (form[k] == '-' ? text[k] != '-' : !digit) return false;
    }
    return true;
}

}  // namespace

CheckpointOwner checkpoint_owner(const Settings& settings, const Hello& hello) {
    const std::string text = checkpoint_digest_text(settings);
    return {hello.run_name,
            hello.peer_name,
            peer_names(settings),
            sha256(text),
            hello.layout_digest,
            hello.initial_digest,
            text};
}

EarlierCheckpoints find_checkpoints(const EarlierRun& run, const CheckpointOwner& owner,
                                    const std::string& defaults, const ChangedPeers* changed) {
    EarlierCheckpoints earlier;
    const auto look_at = [&](const std::string& path) {
        const Result<CheckpointHead> head = check_checkpoint(path);
        std::string why =
            head ? foreign(owner, head->owner, defaults, run, changed) : head.error().what;
        KeptCheckpoint kept;
        if (why.empty()) kept = {head->id, head->progress, path, 0, head->past, {}};
        if (why.empty() && (head->owner.peers != owner.peers || head->owner.peer != owner.peer)) {
            kept.of_peers = head->owner.peers;
            kept.id = changed->id(head->id, kept.of_peers);
            if (kept.id.round == 0) why = "it is of before the first round of so many peers";
        }
        if (why.empty())
            earlier.usable.push_back(std::move(kept));
        else
            earlier.refused.push_back(fmt::format("{} is not used: {}", path, why));
    };
    std::vector<std::string> paths = checkpoint_paths(run.folder, owner.peer);
    if (paths.empty() && may_change(changed))
        if (const auto newest = newest_of(checkpoint_paths(run.folder)))
            paths = checkpoint_paths(run.folder, peer_in_name(newest->second));
    for (const std::string& path : paths) look_at(path);
    std::sort(earlier.usable.begin(), earlier.usable.end(), [](const auto& one, const auto& other) {
        return std::tie(one.id.round, one.id.start) > std::tie(other.id.round, other.id.start);
    });
    std::sort(earlier.refused.begin(), earlier.refused.end());
    return earlier;
}

EarlierCheckpoints checkpoints_to_go_on_from(const Settings& settings, const EarlierRun& run,
                                             const CheckpointOwner& owner) {
    const ModeEntry& mode = entry_of(settings.exchange);
    if (!mode.keeps_checkpoints())
        throw StartupError(fmt::format("{}: {} there are no checkpoints to go on from",
                                       run.option(), mode.why_no_checkpoints),
                           from_a_model);
    EarlierRun asked = run;
    asked.alone = mode.is_alone();
    const ChangedPeers changed(settings);
    EarlierCheckpoints earlier =
        find_checkpoints(asked, owner, default_checkpoint_text(settings), &changed);
    const bool lost = earlier.refused.empty() && mode.resumes_from == ResumesFrom::own_or_others;
    if (!earlier.usable.empty() || lost) return earlier;
    std::string what =
        fmt::format("{}: no checkpoint of peer {} in {}", run.option(), owner.peer, run.folder);
    for (const std::string& refused : earlier.refused) what += "\n       " + refused;
    throw StartupError(what, earlier.refused.empty()
                                 ? "with training.checkpoint_every a run keeps some; is it the "
                                   "folder of the run?"
                                 : from_a_model);
}

std::optional<std::string> newest_run_with_checkpoints(const Settings& settings,
                                                       const std::vector<std::string>& peers) {
    const std::string begin = settings.run + "-";  // and then the time
    std::optional<std::pair<fs::file_time_type, std::string>> newest;
    std::error_code error;
    for (fs::directory_iterator entry(settings.output, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const bool of_run = name.starts_with(begin) && is_time(name.substr(begin.size()));
        std::error_code unknown;
        if (!of_run || entry->is_symlink(unknown)) continue;  // `latest` is one of the others
        const auto written = newest_in(entry->path(), peers);
        if (!written) continue;
        const auto found = std::pair(*written, entry->path().string());
        newest = std::max(newest.value_or(found), found);
    }
    if (!newest) return std::nullopt;
    return newest->second;
}

}  // namespace ako
