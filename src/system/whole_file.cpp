#include "src/system/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "ako/error.h"

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

/// 0, or errno of what failed first.
int write_and_rename(const std::string& fresh, const std::string& path, std::string_view text) {
    constexpr mode_t everyone_may = 0666;  // less what the umask takes away
    const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone_may);
    if (fd < 0) return errno;
    const int not_written = write_all(fd, text) ? 0 : errno;
    // Some file systems say only now that there is no room.
    const int not_closed = close(fd) == 0 ? 0 : errno;
    if (not_written != 0) return not_written;
    if (not_closed != 0) return not_closed;
    return std::rename(fresh.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace

void write_whole_file(const std::string& path, const std::string& text) {
    const std::string fresh = path + ".new";
    const int error = write_and_rename(fresh, path, text);
    if (error == 0) return;
    unlink(fresh.c_str());  // half a file takes room that is short
    throw StartupError(path + ": cannot be written: " + std::generic_category().message(error),
                       "is the disk full, the folder writable?");
}

}  // namespace ako
