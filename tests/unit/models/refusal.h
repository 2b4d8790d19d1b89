// What readers refuse: a check that a StartupError names the file and says what it must, and files
// to be refused.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "ako/error.h"

namespace ako::test {

using Bytes = std::vector<std::uint8_t>;

/// Runs `read`, which must throw a StartupError with a remedy that names `path` and contains every
/// text.
inline void check_refused(const std::function<void()>& read, const std::string& path,
                          const std::vector<std::string>& texts) {
    try {
        read();
        FAIL("accepted: expected " << texts.front());
    } catch (const StartupError& error) {
        const std::string what = error.what();
        CAPTURE(what);
        CHECK(what.find(path) != std::string::npos);
        CHECK_FALSE(error.hint().empty());
        for (const std::string& text : texts) {
            CAPTURE(text);
            CHECK((what + error.hint()).find(text) != std::string::npos);
        }
    }
}

inline void write_bytes(const std::string& path, const Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    REQUIRE(file.flush());
}

}  // namespace ako::test
