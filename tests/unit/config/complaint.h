// What the reader of cluster files complains about.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ako/error.h"
#include "src/config/cluster_file.h"

namespace ako::test {

/// With its hint; fails the test if `text`, as the file `file`, is accepted.
inline std::string complaint(const std::string& text, const std::string& file,
                             const std::vector<std::string>& overrides) {
    try {
        read_cluster_text(text, file, overrides);
    } catch (const StartupError& error) {
        return std::string(error.what()) + (error.hint().empty() ? "" : " (" + error.hint() + ")");
    }
    FAIL("accepted: ", text);
    return "";
}

}  // namespace ako::test
