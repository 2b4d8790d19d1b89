// How a run stands by what lies in its folder, for who cannot ask its peers: by its summary once
// there is one, else by the newest metrics line that any of them has written. Any thread.
#pragma once

#include <string>
#include <vector>

namespace ako {

/// "98.21 % after 63 s, identical", "training, 40 %", "exit 4"; empty: it has not begun.
std::string run_standing(const std::string& folder, const std::vector<std::string>& peers);

}  // namespace ako
