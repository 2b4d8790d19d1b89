#include "src/config/config_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "ako/error.h"
#include "ako/plain_file.h"
#include "src/config/config_value.h"

namespace ako {

namespace {

/// Which file of the folder may be meant: the one that has the usual name, or the only one there.
std::string file_in_folder(const std::string& folder, const std::string& what,
                           const std::string& example) {
    namespace fs = std::filesystem;
    const std::string usual = fs::path(example).filename().string();
    std::error_code error;
    std::vector<std::string> found;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".yaml") found.push_back(it->path().string());
        if (it->path().filename() != usual) continue;
        found = {it->path().string()};
        break;
    }
    if (found.size() == 1) return fmt::format("did you mean {}?", found.front());
    return fmt::format("give the path of {}, such as {}", what, example);
}

}  // namespace

std::string read_config_text(const std::string& file, const std::string& what,
                             const std::string& example) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw StartupError(fmt::format("{}: expected {}, found a folder", file, what),
                           file_in_folder(file, what, example));
    refuse_what_is_no_file(file);
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw StartupError(file + ": cannot be read: " + std::generic_category().message(errno),
                           fmt::format("give the path of {}, such as {}", what, example));
    // One byte too many is enough to be refused by.
    std::string text(config_bytes_max + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

}  // namespace ako
