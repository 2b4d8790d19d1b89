// The cluster file as a tree of values that know where they stand, so that every later complaint
// can name its place. yaml-cpp stops in config_value.cpp. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ako {

struct ConfigEntry;

/// One YAML value. `where` is "file:line:column" (from 1), or "--set key=value".
struct ConfigValue {
    enum class Kind { null, scalar, list, map };
    Kind kind = Kind::null;
    std::string text;                  ///< of a scalar
    bool quoted = false;               ///< a scalar written in quotes is a text, never a number
    std::vector<ConfigEntry> entries;  ///< of a map in file order, or of a list with empty keys
    std::string where;
    bool from_command_line = false;

    /// An empty value of this kind at this place.
    static ConfigValue make(Kind kind, std::string where, bool from_command_line);

    const ConfigEntry* find(const std::string& key) const;
    ConfigEntry* find(const std::string& key);
    /// The value at "training.epochs" or "peers.0.name"; nullptr if there is none.
    const ConfigValue* at(const std::string& path) const;
    /// What it is, for people: `the text "abc"`, `a list`, `nothing`.
    std::string description() const;
};

struct ConfigEntry {
    std::string key;
    std::string where;
    ConfigValue value;
};

/// Throws StartupError "where: key: expected ..., found ...".
[[noreturn]] void refuse(const std::string& where, const std::string& key,
                         const std::string& expected, const std::string& found,
                         const std::string& hint = "");

/// The largest cluster file (64 peers, all their links limited one by one) has 400 kB.
inline constexpr std::size_t config_bytes_max = std::size_t{1} << 20;

/// Brackets of a text, in quotes and comments too: how many are open at most, and at its end.
struct OpenBrackets {
    std::size_t at_most = 0;
    std::size_t at_end = 0;
};
OpenBrackets count_brackets(std::string_view text);

/// Parses YAML text. `name` stands for the file in the places; `from_command_line` makes `name`
/// the whole place. Refuses, with a StartupError: what is not YAML or not UTF-8, more than one
/// document, keys given twice, and more, longer or deeper values than any cluster file has. Merge
/// keys (`<<`) are resolved, and in a file the top-level keys that begin with `x-` left out.
ConfigValue parse_config(const std::string& text, const std::string& name,
                         bool from_command_line = false);

// Each converts one value or refuses it, naming `path` and what was expected.
std::string read_text(const ConfigValue& value, const std::string& path,
                      const std::string& expected = "a text");
/// Finite only.
double read_number(const ConfigValue& value, const std::string& path, const std::string& expected);
std::uint64_t read_whole(const ConfigValue& value, const std::string& path,
                         const std::string& expected);

/// "a.b.c" in its parts.
std::vector<std::string> split_path(const std::string& path);

}  // namespace ako
