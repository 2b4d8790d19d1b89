// This machine's files, and what was asked of them, for tests of what outlives a loss of power.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/system/file_layer.h"

namespace ako::test {

class WatchedFiles final : public FileLayer {
  public:
    Result<int> create(const std::string& path) override {
        created = path;
        return files_.create(path);
    }
    Result<void> write(int file, std::span<const std::byte> bytes) override {
        return files_.write(file, bytes);
    }
    Result<void> sync(int file) override {
        calls.push_back("sync " + created);
        if (room_when_synced) room = room_when_synced;
        return files_.sync(file);
    }
    Result<void> close(int file) override { return files_.close(file); }
    Result<void> rename(const std::string& from, const std::string& to) override {
        calls.push_back("rename " + to);
        return files_.rename(from, to);
    }
    Result<void> link(const std::string& from, const std::string& to) override {
        if (!links) return fail(Error::Kind::io, "Operation not permitted");
        return files_.link(from, to);
    }
    Result<void> sync_folder(const std::string& folder) override {
        calls.push_back("names " + folder);
        if (!syncs_folders) return fail(Error::Kind::io, "Input/output error");
        return files_.sync_folder(folder);
    }
    void remove(const std::string& path) override { files_.remove(path); }
    std::optional<std::uint64_t> room_in(const std::string&) override { return room; }

    std::optional<std::uint64_t> room;  ///< unknown, unless a test says
    std::optional<std::uint64_t> room_when_synced;
    bool links = true;
    bool syncs_folders = true;
    std::string created;
    std::vector<std::string> calls;  ///< in order

  private:
    SystemFiles files_;
};

}  // namespace ako::test
