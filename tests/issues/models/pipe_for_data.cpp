// A start whose data or model was a pipe hung for good. Since then it is refused at once, as a
// cluster file that is one (tests/issues/config).
#include <doctest/doctest.h>

#include "models/data_file.h"
#include "models/npy.h"
#include "models/safetensors.h"
#include "tests/refuses_what_is_no_file.h"

namespace ako::pipe_for_data {

TEST_CASE("what is no file is refused at once, where data or a model is read") {
    test::check_what_is_no_file_is_refused(
        {[](const std::string& path) { read_data_file(path); },
         [](const std::string& path) { read_safetensors(path, {}); },
         [](const std::string& path) { read_npy_images(path); }});
}

}  // namespace ako::pipe_for_data
