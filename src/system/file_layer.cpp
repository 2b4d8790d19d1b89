#include "src/system/file_layer.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>
#include <vector>

#include "src/system/output_file.h"

namespace ako {

namespace {

constexpr std::size_t copied_at_once = std::size_t{1} << 20;

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

/// Writes to a file of this number.
using Fill = std::function<Result<void>(int file)>;

/// All of it on the disk, and the file closed whatever happens.
Result<void> fill_and_sync(FileLayer& files, int file, const Fill& fill) {
    Result<void> done = fill(file);
    if (done) done = files.sync(file);
    const Result<void> closed = files.close(file);
    return done ? closed : done;
}

/// All of it on the disk under the name `unfinished`, and then `path`; without that of its folder.
Result<void> put(FileLayer& files, const std::string& path, const std::string& unfinished,
                 const Fill& fill) {
    const Result<int> file = files.create(unfinished);
    if (!file) return tl::make_unexpected(file.error());
    Result<void> done = fill_and_sync(files, *file, fill);
    if (done) done = files.rename(unfinished, path);
    if (!done) files.remove(unfinished);
    return done;
}

}  // namespace

Result<int> SystemFiles::create(const std::string& path) { return open_output(path, O_TRUNC); }

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

Result<void> SystemFiles::link(const std::string& from, const std::string& to) {
    return checked(::link(from.c_str(), to.c_str()));
}

Result<void> SystemFiles::sync_folder(const std::string& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = file >= 0 && ::fsync(file) == 0;
    const bool cannot =
        errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || (file < 0 && errno == EACCES);
    Result<void> done;
    if (!synced && !cannot) done = refused();
    if (file >= 0) ::close(file);
    return done;
}

void SystemFiles::remove(const std::string& path) { ::unlink(path.c_str()); }

std::optional<std::uint64_t> SystemFiles::room_in(const std::string& folder) {
    struct statvfs found {};
    // Some file systems, as of networks, do not count blocks.
    if (::statvfs(folder.c_str(), &found) != 0 || found.f_blocks == 0) return std::nullopt;
    return std::uint64_t{found.f_bavail} * found.f_frsize;
}

Result<void> write_durable_file(FileLayer& files, const std::string& path,
                                const std::string& unfinished,
                                std::span<const std::span<const std::byte>> pieces) {
    const auto fill = [&](int file) {
        Result<void> done;
        for (const std::span<const std::byte> piece : pieces)
            if (done) done = files.write(file, piece);
        return done;
    };
    if (Result<void> done = put(files, path, unfinished, fill); !done) return done;
    return files.sync_folder(folder_of(path));
}

Result<void> copy_durable_file(FileLayer& files, const std::string& from, const std::string& path,
                               const std::string& unfinished) {
    std::ifstream in(from, std::ios::binary);
    if (!in) return refused();
    return put(files, path, unfinished, [&](int file) {
        std::vector<char> some(copied_at_once);
        Result<void> done;
        while (done && in) {
            in.read(some.data(), static_cast<std::streamsize>(some.size()));
            const auto count = static_cast<std::size_t>(in.gcount());
            done = files.write(file, std::as_bytes(std::span(some).first(count)));
        }
        if (done && !in.eof()) return Result<void>(fail(Error::Kind::io, from + ": not read"));
        return done;
    });
}

}  // namespace ako
