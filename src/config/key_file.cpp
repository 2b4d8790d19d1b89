#include "src/config/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "ako/error.h"

namespace ako {

namespace {

[[noreturn]] void refuse_key(const std::string& path, const std::string& what,
                             const std::string& hint) {
    throw StartupError(fmt::format("cluster_key_file: {}: {}", path, what), hint);
}

std::string how_to_make(const std::string& path) {
    return fmt::format(
        "make a key with `openssl rand -hex 32 > {0} && chmod 600 {0}` and copy it "
        "to every peer",
        path);
}

/// Closes what it was opened as.
struct Descriptor {
    int fd;
    ~Descriptor() {
        if (fd >= 0) close(fd);
    }
};

/// Refuses what is no plain file, and one that others may use; asks `fd`, for a name may change.
void check_kind_and_mode(int fd, const std::string& path) {
    struct stat found {};
    if (fstat(fd, &found) != 0) refuse_key(path, std::generic_category().message(errno), "");
    if (!S_ISREG(found.st_mode)) refuse_key(path, "this is no file", how_to_make(path));
    if ((found.st_mode & S_IRWXO) != 0)
        refuse_key(path,
                   fmt::format("every user of this machine may use it (mode {:04o})",
                               found.st_mode & 07777U),
                   fmt::format("chmod 600 {}; and make a new key if others had this one", path));
    // Its owner is not asked for: another user that reads it is root, or of the group to which the
    // owner gave it (the user of a container's image).
    if ((found.st_mode & S_IWGRP) != 0)
        refuse_key(path,
                   fmt::format("every user of its group may replace the key (mode {:04o})",
                               found.st_mode & 07777U),
                   fmt::format("chmod g-w {}", path));
}

}  // namespace

std::string read_key_file(const std::string& path) {
    // Without O_NONBLOCK a pipe of this name would keep us waiting.
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (const int error = errno; file.fd < 0)
        refuse_key(path, "cannot be read: " + std::generic_category().message(error),
                   error == EACCES ? "the user that Ako runs as must own it, or be of its group "
                                     "and chmod 640"
                                   : how_to_make(path));
    check_kind_and_mode(file.fd, path);
    std::string secret;
    std::array<char, key_bytes_max + 1> piece;
    ssize_t count = 0;
    while (secret.size() <= key_bytes_max &&
           (count = read(file.fd, piece.data(), piece.size())) > 0)
        secret.append(piece.data(), static_cast<std::size_t>(count));
    if (count < 0)
        refuse_key(path, "cannot be read: " + std::generic_category().message(errno), "");
    if (secret.size() > key_bytes_max)
        refuse_key(path, fmt::format("more than {} bytes are no key", key_bytes_max),
                   how_to_make(path));
    secret.erase(secret.find_last_not_of(" \t\r\n") + 1);
    if (secret.size() < key_bytes_min)
        refuse_key(path,
                   fmt::format("{} bytes are too few for a key, {} at least", secret.size(),
                               key_bytes_min),
                   how_to_make(path));
    return secret;
}

}  // namespace ako
