// A number in a line for people. Pure; any thread.
#pragma once

#include <cstdio>
#include <string>

namespace ako {

/// `format` is printf's, of one double: "%.1f s".
inline std::string printed(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace ako
