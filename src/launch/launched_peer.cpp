#include "src/launch/launched_peer.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdlib>

#include "ako/error.h"

namespace ako {
namespace {

constexpr const char* file_variable = "AKO_LAUNCH_FILE";
constexpr const char* peer_variable = "AKO_PEER";  // programs may read it, too
constexpr const char* folder_variable = "AKO_LAUNCH_FOLDER";
constexpr const char* report_variable = "AKO_LAUNCH_REPORT_FD";
constexpr const char* restarted_variable = "AKO_LAUNCH_RESTARTED";

std::string taken(const char* name) {
    // NOLINTBEGIN(concurrency-mt-unsafe): before other threads, as the header says
    const char* const value = std::getenv(name);
    std::string text = value == nullptr ? "" : value;
    unsetenv(name);
    // NOLINTEND(concurrency-mt-unsafe)
    return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environment_of(const LaunchedPeer& launched) {
    return {{file_variable, launched.file},
            {peer_variable, launched.peer},
            {folder_variable, launched.output_dir},
            {report_variable, std::to_string(launched.report_fd)},
            {restarted_variable, launched.restarted ? "1" : "0"}};
}

std::optional<LaunchedPeer> take_launched_peer() {
    // NOLINTBEGIN(concurrency-mt-unsafe): before other threads, as the header says
    if (std::getenv(file_variable) == nullptr) return std::nullopt;
    const char* const peer = std::getenv(peer_variable);
    // NOLINTEND(concurrency-mt-unsafe)
    LaunchedPeer launched;
    launched.peer = peer == nullptr ? "" : peer;
    launched.file = taken(file_variable);
    launched.output_dir = taken(folder_variable);
    launched.restarted = taken(restarted_variable) == "1";
    const std::string fd = taken(report_variable);
    const auto [end, error] = std::from_chars(fd.data(), fd.data() + fd.size(), launched.report_fd);
    struct stat found {};
    const bool is_pipe = fstat(launched.report_fd, &found) == 0 && S_ISFIFO(found.st_mode);
    if (error == std::errc() && !is_pipe)
        throw StartupError(
            "the pipe to `ako launch` is closed: the program was not started by it "
            "directly",
            "let what starts the program become it (exec), or pass on descriptor " + fd);
    if (error != std::errc() || end != fd.data() + fd.size() || launched.peer.empty() ||
        launched.output_dir.empty())
        throw StartupError("the environment of `ako launch` is not whole (AKO_LAUNCH_.., AKO_PEER)",
                           "do not set these variables: start the program by `ako launch`");
    return launched;
}

}  // namespace ako
