#include "src/system/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

namespace ako {
namespace {

constexpr uid_t root = 0;
constexpr const char* no_file = "it is a pipe, and no file";

/// The user who made the link; nothing if there is none.
std::optional<uid_t> maker_of_link(const std::string& path) {
    struct stat about {};
    if (lstat(path.c_str(), &about) != 0 || !S_ISLNK(about.st_mode)) return std::nullopt;
    return about.st_uid;
}

}  // namespace

Result<int> open_output(const std::string& path, int flags) {
    constexpr mode_t everyone_may = 0666;  // less what the umask takes away
    // Without O_NONBLOCK a pipe that nobody reads would be waited for without end.
    const int all = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags;
    int file = open(path.c_str(), all | O_NOFOLLOW, everyone_may);
    if (file < 0 && errno == ELOOP) {
        const std::optional<uid_t> maker = maker_of_link(path);
        if (maker && *maker != geteuid() && *maker != root)
            return fail(Error::Kind::io, "it is a link that user " + std::to_string(*maker) +
                                             " made, who may mean another file to be overwritten: "
                                             "remove it, or name another output folder");
        file = open(path.c_str(), all, everyone_may);
    }
    if (file < 0 && errno == ENXIO) return fail(Error::Kind::io, no_file);
    if (file < 0) return fail(Error::Kind::io, std::generic_category().message(errno));
    struct stat about {};
    if (fstat(file, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) {
        close(file);
        return fail(Error::Kind::io, no_file);
    }
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
}

int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {  // somebody else has made it so
            pollfd room{fd, POLLOUT, 0};
            poll(&room, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

}  // namespace ako
