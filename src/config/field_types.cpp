#include "src/config/field_types.h"

#include <algorithm>
#include <string_view>

#include "ako/printable.h"
#include "src/config/path_variables.h"

namespace ako {

std::string Bounds::description() const {
    return fmt::format("a number {} {} and {} {}", low_open ? "above" : "from", low,
                       high_open ? "below" : "at most", high);
}

double read_bounded(const ConfigValue& value, const std::string& path, const Bounds& bounds) {
    const double number = read_number(value, path, bounds.description());
    if (!bounds.hold(number)) refuse(value.where, path, bounds.description(), value.description());
    return number;
}

namespace {

/// What is read back counts them together: those of a text may be so many, and none left open.
constexpr std::size_t brackets_in_text_max = 4;

}  // namespace

std::string quote(const std::string& text) {
    const OpenBrackets open = count_brackets(text);
    const bool brackets_stay = open.at_end == 0 && open.at_most <= brackets_in_text_max;
    std::string quoted = "\"";
    for (std::string_view rest = text; !rest.empty();) {
        const auto letter = first_letter(rest);
        const std::size_t bytes = letter ? letter->bytes : 1;
        // Only a folder's name can hold a byte that is no letter; YAML cannot say it, so that it
        // becomes the letter of that number.
        if (!letter)
            quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(rest.front()));
        else if (letter->code == '"' || letter->code == '\\')
            quoted += fmt::format("\\{}", rest.front());
        else if (!is_harmless(letter->code) ||
                 (!brackets_stay && (letter->code == '[' || letter->code == '{')))
            quoted += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(letter->code));
        else
            quoted += rest.substr(0, bytes);
        rest.remove_prefix(bytes);
    }
    return quoted + "\"";
}

std::string write_number(double number) { return fmt::format("{}", number); }

std::string write_numbers(const std::vector<double>& numbers) {
    std::string list;
    for (const double number : numbers) list += (list.empty() ? "" : ", ") + write_number(number);
    return "[" + list + "]";
}

Field as_path(Field field) {
    field.read = [path = field.path, read = field.read](const ConfigValue& value,
                                                        Settings& settings) {
        ConfigValue expanded = value;
        if (value.kind == ConfigValue::Kind::scalar) expanded.text = expand_variables(value, path);
        read(expanded, settings);
    };
    field.write = [write = field.write](const Settings& settings) {
        return keep_dollars(write(settings));
    };
    return field;
}

Field retired_field(const std::string& path, Scope scope, const std::string& standard,
                    const std::string& instead) {
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        const std::string text = read_text(value, path);
        if (text != standard) settings.retired.emplace(path, text);
    };
    const auto write = [=](const Settings& settings) {
        const auto kept = settings.retired.find(path);
        return kept == settings.retired.end() ? standard : kept->second;
    };
    Field field{path, scope, "a value of an earlier version", read, write};
    field.meaning = instead;
    field.is_retired = true;
    return field;
}

Field run_name_field() {
    constexpr std::size_t length_max = 64;
    const std::string path = "run";
    const std::string expected = fmt::format(
        "a name of at most {} letters, digits, '-', '_' and '.', the first not '-' or '.'",
        length_max);
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        const std::string name = read_text(value, path, expected);
        const bool plain = std::all_of(name.begin(), name.end(), [](char letter) {
            return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                   (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' ||
                   letter == '.';
        });
        // Files are named by it: one of them would be hidden, or be an option to a command.
        if (!plain || name.empty() || name.size() > length_max || name.front() == '.' ||
            name.front() == '-')
            refuse(value.where, path, expected, value.description());
        settings.run = name;
    };
    // Every peer's Hello carries the run's name beside the digest of the rest.
    return {path, Scope::own, expected, read,
            [](const Settings& settings) { return quote(settings.run); }};
}

}  // namespace ako
