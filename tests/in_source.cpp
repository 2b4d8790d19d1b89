#include "tests/in_source.h"

namespace ako::test {

std::string in_source(std::string_view path) {
    return std::string(AKO_SOURCE_DIR "/").append(path);
}

}  // namespace ako::test
