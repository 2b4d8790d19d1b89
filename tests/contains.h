// Does a text contain another? For tests of messages, which are checked for the parts that matter.
#pragma once

#include <string>
#include <string_view>

namespace ako::test {

inline bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace ako::test
