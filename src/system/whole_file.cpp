#include "src/system/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "ako/error.h"
#include "src/system/output_file.h"

namespace ako {

namespace {

/// Why it did not become one; nothing if it did.
std::optional<std::string> write_and_rename(const std::string& fresh, const std::string& path,
                                            std::string_view text) {
    const Result<int> file = open_output(fresh, O_TRUNC);
    if (!file) return file.error().what;
    int error = write_all(*file, text);
    // Some file systems say only now that there is no room.
    if (close(*file) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(fresh.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return std::nullopt;
    return std::generic_category().message(error);
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

void make_folder_for(const std::string& folder, const std::string& option) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw StartupError(folder + ": cannot be made: " + error.message(),
                           "name another folder with " + option);
}

std::string whole_text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace ako
