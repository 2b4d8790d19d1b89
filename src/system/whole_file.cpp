#include "src/system/whole_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "ako/error.h"

namespace ako {

void write_whole_file(const std::string& path, const std::string& text) {
    const std::string fresh = path + ".new";
    std::ofstream out(fresh, std::ios::binary);
    out << text;
    out.close();
    std::error_code error;
    if (out) std::filesystem::rename(fresh, path, error);
    if (!out || error)
        throw StartupError(path + ": cannot be written", "is the disk full, the folder writable?");
}

}  // namespace ako
