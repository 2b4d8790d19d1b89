#include "src/config/conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/config/fields.h"

namespace ako {

namespace {

bool is_external(const Settings& settings) { return settings.model.kind == ModelKind::external; }
bool is_evaluated_after(const Settings& settings) {
    return settings.training.evaluate == EvaluateWhen::after;
}
bool wants_learners(const Settings& settings) { return settings.training.learners != 1; }
bool is_external_with_gradients(const Settings& settings) {
    return is_external(settings) && entry_of(settings.exchange).gives == Gives::gradients;
}
bool is_external_with_average(const Settings& settings) {
    return is_external(settings) &&
           entry_of(settings.exchange).learners == LearnersMeet::at_all_peers;
}

/// With the value that `with` has, where that `holds`, others of the key of the exclusion have no
/// meaning.
struct Conflict {
    bool (*holds)(const Settings&);
    std::string_view with;
    Exclusion exclusion;
};

constexpr std::string_view of_learners =
    "learners are replicas of a network of ako's own, and the program brings its model";
constexpr std::string_view own_small_batch =
    "each learner has a small batch of its own, training.batch.local";
constexpr std::string_view draws_itself =
    "the program draws its batches itself, and may add up several before its step";
constexpr std::string_view takes_as_long =
    "its gradient takes as long, and has as much noise, for whatever part of a batch";

constexpr std::array conflicts = {
    Conflict{is_evaluated_after,
             "training.evaluate",
             {"training.target_accuracy", "null",
              "nobody knows the accuracy before the end; use evaluate: during"}},
    Conflict{is_external, "model.name", {"training.learners", "1", of_learners}},
    Conflict{is_external_with_average,
             "model.name",
             {"exchange.mode", "ako, local-sgd or local", of_learners}},
    Conflict{is_external_with_gradients,
             "model.name",
             {"exchange.mode", "ako, local-sgd or local",
              "this mode exchanges gradients, and the program's own optimizer gives updates"}},
    Conflict{is_external,
             "model.name",
             {"training.evaluate", "during", "only the program can evaluate its model"}},
    Conflict{is_external,
             "model.name",
             {"training.checkpoint_every", "0",
              "the optimizer's state is the program's: save it there, with the anchor"}},
    Conflict{is_external,
             "model.name",
             {"training.until", "null",
              "the program ends where it has saved what it goes on from"}},
    Conflict{is_external,
             "model.name",
             {"model.initial", "null", "the program brings its initial parameters"}},
    Conflict{is_external, "model.name", {"training.batch.accumulate", "1", draws_itself}},
    Conflict{is_external, "model.name", {"training.batch.schedule.kind", "constant", draws_itself}},
    Conflict{is_external, "model.name", {"training.batch.global_target", "none", draws_itself}},
    Conflict{is_synthetic, "model.name", {"training.batch.accumulate", "1", takes_as_long}},
    Conflict{is_synthetic,
             "model.name",
             {"training.batch.schedule.kind", "constant or steps", takes_as_long}},
    Conflict{is_synthetic,
             "model.name",
             {"data.sharding", "disjoint, shuffled or elastic",
              "this model learns from no data: leave data.sharding out"}},
    Conflict{
        wants_learners, "training.learners", {"training.threads", "1", "each learner is a thread"}},
    Conflict{wants_learners, "training.learners", {"training.optimizer", "sgd", own_small_batch}},
    Conflict{wants_learners,
             "training.learners",
             {"training.batch.global_target", "none", own_small_batch}},
    Conflict{wants_learners,
             "training.learners",
             {"training.batch.schedule.kind", "constant", own_small_batch}}};

/// Is `value` one of "constant or steps", "ako, local-sgd or local"?
bool is_one_of(const std::string& value, std::string_view allowed) {
    while (!allowed.empty()) {
        const std::size_t comma = std::min(allowed.find(", "), allowed.size());
        const std::size_t word = std::min(allowed.find(" or "), allowed.size());
        const std::size_t end = std::min(comma, word);
        if (allowed.substr(0, end) == value) return true;
        allowed.remove_prefix(std::min(end + (comma < word ? 2 : 4), allowed.size()));
    }
    return false;
}

/// "model: external": the shorthand where there is one.
std::string with_text(const Settings& settings, std::string_view path) {
    const std::string key(path == "model.name" ? "model" : path);
    return fmt::format("{}: {}", key, written_value(settings, std::string(path)));
}

class ConflictCheck {
  public:
    ConflictCheck(const ConfigValue& tree, const Settings& settings)
        : tree_(tree), settings_(settings) {}

    void check(const Exclusion& exclusion, const std::string& with) const {
        const std::string key(exclusion.key);
        const std::string found = written_value(settings_, key);
        if (!is_one_of(found, exclusion.allowed))
            complain(key, fmt::format("{} with {}", exclusion.allowed, with), found,
                     std::string(exclusion.why));
    }

    /// The number of a key is to be compared with others.
    void check(bool is_right, const std::string& key, const std::string& expected,
               const std::string& why = "") const {
        if (!is_right) complain(key, expected, written_value(settings_, key), why);
    }

    [[noreturn]] void complain(const std::string& key, const std::string& expected,
                               const std::string& found, const std::string& why = "") const {
        refuse(place_in(tree_, key), key, expected, found, why);
    }

  private:
    const ConfigValue& tree_;
    const Settings& settings_;
};

void check_tables(const ConflictCheck& checker, const Settings& settings) {
    for (const Conflict& conflict : conflicts)
        if (conflict.holds(settings))
            checker.check(conflict.exclusion, with_text(settings, conflict.with));
    const ModeEntry& mode = entry_of(settings.exchange);
    for (const Exclusion& exclusion : mode.exclusions)
        checker.check(exclusion, mode.with.empty() ? fmt::format("exchange.mode: {}", mode.word)
                                                   : std::string(mode.with));
}

void check_numbers(const ConflictCheck& checker, const Settings& settings) {
    const BatchSettings& batch = settings.training.batch;
    const ExchangeSettings& exchange = settings.exchange;
    const std::size_t peers = settings.peers.size();
    checker.check(batch.accumulate <= batch.local, "training.batch.accumulate",
                  fmt::format("at most local ({})", batch.local), "a part has one sample or more");
    checker.check(batch.global_target == 0 || batch.global_target >= peers,
                  "training.batch.global_target",
                  fmt::format("none or at least the {} peers of the file", peers),
                  "a peer has one sample or more");
    checker.check(exchange.life_timeout_ms > 2 * exchange.heartbeat_ms, "exchange.life_timeout_ms",
                  fmt::format("more than twice heartbeat_ms ({})", exchange.heartbeat_ms),
                  "one late heartbeat must not make a peer lost");
    checker.check(exchange.start_peers_min <= peers, "exchange.start_peers_min",
                  fmt::format("majority or at most the {} peers of the file", peers));
    const ModeEntry& mode = entry_of(exchange);
    checker.check(!(mode.runs_ahead && settings.training.paces_checkpoints()),
                  "training.checkpoint_every", "a number with exchange.rounds_ahead: 1",
                  "a checkpoint takes in the step that is under way, and is to do so after the "
                  "same rounds each time");
    const bool needs_all = mode.waits && peers > 1;
    checker.check(!needs_all || exchange.start_wait_s > 0, "exchange.start_wait_s",
                  "a number above 0 with this mode, which begins when all peers are there");
}

/// Servers of the file, and who else there must be.
void check_roles(const ConflictCheck& checker, const Settings& settings) {
    const ServerSettings& server = settings.exchange.server;
    const bool has_servers = entry_of(settings.exchange).has_servers;
    const bool dedicated = has_servers && server.placement == Placement::dedicated;
    const std::size_t peers = settings.peers.size();
    const auto servers = static_cast<std::size_t>(
        std::count_if(settings.peers.begin(), settings.peers.end(),
                      [](const PeerSettings& peer) { return peer.role == Role::server; }));
    if (servers > 0 && !dedicated)
        checker.complain(
            "peers", "no peer with role: server", fmt::format("{}", servers),
            "only exchange.mode: parameter-server with placement: dedicated has such peers");
    if (!has_servers) return;
    checker.check(!dedicated || servers == server.count, "exchange.servers",
                  fmt::format("as many as peers with role: server ({})", servers));
    if (dedicated && servers == peers)
        checker.complain("peers", "at least one worker", "servers only");
    checker.check(dedicated || server.count <= peers, "exchange.servers",
                  fmt::format("at most the {} peers of the file", peers));
}

/// The samples of each worker, where each has its own: the budget counts them, and must be the same
/// at all peers from the first round on, whoever is there.
void check_own_data(const ConfigValue& tree, const Settings& settings) {
    const bool own = settings.data.sharding == Sharding::own;
    for (std::size_t k = 0; k < settings.peers.size(); ++k) {
        const PeerSettings& peer = settings.peers[k];
        const bool wanted = own && peer.role == Role::worker;
        if (wanted == (peer.samples > 0)) continue;
        const std::string path = fmt::format("peers.{}.samples", k);
        if (wanted)
            refuse(place_in(tree, "data.sharding"), path,
                   "how many samples its training set has, with data.sharding: own", "nothing",
                   fmt::format("write {{name: {}, .., samples: 6000}}", peer.name));
        refuse(place_in(tree, "peers"), path, "nothing", fmt::to_string(peer.samples),
               peer.role == Role::server ? "a server trains on nothing"
                                         : "it counts with data.sharding: own only");
    }
}

}  // namespace

std::string place_in(const ConfigValue& tree, const std::string& path) {
    const ConfigValue* value = tree.at(path);
    return value != nullptr ? value->where : tree.where;
}

void refuse_conflicts(const ConfigValue& tree, const Settings& settings) {
    const ConflictCheck checker(tree, settings);
    check_tables(checker, settings);
    check_numbers(checker, settings);
    check_roles(checker, settings);
    check_own_data(tree, settings);
}

}  // namespace ako
