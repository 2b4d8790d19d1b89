#include "src/commands/compose_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/config/field_types.h"
#include "src/config/peer_list.h"
#include "src/results/run_folder.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// The port of every peer; each has an address of its own.
constexpr unsigned peer_port = 7701;
/// How often the engine starts a container again whose peer has died: more than accidents of one
/// run, and few enough for one that dies at its start each time.
constexpr unsigned restarts_max = 5;
// Where things lie in a container; deploy/Dockerfile makes the folder for results.
constexpr const char* cluster_file_there = "/ako/cluster.yaml";
constexpr const char* results_there = "/results";

/// A file or folder that the cluster file names, and where it lies in a container.
struct Mount {
    const char* key;
    std::string here;
    const char* there;
};

/// One line for every key that names a path, but for `output`.
std::vector<Mount> mounts_of(const Settings& settings) {
    std::vector<Mount> mounts = {
        {"data.path", settings.data.path, "/ako/data"},
        {"cluster_key_file", settings.cluster_key_file, "/ako/cluster.key"},
        {"model.initial", settings.model.initial, "/ako/initial.safetensors"}};
    std::erase_if(mounts, [](const Mount& mount) { return mount.here.empty(); });
    return mounts;
}

/// A text of a Compose file: quoted, and safe from the substitution of variables.
std::string compose_text(const std::string& text) {
    std::string safe;
    for (const char letter : text) safe += letter == '$' ? "$$" : std::string(1, letter);
    return quote(safe);
}

/// The service of a peer, which is its host name too: one that begins with a digit would be read
/// as an address.
std::string service_name(const PeerSettings& peer) {
    const bool letter = std::isalpha(static_cast<unsigned char>(peer.name.front())) != 0;
    return letter && peer.name != "localhost" ? peer.name : "peer-" + peer.name;
}

/// Names are looked up without regard to case, so two services must not differ in it alone.
void check_services(const Settings& settings) {
    std::map<std::string, std::string> seen;
    for (const PeerSettings& peer : settings.peers) {
        std::string key = service_name(peer);
        std::transform(key.begin(), key.end(), key.begin(),
                       [](unsigned char letter) { return std::tolower(letter); });
        const auto [other, fresh] = seen.emplace(key, peer.name);
        if (!fresh)
            throw StartupError(fmt::format("{}: peers {} and {} would be one host name, {}",
                                           settings.file, other->second, peer.name, key),
                               "give them names that differ in more than case");
    }
}

/// Can the peers reach one another at the file's own addresses? Only where each is the name of its
/// service, and the peer listens there or everywhere.
bool addresses_fit(const Settings& settings) {
    return std::all_of(settings.peers.begin(), settings.peers.end(), [&](const PeerSettings& peer) {
        const std::string listen = split_address(peer.listen, settings.file, "peers").host;
        return split_address(peer.address, settings.file, "peers").host == service_name(peer) &&
               (listen == "0.0.0.0" || listen == "::" || listen == service_name(peer));
    });
}

/// Can a peer that died come back? In the other modes the run is over, or the others refuse it; and
/// one that is alone has nobody to take its row from.
bool may_come_back(const Settings& settings) {
    return settings.exchange.mode == Mode::ako && settings.peers.size() > 1;
}

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

/// One Compose file while it is written.
class ComposeText {
  public:
    ComposeText(const Settings& settings, const ComposeOptions& options)
        : settings_(settings),
          options_(options),
          folder_(options.output.empty() ? fs::current_path()
                                         : absolute(options.output).parent_path()),
          mounts_(mounts_of(settings)),
          fits_(addresses_fit(settings)) {}

    std::string text() const {
        return head() + (fits_ ? "" : peer_list()) + shared_part() + services() +
               "\nvolumes:\n  results: {}\n";
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
        text += fits_ ? ".\n"
                      : ",\n# and its addresses, which do not lead from one container to another, "
                        "by the\n# names of the services.\n";
        return text + "\n";
    }

    std::string peer_list() const {
        std::string text = "x-peer-list: &peer-list >-\n  peers=[";
        const char* comma = "";
        for (const PeerSettings& peer : settings_.peers) {
            text +=
                fmt::format("{}\n  {{name: \"{}\", address: \"{}:{}\", listen: \"0.0.0.0:{}\"}}",
                            comma, peer.name, service_name(peer), peer_port, peer_port);
            comma = ",";
        }
        return text + "]\n\n";
    }

    std::string mount(const std::string& source, const char* target) const {
        return fmt::format("    - {{type: bind, source: {}, target: {}, read_only: true}}\n",
                           compose_text(path_from(folder_, source)), target);
    }

    std::string shared_part() const {
        std::string text =
            fmt::format("x-peer: &peer\n  image: {}\n", compose_text(options_.image));
        if (!options_.repository.empty())
            text += fmt::format(
                "  build: {{context: {}, dockerfile: deploy/Dockerfile}}\n",
                compose_text(path_from(folder_, absolute(options_.repository).string())));
        if (may_come_back(settings_))
            text +=
                "  # A peer that died takes its row from the others and goes on. The engine\n"
                "  # starts again whatever does not exit 0: with --exit-zero a peer that ended by\n"
                "  # itself does, whatever it came to, which stands in its log and its result.\n" +
                fmt::format("  restart: \"on-failure:{}\"\n", restarts_max);
        text += "  stop_grace_period: 60s  # who is stopped brings what it learned to the others\n";
        text += "  volumes:\n" + mount(absolute(options_.file).string(), cluster_file_there);
        for (const Mount& other : mounts_) text += mount(other.here, other.there);
        return text +
               fmt::format("    - {{type: volume, source: results, target: {}}}\n", results_there);
    }

    std::string services() const {
        std::string text = "\nservices:\n";
        for (const PeerSettings& peer : settings_.peers) {
            text += fmt::format("  {}:\n    <<: *peer\n    command: [train, {}, --peer, \"{}\"{}",
                                quote(service_name(peer)), cluster_file_there, peer.name,
                                may_come_back(settings_) ? ", --exit-zero" : "");
            const auto set = [&text](const std::string& key_and_value) {
                text += ",\n      --set, " + key_and_value;
            };
            for (const std::string& override_text : options_.overrides)
                set(compose_text(override_text));
            if (!fits_) set("*peer-list");
            for (const Mount& mount : mounts_) set(fmt::format("{}={}", mount.key, mount.there));
            set(fmt::format("output={}/{}", results_there, peer.name));
            text += "]\n";
        }
        return text;
    }

    const Settings& settings_;
    const ComposeOptions& options_;
    const fs::path folder_;
    const std::vector<Mount> mounts_;
    const bool fits_;
};

}  // namespace

ExitStatus compose(const ComposeOptions& options) {
    const Settings settings = read_cluster_file(options.file, options.overrides);
    check_services(settings);
    const std::string text = ComposeText(settings, options).text();
    if (options.output.empty()) {
        fmt::print("{}", text);
        return exit_ok;
    }
    write_whole_file(options.output, text);
    fmt::print("written; to start it: docker-compose -f {} up\n", options.output);
    return exit_ok;
}

}  // namespace ako
