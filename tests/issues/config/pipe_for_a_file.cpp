// `ako check` of a cluster file that was a pipe hung for good, and so did a start whose data or
// model was one (tests/issues/models). Since then every file that a user names is refused at once
// if it is a pipe, a device or a socket. (/dev/stdin and `<(command)` are such: every peer reads
// the file anew.)
#include <doctest/doctest.h>

#include "src/config/cluster_file.h"
#include "src/config/config_file.h"
#include "tests/refuses_what_is_no_file.h"

namespace ako::pipe_for_a_file {

TEST_CASE("what is no file is refused at once, where a file of settings is read") {
    test::check_what_is_no_file_is_refused(
        {[](const std::string& path) { read_cluster_file(path, {}); },
         [](const std::string& path) { read_config_text(path, "a plan"); }});
}

}  // namespace ako::pipe_for_a_file
