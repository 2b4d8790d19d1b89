#include "src/config/key_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/config/cluster_settings.h"
#include "src/config/fields.h"

namespace ako {

std::string KeyPlaces::of(const std::string& key) const {
    for (std::string path = key;;) {
        const auto found = places_.find(path);
        if (found != places_.end()) return found->second;
        const std::size_t dot = path.rfind('.');
        if (dot == std::string::npos) return "";
        path.resize(dot);
    }
}

StartupError at_key(const Settings& settings, const std::string& key, const StartupError& error) {
    const std::string what = error.what();
    const std::string first = what.substr(0, what.find(": "));
    const std::vector<std::string>& known = known_keys();
    const bool names_one = std::find(known.begin(), known.end(), first) != known.end();
    std::string where = settings.places.of(names_one ? first : key);
    if (where.empty()) where = settings.file;
    return StartupError(fmt::format("{}{}{}{}", where, where.empty() ? "" : ": ",
                                    names_one ? std::string() : key + ": ", what),
                        error.hint());
}

}  // namespace ako
