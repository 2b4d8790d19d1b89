// See scrape_file.h.
#include "src/commands/scrape_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "ako/error.h"
#include "src/commands/compose_services.h"
#include "src/config/field_types.h"
#include "src/system/whole_file.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<std::string> scrape_targets(const Settings& settings) {
    std::vector<std::string> targets;
    for (PeerIndex peer = 0; peer < settings.peers.size(); ++peer) {
        const auto port = observe_port(settings, peer, group_as_written);
        if (!port) continue;
        targets.push_back(fmt::format(
            "{}:{}", service_name(settings.peers[peer], group_as_written), *port));
    }
    return targets;
}

std::string scrape_text(const Settings& settings) {
    std::string text = fmt::format(
        "# Prometheus for the peers of run {} as containers. Written by `ako compose`, and not\n"
        "# again while this file is here.\n"
        "global:\n"
        "  scrape_interval: 1s  # a peer renews its figures once a second\n"
        "  evaluation_interval: 1s\n\n"
        "rule_files: [\"alerts*.yml\"]  # beside this file, where there are any\n\n"
        "scrape_configs:\n"
        "  - job_name: ako\n"
        "    static_configs:\n",
        settings.run);
    const std::vector<std::string> targets = scrape_targets(settings);
    for (std::size_t k = 0; k < targets.size(); ++k)
        text += fmt::format("      - {{targets: [{}], labels: {{instance: {}}}}}\n",
                            quote(targets[k]), quote(settings.peers[k].name));
    return text;
}

std::string provide_scrape_file(const std::string& path, const Settings& settings) {
    if (!fs::exists(path)) {
        std::error_code error;
        fs::create_directories(fs::path(path).parent_path(), error);
        if (error)
            throw StartupError(fmt::format("cannot make the folder of {}: {}", path,
                                           error.message()));
        write_whole_file(path, scrape_text(settings));
        return fmt::format("written, for its profile observe: {}", path);
    }
    const std::string there = whole_text(path);
    std::vector<std::string> missing = scrape_targets(settings);
    std::erase_if(missing, [&](const std::string& target) {
        return there.find(quote(target)) != std::string::npos;
    });
    if (missing.empty()) return fmt::format("left as it is, for its profile observe: {}", path);
    return fmt::format("left as it is: {}; it lacks {}. To have it written anew, remove it", path,
                       fmt::join(missing, ", "));
}

}  // namespace ako
