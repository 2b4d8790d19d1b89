// The page that shows a cluster in a browser: page.html, built into the program.
#pragma once

#include <string_view>

namespace ako {

std::string_view page();

}  // namespace ako
