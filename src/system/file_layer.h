// The file layer: the calls of the system that a file needs which is to outlive a loss of power.
// Behind an interface, so that a test can take the power away between any two of them and in the
// middle of one. Any thread, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ako/error.h"

namespace ako {

class FileLayer {
  public:
    virtual ~FileLayer() = default;

    /// Makes the file, or empties it; a number for the next three.
    virtual Result<int> create(const std::string& path) = 0;
    /// All of `bytes`, behind what was written before.
    virtual Result<void> write(int file, std::span<const std::byte> bytes) = 0;
    /// What was written is on the disk when this returns.
    virtual Result<void> sync(int file) = 0;
    /// Also after an error. Some file systems say only now that there is no room.
    virtual Result<void> close(int file) = 0;

    /// Replaces what was there before, at once.
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
    /// A second name for a file; not every file system has them.
    virtual Result<void> link(const std::string& from, const std::string& to) = 0;
    /// The names in the folder are on the disk when this returns. That a file system has no such
    /// call, or that this process may not look into the folder, is no error.
    virtual Result<void> sync_folder(const std::string& folder) = 0;
    /// Nothing if there is no such file.
    virtual void remove(const std::string& path) = 0;
    /// Bytes that this user may still write where the folder lies; nothing where that is unknown.
    virtual std::optional<std::uint64_t> room_in(const std::string& folder) = 0;
};

/// That of this machine. Errors say why in words ("No space left on device").
class SystemFiles final : public FileLayer {
  public:
    Result<int> create(const std::string& path) override;
    Result<void> write(int file, std::span<const std::byte> bytes) override;
    Result<void> sync(int file) override;
    Result<void> close(int file) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<void> link(const std::string& from, const std::string& to) override;
    Result<void> sync_folder(const std::string& folder) override;
    void remove(const std::string& path) override;
    std::optional<std::uint64_t> room_in(const std::string& folder) override;
};

/// Writes the pieces one after the other to the file `unfinished`, which becomes `path` when it is
/// whole and on the disk, in place of what was there; both lie in one folder. After an error what
/// was there stays, and no half of a file takes up room that is short; but if only the folder could
/// not be synced, the file is there, and may be gone after a loss of power.
Result<void> write_durable_file(FileLayer& files, const std::string& path,
                                const std::string& unfinished,
                                std::span<const std::span<const std::byte>> pieces);

/// The same with what is in another file. The folder is not synced.
Result<void> copy_durable_file(FileLayer& files, const std::string& from, const std::string& path,
                               const std::string& unfinished);

}  // namespace ako
