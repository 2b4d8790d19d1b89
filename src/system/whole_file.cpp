#include "src/system/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "ako/error.h"
#include "src/system/output_file.h"

namespace ako {

namespace {

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Why it did not become one; nothing if it did.
std::optional<std::string> write_and_rename(const std::string& fresh, const std::string& path,
                                            std::string_view text) {
    const Result<int> file = open_output(fresh, O_TRUNC);
    if (!file) return file.error().what;
    bool done = write_all(*file, text);
    int error = errno;
    // Some file systems say only now that there is no room.
    if (close(*file) != 0 && std::exchange(done, false)) error = errno;
    if (done && std::rename(fresh.c_str(), path.c_str()) != 0) {
        done = false;
        error = errno;
    }
    return done ? std::nullopt : std::optional(std::generic_category().message(error));
}

}  // namespace

void write_whole_file(const std::string& path, const std::string& text) {
    const std::string fresh = path + ".new";
    const std::optional<std::string> why = write_and_rename(fresh, path, text);
    if (!why) return;
    unlink(fresh.c_str());  // half a file takes room that is short
    throw StartupError(path + ": cannot be written: " + *why,
                       "is the disk full, the folder writable?");
}

std::string whole_text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace ako
