#include "src/config/config_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "ako/error.h"
#include "src/config/config_value.h"

namespace ako {

std::string read_config_text(const std::string& file, const std::string& what,
                             const std::string& example) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw StartupError(fmt::format("{}: expected {}, found a folder", file, what));
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw StartupError(file + ": cannot be read: " + std::generic_category().message(errno),
                           fmt::format("give the path of {}, such as {}", what, example));
    // One byte too many is enough to be refused by; a device may have no end.
    std::string text(config_bytes_max + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

}  // namespace ako
