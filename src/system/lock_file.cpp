#include "src/system/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace ako {

LockFile::LockFile(const std::string& file) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
    // A link there could be anybody's: folders for locks are open to all.
    fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ < 0) {
        why_ = std::generic_category().message(errno);
        return;
    }
    state_ = flock(fd_, LOCK_EX | LOCK_NB) == 0 ? State::held : State::taken;
}

LockFile::~LockFile() {
    if (fd_ >= 0) close(fd_);
}

}  // namespace ako
