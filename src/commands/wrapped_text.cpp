#include "src/commands/wrapped_text.h"

#include <algorithm>

namespace ako {

std::string wrapped(const std::string& text, const std::string& prefix) {
    constexpr std::size_t columns = 80;  // what a terminal or a page has at least
    std::string lines;
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (!line.empty() && prefix.size() + line.size() + 1 + word.size() > columns) {
            lines += prefix + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        at = end + 1;
    }
    return lines + prefix + line + "\n";
}

}  // namespace ako
