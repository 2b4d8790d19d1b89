#include "src/config/path_variables.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "ako/error.h"

namespace ako {

namespace {

/// PATH_MAX of Linux; a few letters of a file must not stand for any amount of text.
constexpr std::size_t path_bytes_max = 4096;

bool is_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

/// How many letters at the beginning can be a variable's name.
std::size_t name_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() &&
           (is_letter(text[length]) || (length > 0 && text[length] >= '0' && text[length] <= '9')))
        ++length;
    return length;
}

class Expansion {
  public:
    Expansion(const ConfigValue& value, const std::string& key) : value_(value), key_(key) {}

    std::string result() {
        std::string_view rest = value_.text;
        if (rest.starts_with('~')) {
            if (rest.size() > 1 && rest[1] != '/')
                refuse(value_.where, key_, "~/ or ~ for your own home folder", value_.text,
                       fmt::format("write the path out, or ./{} for a name", value_.text));
            append(variable("HOME", "~"));
            rest.remove_prefix(1);
        }
        while (!rest.empty()) {
            const std::size_t dollar = rest.find('$');
            append(rest.substr(0, dollar));
            if (dollar == std::string_view::npos) break;
            rest.remove_prefix(dollar + 1);
            take_dollar(rest);
        }
        return path_;
    }

  private:
    /// Takes what belongs to a dollar off `rest`, which stands behind it.
    void take_dollar(std::string_view& rest) {
        if (rest.starts_with('$')) {
            append("$");
            rest.remove_prefix(1);
            return;
        }
        const bool braced = rest.starts_with('{');
        const std::string_view inner = rest.substr(braced ? 1 : 0);
        const std::size_t length = name_length(inner);
        if (length == 0 || (braced && inner.substr(length, 1) != "}"))
            refuse(value_.where, key_, "$NAME or ${NAME} with the name of a variable",
                   fmt::format("${}", rest), "write $$ for a dollar");
        const std::string name(inner.substr(0, length));
        append(variable(name, braced ? fmt::format("${{{}}}", name) : fmt::format("${}", name)));
        rest.remove_prefix(length + (braced ? 2 : 0));
    }
    std::string variable(const std::string& name, const std::string& written) const {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment: see the header
        const char* const found = std::getenv(name.c_str());
        if (found == nullptr || *found == '\0')
            refuse(value_.where, key_, "a path",
                   fmt::format("{}, and the variable {} is {} here", written, name,
                               found == nullptr ? "not set" : "empty"),
                   "set it for every process that reads this file, or write the path out; "
                   "$$ stands for a dollar");
        return found;
    }
    void append(std::string_view text) {
        if (path_.size() + text.size() > path_bytes_max)
            refuse(value_.where, key_, fmt::format("a path of at most {} bytes", path_bytes_max),
                   "a longer one");
        path_ += text;
    }

    const ConfigValue& value_;
    const std::string& key_;
    std::string path_;
};

}  // namespace

std::string expand_variables(const ConfigValue& value, const std::string& key) {
    return Expansion(value, key).result();
}

std::string keep_dollars(const std::string& path) {
    std::string kept;
    for (const char letter : path) kept += letter == '$' ? "$$" : std::string(1, letter);
    return kept;
}

}  // namespace ako
