#include "src/config/config_value.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "ako/error.h"

namespace ako {

namespace {

/// Deeper than any key of a cluster file (four levels) with room to spare; it also ends the walk
/// over an alias that contains itself.
constexpr int depth_max = 16;
/// 64 peers with three keys each, a limit for each of their 4,032 links with three keys each, and
/// the rest: 20,000 are enough, and aliases that multiply are stopped here.
constexpr std::size_t values_max = 20'000;

class TreeBuilder {
  public:
    TreeBuilder(std::string name, bool from_command_line)
        : name_(std::move(name)), from_command_line_(from_command_line) {}

    std::string where(const YAML::Mark& mark) const {
        if (from_command_line_) return name_;
        return fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1);
    }

    ConfigValue build(const YAML::Node& node, int depth) {
        ConfigValue value =
            ConfigValue::make(ConfigValue::Kind::null, where(node.Mark()), from_command_line_);
        if (depth > depth_max)
            refuse(value.where, "the file", fmt::format("at most {} levels", depth_max), "more");
        if (++count_ > values_max)
            refuse(value.where, "the file", fmt::format("at most {} values", values_max), "more");
        if (node.IsScalar()) {
            value.kind = ConfigValue::Kind::scalar;
            value.text = node.Scalar();
            value.quoted = node.Tag() == "!";
        } else if (node.IsSequence()) {
            value.kind = ConfigValue::Kind::list;
            for (const auto& item : node)
                value.entries.push_back({"", where(item.Mark()), build(item, depth + 1)});
        } else if (node.IsMap()) {
            value.kind = ConfigValue::Kind::map;
            for (const auto& entry : node) add_entry(value, entry.first, entry.second, depth);
        }
        return value;
    }

  private:
    void add_entry(ConfigValue& map, const YAML::Node& key, const YAML::Node& node, int depth) {
        const std::string place = where(key.Mark());
        if (!key.IsScalar()) refuse(place, "the file", "a plain text as key", "something else");
        if (const ConfigEntry* first = map.find(key.Scalar()))
            refuse(place, key.Scalar(), "every key once",
                   fmt::format("it again (first at {})", first->where));
        map.entries.push_back({key.Scalar(), place, build(node, depth + 1)});
    }

    const std::string name_;
    const bool from_command_line_;
    std::size_t count_ = 0;
};

template <class Number>
bool whole_text_is(const ConfigValue& value, Number& number) {
    if (value.kind != ConfigValue::Kind::scalar || value.quoted) return false;
    const char* end = value.text.data() + value.text.size();
    const auto [stopped, error] = std::from_chars(value.text.data(), end, number);
    return error == std::errc() && stopped == end;
}

}  // namespace

ConfigValue ConfigValue::make(Kind kind, std::string where, bool from_command_line) {
    ConfigValue value;
    value.kind = kind;
    value.where = std::move(where);
    value.from_command_line = from_command_line;
    return value;
}

const ConfigEntry* ConfigValue::find(const std::string& key) const {
    if (kind != Kind::map) return nullptr;
    for (const ConfigEntry& entry : entries) {
        if (entry.key == key) return &entry;
    }
    return nullptr;
}

ConfigEntry* ConfigValue::find(const std::string& key) {
    return const_cast<ConfigEntry*>(std::as_const(*this).find(key));
}

const ConfigValue* ConfigValue::at(const std::string& path) const {
    const ConfigValue* value = this;
    for (const std::string& part : split_path(path)) {
        const ConfigEntry* entry = value->find(part);
        if (entry == nullptr) return nullptr;
        value = &entry->value;
    }
    return value;
}

std::string ConfigValue::description() const {
    switch (kind) {
        case Kind::null:
            return "nothing";
        case Kind::scalar:
            return quoted ? fmt::format("the text \"{}\"", text) : text;
        case Kind::list:
            return fmt::format("a list of {}", entries.size());
        case Kind::map:
            return "keys and values";
    }
    return "";
}

void refuse(const std::string& where, const std::string& key, const std::string& expected,
            const std::string& found, const std::string& hint) {
    throw StartupError(fmt::format("{}: {}: expected {}, found {}", where, key, expected, found),
                       hint);
}

ConfigValue parse_config(const std::string& text, const std::string& name, bool from_command_line) {
    TreeBuilder builder(name, from_command_line);
    try {
        const std::vector<YAML::Node> documents = YAML::LoadAll(text);
        if (documents.size() > 1)
            refuse(name, "the file", "one document",
                   fmt::format("{} (separated by ---)", documents.size()));
        return documents.empty()
                   ? ConfigValue::make(ConfigValue::Kind::null, name, from_command_line)
                   : builder.build(documents.front(), 0);
    } catch (const YAML::Exception& error) {
        throw StartupError(fmt::format("{}: not YAML: {}", builder.where(error.mark), error.msg),
                           "a key is followed by a colon and a space; nesting is by indentation");
    }
}

std::string read_text(const ConfigValue& value, const std::string& path,
                      const std::string& expected) {
    if (value.kind != ConfigValue::Kind::scalar)
        refuse(value.where, path, expected, value.description());
    return value.text;
}

double read_number(const ConfigValue& value, const std::string& path, const std::string& expected) {
    double number = 0;
    if (!whole_text_is(value, number) || !std::isfinite(number))
        refuse(value.where, path, expected, value.description());
    return number;
}

std::uint64_t read_whole(const ConfigValue& value, const std::string& path,
                         const std::string& expected) {
    std::uint64_t number = 0;
    if (!whole_text_is(value, number)) refuse(value.where, path, expected, value.description());
    return number;
}

std::vector<std::string> split_path(const std::string& path) {
    std::vector<std::string> parts{""};
    for (const char letter : path) {
        if (letter == '.')
            parts.emplace_back();
        else
            parts.back() += letter;
    }
    return parts;
}

}  // namespace ako
