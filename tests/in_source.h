// The path of a file of the repository, for tests that read some. The repository's own path is
// compiled into one object: were it on every compiler's command line, the objects of the tests
// would not be found again by the compiler cache in a clone in another folder.
#pragma once

#include <string>
#include <string_view>

namespace ako::test {

/// in_source("experiments/example.yaml"): the path of that file, wherever the test is started.
std::string in_source(std::string_view path);

}  // namespace ako::test
