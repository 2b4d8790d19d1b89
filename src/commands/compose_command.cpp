#include "src/commands/compose_command.h"

#include <fmt/format.h>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "ako/printable.h"
#include "src/commands/compose_file.h"
#include "src/commands/compose_services.h"
#include "src/commands/scrape_file.h"
#include "src/config/cluster_file.h"
#include "src/system/whole_file.h"

namespace ako {
namespace {

/// Why these peers cannot be trained on a parameter server; empty: they can.
std::string why_no_baseline(const ComposeOptions& options, const Settings& settings) {
    if (entry_of(settings.exchange).has_servers)
        return "the peers train on a parameter server anyway";
    std::vector<std::string> overrides = options.overrides;
    for (const std::string& own : baseline_overrides(settings)) overrides.push_back(own);
    try {
        (void)read_cluster_file(options.file, overrides);
    } catch (const StartupError& refused) {
        return printable(refused.what());  // without line ends, for it stands in a comment
    }
    return "";
}

}  // namespace

ExitStatus compose(const ComposeOptions& options) {
    const Settings settings = read_cluster_file(options.file, options.overrides);
    std::vector<PeerGroup> groups = {group_as_written};
    const std::string no_baseline = why_no_baseline(options, settings);
    if (no_baseline.empty()) groups.push_back(group_baseline);
    groups.push_back(group_limits);
    check_services(settings, groups);
    const std::string text = compose_text(settings, options, groups, no_baseline);
    if (options.output.empty()) {
        fmt::print("{}", text);
        return exit_ok;
    }
    write_whole_file(options.output, text);
    fmt::print("written; to start it: docker-compose -f {} up\n", options.output);
    if (!settings.observe.address.empty()) {
        const auto path = compose_folder(options) / scrape_folder / "prometheus.yml";
        fmt::print("{}\n", provide_scrape_file(path.string(), settings));
    }
    return exit_ok;
}

}  // namespace ako
