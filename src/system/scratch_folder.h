// A folder for files that nobody needs afterwards: where the system has its temporary ones, with a
// name of its own, and gone with this value. One thread.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "ako/error.h"

namespace ako {

class ScratchFolder {
  public:
    /// `what` it is for is in its name: "ako-<what>-..". Throws StartupError.
    explicit ScratchFolder(const std::string& what) {
        // mkdtemp puts a name there that nobody has.
        std::string name =
            (std::filesystem::temp_directory_path() / ("ako-" + what + "-XXXXXX")).string();
        if (mkdtemp(name.data()) == nullptr)
            throw StartupError(name + ": cannot be made", "TMPDIR names another place");
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code stays;
        std::filesystem::remove_all(path_, stays);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace ako
