// A disk that loses what was not synced when the power goes. Every call may be the last: the power
// goes before the call that is counted down to, and in the middle of it if that is a write.
//
// What a file system promises, and no more: of what was written to a file since its last sync
// anything may be lost, from a certain byte on; names are made, replaced and removed on the disk in
// their order, but from some moment since the last sync of the folder on they may not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/system/file_layer.h"

namespace ako::test {

/// Thrown where the power goes; the process ends there.
struct PowerCut {};

class UnsafeDisk final : public FileLayer {
  public:
    /// The power goes before the call of this number, from 0 on. `syncs`: false for a disk that
    /// says so and does not.
    explicit UnsafeDisk(std::size_t calls_left, std::uint64_t seed, bool syncs = true)
        : calls_left_(calls_left), random_(seed), syncs_(syncs) {}

    Result<int> create(const std::string& path) override {
        call();
        auto file = std::make_shared<File>();
        change([path, file](Names& names) { names[path] = file; });
        open_.push_back(std::move(file));
        return static_cast<int>(open_.size()) - 1;
    }
    Result<void> write(int file, std::span<const std::byte> bytes) override {
        std::vector<std::byte>& written = open_[static_cast<std::size_t>(file)]->written;
        if (calls_left_ == 0) bytes = bytes.first(random_() % (bytes.size() + 1));
        written.insert(written.end(), bytes.begin(), bytes.end());
        call();
        return {};
    }
    Result<void> sync(int file) override {
        call();
        File& it = *open_[static_cast<std::size_t>(file)];
        if (syncs_) it.synced = it.written.size();
        return {};
    }
    Result<void> close(int) override {
        call();
        return {};
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        call();
        change([from, to](Names& names) {
            names[to] = names.at(from);
            names.erase(from);
        });
        return {};
    }
    Result<void> link(const std::string& from, const std::string& to) override {
        call();
        change([from, to](Names& names) { names[to] = names.at(from); });
        return {};
    }
    Result<void> sync_folder(const std::string&) override {
        call();
        if (syncs_) changes_synced_ = changes_.size();
        return {};
    }
    void remove(const std::string& path) override {
        call();
        change([path](Names& names) { names.erase(path); });
    }

    std::optional<std::uint64_t> room_in(const std::string&) override { return std::nullopt; }

    /// What is on the disk when the power comes back, as files of a folder that is there.
    void write_what_is_left() {
        Names names;
        const std::size_t unsure = changes_.size() - changes_synced_;
        const std::size_t made = changes_synced_ + random_() % (unsure + 1);
        for (std::size_t k = 0; k < made; ++k) changes_[k](names);
        for (const auto& [path, file] : names) {
            const std::size_t lost = random_() % (file->written.size() - file->synced + 1);
            const std::size_t left = file->written.size() - lost;
            std::ofstream(path, std::ios::binary)
                .write(reinterpret_cast<const char*>(file->written.data()),
                       static_cast<std::streamsize>(left));
        }
    }

  private:
    struct File {
        std::vector<std::byte> written;
        std::size_t synced = 0;
    };
    using Names = std::map<std::string, std::shared_ptr<File>>;

    void call() {
        if (calls_left_-- == 0) throw PowerCut();
    }
    void change(std::function<void(Names&)> made) { changes_.push_back(std::move(made)); }

    std::size_t calls_left_;
    std::mt19937_64 random_;
    const bool syncs_;
    std::vector<std::shared_ptr<File>> open_;
    std::vector<std::function<void(Names&)>> changes_;
    std::size_t changes_synced_ = 0;
};

}  // namespace ako::test
