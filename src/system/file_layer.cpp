#include "src/system/file_layer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace ako {

namespace {

/// What the call that has just failed says.
tl::unexpected<Error> refused() {
    return fail(Error::Kind::io, std::generic_category().message(errno));
}

Result<void> checked(int status) {
    if (status != 0) return refused();
    return {};
}

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

/// All of it on the disk, and the file closed whatever happens.
Result<void> fill(FileLayer& files, int file, std::span<const std::span<const std::byte>> pieces) {
    Result<void> done;
    for (const std::span<const std::byte> piece : pieces)
        if (done) done = files.write(file, piece);
    if (done) done = files.sync(file);
    const Result<void> closed = files.close(file);
    return done ? closed : done;
}

}  // namespace

Result<int> SystemFiles::create(const std::string& path) {
    constexpr mode_t everyone_may = 0666;  // less what the umask takes away
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone_may);
    if (file < 0) return refused();
    return file;
}

Result<void> SystemFiles::write(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return refused();
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> SystemFiles::sync(int file) { return checked(::fsync(file)); }

Result<void> SystemFiles::close(int file) { return checked(::close(file)); }

Result<void> SystemFiles::rename(const std::string& from, const std::string& to) {
    return checked(std::rename(from.c_str(), to.c_str()));
}

void SystemFiles::sync_folder(const std::string& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    ::fsync(file);
    ::close(file);
}

void SystemFiles::remove(const std::string& path) { ::unlink(path.c_str()); }

Result<void> write_durable_file(FileLayer& files, const std::string& path,
                                const std::string& unfinished,
                                std::span<const std::span<const std::byte>> pieces) {
    const Result<int> file = files.create(unfinished);
    if (!file) return tl::make_unexpected(file.error());
    Result<void> done = fill(files, *file, pieces);
    if (done) done = files.rename(unfinished, path);
    if (!done) {
        files.remove(unfinished);
        return done;
    }
    files.sync_folder(folder_of(path));
    return {};
}

}  // namespace ako
