// See template_text.h.
#include "src/engines/template_text.h"

#include <set>
#include <string>

#include "ako/assert.h"

namespace ako {
namespace {

bool is_name(std::string_view text) {
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

/// One line, into which values are put.
struct FilledLine {
    std::string text;
    bool has_empty = false;
};

FilledLine filled_line(std::string_view line, const std::map<std::string, std::string>& values,
                       std::set<std::string>& used) {
    FilledLine made;
    while (!line.empty()) {
        const std::size_t at = line.find('@');
        made.text += line.substr(0, at);
        if (at == std::string_view::npos) break;
        line.remove_prefix(at + 1);
        const std::size_t end = line.find('@');
        const std::string name(line.substr(0, end));
        if (end == std::string_view::npos || !is_name(name)) {
            made.text += '@';
            continue;
        }
        const auto value = values.find(name);
        AKO_ASSERT(value != values.end(), name);
        used.insert(name);
        made.text += value->second;
        made.has_empty |= value->second.empty();
        line.remove_prefix(end + 1);
    }
    return made;
}

}  // namespace

std::string filled(std::string_view text, const std::map<std::string, std::string>& values) {
    std::string whole;
    std::set<std::string> used;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1);
        const FilledLine line = filled_line(text.substr(0, end), values, used);
        if (!line.has_empty) whole += line.text + "\n";
        text.remove_prefix(end + 1);
    }
    for (const auto& [name, value] : values) AKO_ASSERT(used.contains(name), name);
    return whole;
}

}  // namespace ako
