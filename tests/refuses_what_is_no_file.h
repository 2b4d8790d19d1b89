// Is what is no file refused at once by whatever reads one? For the tests of each room that does.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ako/error.h"
#include "tests/contains.h"
#include "tests/temporary_folder.h"

namespace ako::test {

/// Each of `readers` is given the path of a pipe, and of a device.
inline void check_what_is_no_file_is_refused(
    const std::vector<std::function<void(const std::string& path)>>& readers) {
    const TemporaryFolder folder;
    const std::string pipe = folder.file("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    for (const auto& [path, kind] : {std::pair(pipe, "this is a pipe, not a file"),
                                     std::pair(std::string("/dev/zero"), "this is a device")}) {
        for (const auto& read : readers) {
            std::string said;
            try {
                read(path);
            } catch (const StartupError& error) {
                said = error.what();
            }
            CHECK_MESSAGE(contains(said, path + ": " + kind), said);
        }
    }
}

}  // namespace ako::test
