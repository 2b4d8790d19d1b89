// See compose_file.h.
#include "src/commands/compose_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "ako/mode_table.h"
#include "src/config/field_types.h"
#include "src/config/peer_list.h"
#include "src/engines/containers.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

/// In Compose's words: who does not answer three times in a row is unhealthy, and a peer that reads
/// its data is not yet. A check costs a process that lives for some hundredths of a second.
constexpr const char* health_times = "{interval: 10s, timeout: 5s, retries: 3, start_period: 30s}";
bool is_limited(const PeerGroup& group) { return group.profile == group_limits.profile; }
bool is_baseline(const PeerGroup& group) { return group.profile == group_baseline.profile; }

/// `path` as the Compose file says it: relative to its folder where both lie in one tree, so that
/// the tree may be moved or cloned elsewhere.
std::string path_from(const fs::path& folder, const fs::path& path) {
    const fs::path relative = path.lexically_relative(folder);
    const auto depth = [](const fs::path& of) { return std::distance(of.begin(), of.end()) - 1; };
    const auto up = std::count(relative.begin(), relative.end(), fs::path(".."));
    if (relative.empty() || (up > 0 && up >= depth(folder))) return path.string();
    return up > 0 || relative == "." ? relative.string() : "./" + relative.string();
}

fs::path absolute(const std::string& path) {
    fs::path whole = (fs::current_path() / path).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
}

/// All servers share the parameters, which is the fastest where every machine trains; unless the
/// file says how many do.
std::vector<std::string> server_overrides(const Settings& settings) {
    if (entry_of(settings.exchange).has_servers || settings.places.has("exchange.servers"))
        return {};
    return {fmt::format("exchange.servers={}", settings.peers.size())};
}

/// One Compose file while it is written.
class ComposeText {
  public:
    ComposeText(const Settings& settings, const ComposeOptions& options,
                const std::vector<PeerGroup>& groups, const std::string& no_baseline)
        : settings_(settings),
          options_(options),
          groups_(groups),
          no_baseline_(no_baseline),
          folder_(compose_folder(options)),
          mounts_(mounts_of(settings)),
          fits_(addresses_fit(settings)),
          observed_(!settings.observe.address.empty()) {}

    std::string text() const {
        std::string text = head() + profiles_told() + "\n";
        for (const PeerGroup& group : groups_)
            if (has_peer_list(group)) text += peer_list(group);
        text += shared_part();
        for (const PeerGroup& group : groups_)
            if (!group.profile.empty()) text += shared_by(group);
        text += "\nservices:\n";
        for (const PeerGroup& group : groups_) text += services(group);
        if (observed_) text += prometheus();
        return text + "\nvolumes:\n  results: {}\n";
    }

  private:
    std::string head() const {
        std::string text = fmt::format(
            "# The {} peers of run {} as containers. Written by `ako compose`.\n"
            "#   docker-compose -f THIS-FILE up      or, with Compose v2: docker compose ...\n",
            settings_.peers.size(), settings_.run);
        if (options_.repository.empty())
            text += fmt::format(
                "# The image: docker build -t {} -f deploy/Dockerfile . in Ako's repository.\n",
                options_.image);
        if (!settings_.cluster_key_file.empty())
            text +=
                "# The image's user, 10001, must be able to read the key, and nobody else:\n"
                "#   chgrp 10001 KEY && chmod 640 KEY\n";
        text +=
            "# Peers may be started in any order; each waits for the others, at most\n"
            "# exchange.start_wait_s of the cluster file. To have the results of a peer:\n"
            "#   docker cp \"$(docker-compose -f THIS-FILE ps -aq SERVICE)\":/results .\n"
            "# Every container has the same cluster file, read-only. Its folders, which are of\n"
            "# this machine, are replaced on the command lines by what is mounted";
        return text + (fits_ ? ".\n"
                             : ",\n# and its addresses, which do not lead from one container to "
                               "another, by the\n# names of the services.\n");
    }

    /// Where peers are seen, and what else there is to be started.
    std::string profiles_told() const {
        const auto seen = [this](const PeerGroup& group) {
            const auto port = observe_port(settings_, 0, group);
            return port ? fmt::format("; http://127.0.0.1:{}/", *port) : std::string();
        };
        const auto name = [this](const PeerGroup& group) {
            return service_name(settings_.peers.front(), group);
        };
        std::string text;
        if (observed_)
            text += fmt::format(
                "# The first peer is seen at http://127.0.0.1:{}/, the next at the next port.\n",
                *observe_port(settings_, 0, group_as_written));
        text += "#\n# Started by their names alone, or with --profile:\n";
        for (const PeerGroup& group : groups_) {
            if (is_baseline(group))
                text += fmt::format(
                    "#   baseline: {} and so on, the same peers on a parameter server{}\n",
                    name(group), seen(group));
            if (is_limited(group))
                text += fmt::format(
                    "#   limits: {} and so on, each with a quarter of a processor and AKO_MBIT\n"
                    "#     (50) Mbit/s to send, in the mode AKO_MODE ({}){}\n",
                    name(group), entry_of(settings_.exchange).word, seen(group));
        }
        if (observed_)
            text += fmt::format(
                "#   observe: {}, of the peers without a profile; http://127.0.0.1:9090/, or at\n"
                "#     the port AKO_PROMETHEUS_PORT\n",
                prometheus_service);
        if (!no_baseline_.empty())
            text += fmt::format("# There is no profile baseline: {}.\n", no_baseline_);
        return text;
    }

    bool has_peer_list(const PeerGroup& group) const { return !group.profile.empty() || !fits_; }

    static std::string peer_list_name(const PeerGroup& group) {
        return group.profile.empty() ? "peer-list" : "peer-list-" + group.profile;
    }

    std::string peer_list(const PeerGroup& group) const {
        const std::string name = peer_list_name(group);
        std::string text = fmt::format("x-{}: &{} >-\n  peers=[", name, name);
        const char* comma = "";
        for (const PeerSettings& peer : settings_.peers) {
            text +=
                fmt::format("{}\n  {{name: \"{}\", address: \"{}:{}\", listen: \"0.0.0.0:{}\"{}}}",
                            comma, peer.name, service_name(peer, group), container_port,
                            container_port,
                            peer.role == Role::server ? ", role: server" : "");
            comma = ",";
        }
        return text + "]\n\n";
    }

    std::string mount(const std::string& source, const char* target) const {
        return fmt::format("    - {{type: bind, source: {}, target: {}, read_only: true}}\n",
                           safe_text(path_from(folder_, source)), target);
    }

    std::string shared_part() const {
        std::string text = fmt::format("x-peer: &peer\n  image: {}\n", safe_text(options_.image));
        if (!options_.repository.empty())
            text +=
                fmt::format("  build: {{context: {}, dockerfile: deploy/Dockerfile}}\n",
                            safe_text(path_from(folder_, absolute(options_.repository).string())));
        if (may_come_back(settings_))
            text +=
                "  # A peer that died takes its row from the others and goes on. The engine\n"
                "  # starts again whatever does not exit 0: with --exit-zero a peer that ended by\n"
                "  # itself does, whatever it came to, which stands in its log and its result.\n" +
                fmt::format("  restart: \"on-failure:{}\"\n", container_restarts_max);
        text += "  stop_grace_period: 60s  # who is stopped brings what it learned to the others\n";
        text += "  volumes:\n" + mount(absolute(options_.file).string(), cluster_file_there);
        for (const Mount& other : mounts_) text += mount(other.here, other.there);
        text += fmt::format("    - {{type: volume, source: results, target: {}}}\n", results_there);
        if (observed_)
            text += fmt::format(
                "\n# Healthy is who answers, and has moved within the last minute.\n"
                "x-health: &health {}\n",
                health_times);
        return text;
    }

    std::string shared_by(const PeerGroup& group) const {
        std::string text = fmt::format("\nx-{}: &{}\n  <<: *peer\n  profiles: [{}]\n",
                                       group.profile, group.profile, group.profile);
        if (is_baseline(group) && may_come_back(settings_))
            text += "  restart: \"no\"  # nobody takes up the work of a parameter server\n";
        if (is_limited(group) && may_come_back(settings_))
            text += "  restart: \"no\"  # AKO_MODE may name one in which nobody can come back\n";
        if (is_limited(group))
            text +=
                "  # A quarter of a processor, given every 10 ms: `cpus` gives a share of every\n"
                "  # 100 ms, and whoever has used it sends nothing until they are over.\n"
                "  cpu_period: 10000\n"
                "  cpu_quota: 2500\n";
        return text;
    }

    std::string services(const PeerGroup& group) const {
        std::string text;
        for (PeerIndex peer = 0; peer < settings_.peers.size(); ++peer)
            text += service(peer, group);
        return text;
    }

    std::string service(PeerIndex index, const PeerGroup& group) const {
        const PeerSettings& peer = settings_.peers[index];
        const std::string name = service_name(peer, group);
        std::string text = fmt::format("  {}:\n    <<: *{}\n", quote(name),
                                       group.profile.empty() ? "peer" : group.profile);
        if (const auto port = observe_port(settings_, index, group))
            text += fmt::format(
                "    ports: [\"127.0.0.1:{}:{}\"]\n"
                "    healthcheck: {{<<: *health, test: "
                "[CMD, ako, status, --health, \"127.0.0.1:{}\"]}}\n",
                *port, *port, *port);
        const bool exits_zero = may_come_back(settings_) && group.profile.empty();
        text += fmt::format("    command: [train, {}, --peer, \"{}\"{}", cluster_file_there,
                            peer.name, exits_zero ? ", --exit-zero" : "");
        for (const std::string& value : settings_of(peer, group))
            text += ",\n      --set, " + value;
        return text + "]\n";
    }

    /// What --set says of a service, as it stands in the file. What comes later counts.
    std::vector<std::string> settings_of(const PeerSettings& peer, const PeerGroup& group) const {
        std::vector<std::string> values;
        for (const std::string& said : options_.overrides) values.push_back(safe_text(said));
        if (is_baseline(group))
            for (const std::string& said : baseline_overrides(settings_)) values.push_back(said);
        if (is_limited(group)) {
            for (const std::string& said : server_overrides(settings_)) values.push_back(said);
            values.push_back(fmt::format("\"exchange.mode=${{AKO_MODE:-{}}}\"",
                                         entry_of(settings_.exchange).word));
            values.emplace_back("\"exchange.egress_mbit_max=${AKO_MBIT:-50}\"");
        }
        if (has_peer_list(group)) values.push_back("*" + peer_list_name(group));
        for (const Mount& mount : mounts_)
            values.push_back(fmt::format("{}={}", mount.key, mount.there));
        if (const auto port = observe_port(settings_, 0, group)) {
            const std::string address = fmt::format("0.0.0.0:{}", *port);
            if (address != settings_.observe.address)
                values.push_back(fmt::format("\"observe.address={}\"", address));
        }
        values.push_back(
            fmt::format("output={}/{}", results_there,
                        group.profile.empty() ? peer.name : service_name(peer, group)));
        return values;
    }

    std::string prometheus() const {
        std::string text = fmt::format("  {}:\n    profiles: [observe]\n", prometheus_service);
        if (options_.repository.empty()) {
            text += "    image: \"${AKO_PROMETHEUS_IMAGE:-prom/prometheus}\"\n";
        } else {
            const fs::path here = absolute(options_.repository) / "deploy" / "observe";
            text += fmt::format("    image: \"ako-prometheus\"\n    build: {{context: {}}}\n",
                                safe_text(path_from(folder_, here)));
        }
        text += "    ports: [\"127.0.0.1:${AKO_PROMETHEUS_PORT:-9090}:9090\"]\n    volumes:\n";
        return text + "  " + mount((folder_ / scrape_folder).string(), "/etc/prometheus");
    }

    const Settings& settings_;
    const ComposeOptions& options_;
    const std::vector<PeerGroup>& groups_;
    const std::string& no_baseline_;
    const fs::path folder_;
    const std::vector<Mount> mounts_;
    const bool fits_;
    const bool observed_;
};

}  // namespace

fs::path compose_folder(const ComposeOptions& options) {
    return options.output.empty() ? fs::current_path() : absolute(options.output).parent_path();
}

std::vector<std::string> baseline_overrides(const Settings& settings) {
    std::vector<std::string> overrides = server_overrides(settings);
    overrides.emplace_back("exchange.mode=parameter-server");
    return overrides;
}

std::string compose_text(const Settings& settings, const ComposeOptions& options,
                         const std::vector<PeerGroup>& groups, const std::string& no_baseline) {
    return ComposeText(settings, options, groups, no_baseline).text();
}

}  // namespace ako
