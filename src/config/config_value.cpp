#include "src/config/config_value.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "ako/error.h"
#include "ako/printable.h"

namespace ako {

namespace {

/// Deeper than any key of a cluster file (four levels) with room to spare.
constexpr std::size_t depth_max = 16;
/// 64 peers with three keys each, a limit for each of their 4,032 links with three keys each, and
/// the rest: 20,000 are enough, and aliases that multiply are stopped here.
constexpr std::size_t values_max = 20'000;
/// Brackets open at once, in quotes and comments too; beyond depth_max, for those may have some.
constexpr std::size_t brackets_max = 64;
/// YAML 1.1's: `training: {<<: *common, epochs: 2}`.
constexpr const char* merge_key = "<<";
constexpr const char* extension_prefix = "x-";

/// Refuses what yaml-cpp would take long over, or much memory or stack, before it sees it.
void check_extent(const std::string& text, const std::string& where) {
    if (text.size() > config_bytes_max)
        refuse(where, "the file", fmt::format("at most {} bytes", config_bytes_max),
               fmt::to_string(text.size()));
    if (count_brackets(text).at_most > brackets_max)
        refuse(where, "the file", fmt::format("at most {} levels", depth_max), "more");
}

/// Refuses bytes that are no letters: yaml-cpp takes them, and nothing that shows or writes them
/// again could.
void check_encoding(const std::string& text, const std::string& name, bool from_command_line) {
    std::size_t line = 1;
    for (std::string_view rest = text; !rest.empty();) {
        const auto letter = first_letter(rest);
        if (!letter)
            throw StartupError(
                fmt::format("{}: expected text in UTF-8, found the byte 0x{:02x}",
                            from_command_line ? name : fmt::format("{}:{}", name, line),
                            static_cast<unsigned char>(rest.front())),
                "save it in UTF-8, or write the letter as \"\\u00e9\" in quotes");
        if (letter->code == '\n') ++line;
        rest.remove_prefix(letter->bytes);
    }
}

/// Refuses a value that is no UTF-8 though its file is: yaml-cpp makes one byte each of the escapes
/// \N and \_, which stand for U+0085 and U+00A0.
void check_letters(std::string_view text, const std::string& where) {
    while (!text.empty()) {
        const auto letter = first_letter(text);
        if (!letter)
            throw StartupError(
                fmt::format("{}: expected letters, found the byte 0x{:02x} of an escape", where,
                            static_cast<unsigned char>(text.front())),
                "write it as \"\\u0085\" or \"\\u00a0\" in place of \\N or \\_");
        text.remove_prefix(letter->bytes);
    }
}

/// How much a value is, with all below it; keys count as bytes only.
struct Extent {
    std::size_t values = 1;
    std::size_t bytes = 0;
    std::size_t depth = 0;
};

Extent extent_of(const ConfigValue& value) {
    Extent extent{1, value.text.size(), 0};
    for (const ConfigEntry& entry : value.entries) {
        const Extent inner = extent_of(entry.value);
        extent.values += inner.values;
        extent.bytes += inner.bytes + entry.key.size();
        extent.depth = std::max(extent.depth, 1 + inner.depth);
    }
    return extent;
}

/// The maps that a merge key names, the first one first: an alias of one, or a list of such.
std::vector<ConfigValue> merged_maps(ConfigEntry& merge) {
    const auto check = [&merge](const ConfigValue& value) {
        if (value.kind != ConfigValue::Kind::map)
            refuse(merge.where, merge_key,
                   "an alias of keys and values, such as *common, or a list of such",
                   value.description());
    };
    std::vector<ConfigValue> maps;
    if (merge.value.kind != ConfigValue::Kind::list) {
        check(merge.value);
        maps.push_back(std::move(merge.value));
        return maps;
    }
    for (ConfigEntry& entry : merge.value.entries) {
        check(entry.value);
        maps.push_back(std::move(entry.value));
    }
    return maps;
}

/// Puts what a merge key names in its place, which yaml-cpp leaves to its callers: the map's own
/// keys win, then those of the maps that are named first. Nothing grows: an alias has been counted
/// as all that it stands for.
void resolve_merge(ConfigValue& map) {
    ConfigEntry* const found = map.find(merge_key);
    if (found == nullptr) return;
    ConfigEntry merge = std::move(*found);
    const auto place = map.entries.erase(map.entries.begin() + (found - map.entries.data()));
    ConfigValue merged = ConfigValue::make(ConfigValue::Kind::map, merge.where, false);
    for (ConfigValue& one : merged_maps(merge)) {
        for (ConfigEntry& entry : one.entries) {
            if (map.find(entry.key) == nullptr && merged.find(entry.key) == nullptr)
                merged.entries.push_back(std::move(entry));
        }
    }
    map.entries.insert(place, std::make_move_iterator(merged.entries.begin()),
                       std::make_move_iterator(merged.entries.end()));
}

/// Leaves out what a file keeps for itself, as a Compose file may: `x-common: &common {...}`.
void drop_extensions(ConfigValue& root) {
    if (root.kind == ConfigValue::Kind::map)
        std::erase_if(root.entries, [](const ConfigEntry& entry) {
            return entry.key.starts_with(extension_prefix);
        });
}

/// Makes the tree of what the parser finds, and ends the parser's work at the first limit: what it
/// would find in a hostile text by itself may have no end.
class TreeBuilder final : public YAML::EventHandler {
  public:
    TreeBuilder(std::string name, bool from_command_line)
        : name_(std::move(name)),
          from_command_line_(from_command_line),
          root_(ConfigValue::make(ConfigValue::Kind::null, name_, from_command_line)) {}

    ConfigValue take_root() { return std::move(root_); }

    std::string where(const YAML::Mark& mark) const {
        if (from_command_line_) return name_;
        return fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1);
    }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(make(ConfigValue::Kind::null, mark), anchor);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        ConfigValue value = make(ConfigValue::Kind::scalar, mark);
        value.text = text;
        check_letters(text, value.where);
        value.quoted = tag == "!";
        extent_.bytes += text.size();
        add(std::move(value), anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open_.push_back({make(ConfigValue::Kind::list, mark), anchor, {}});
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open_.push_back({make(ConfigValue::Kind::map, mark), anchor, {}});
    }
    void OnMapEnd() override {
        resolve_merge(open_.back().value);
        close();
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchored_.find(anchor);
        if (found == anchored_.end())
            refuse(where(mark), "the file", "an alias of something else", "one of what it is in");
        const Extent copied = extent_of(found->second);
        check_depth(copied.depth, where(mark));
        extent_.values += copied.values - 1;
        extent_.bytes += copied.bytes;
        add(found->second, 0);
    }

  private:
    /// A list or map whose end has not come yet; of a map, the key whose value comes next.
    struct Open {
        ConfigValue value;
        YAML::anchor_t anchor;  ///< 0: none
        std::optional<ConfigValue> key;
    };

    ConfigValue make(ConfigValue::Kind kind, const YAML::Mark& mark) const {
        check_depth(0, where(mark));
        return ConfigValue::make(kind, where(mark), from_command_line_);
    }
    void check_depth(std::size_t more, const std::string& place) const {
        if (open_.size() + more > depth_max)
            refuse(place, "the file", fmt::format("at most {} levels", depth_max), "more");
    }
    void check_extent_so_far(const std::string& place) const {
        if (extent_.values > values_max)
            refuse(place, "the file", fmt::format("at most {} values", values_max), "more");
        if (extent_.bytes > config_bytes_max)
            refuse(place, "the file", fmt::format("at most {} bytes of text", config_bytes_max),
                   "more");
    }
    void close() {
        Open closed = std::move(open_.back());
        open_.pop_back();
        add(std::move(closed.value), closed.anchor);
    }
    void add(ConfigValue value, YAML::anchor_t anchor) {
        ++extent_.values;
        check_extent_so_far(value.where);
        if (anchor != 0) anchored_[anchor] = value;
        if (open_.empty()) {
            root_ = std::move(value);
            return;
        }
        Open& parent = open_.back();
        if (parent.value.kind == ConfigValue::Kind::list) {
            const std::string place = value.where;
            parent.value.entries.push_back({"", place, std::move(value)});
        } else if (!parent.key) {
            check_key(parent.value, value);
            parent.key = std::move(value);
            --extent_.values;
        } else {
            parent.value.entries.push_back({parent.key->text, parent.key->where, std::move(value)});
            parent.key.reset();
        }
    }
    static void check_key(const ConfigValue& map, const ConfigValue& key) {
        if (key.kind != ConfigValue::Kind::scalar)
            refuse(key.where, "the file", "a plain text as key", "something else");
        if (const ConfigEntry* first = map.find(key.text))
            refuse(key.where, key.text, "every key once",
                   fmt::format("it again (first at {})", first->where));
    }

    const std::string name_;
    const bool from_command_line_;
    ConfigValue root_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, ConfigValue> anchored_;
    Extent extent_{0, 0, 0};  ///< of all so far
};

/// The line (from 1) with a tab in its indentation: line `marked` (from 1), where the parser gave
/// up, or else the one before it; nothing if neither has one. YAML takes tabs within brackets and,
/// in most places, in front of comments, so those are not what is wrong.
std::optional<std::size_t> line_indented_by_tab(const std::string& text, std::size_t marked) {
    std::istringstream in(text);
    std::optional<std::size_t> found;
    std::string before;
    std::size_t number = 0;
    for (std::string line; number < marked && std::getline(in, line);) {
        ++number;
        const std::size_t end = std::min(line.find_first_not_of(" \t\r"), line.size());
        const bool taken = end == line.size() || (line[end] == '#' && number < marked);
        if (number + 1 >= marked && !taken && line.find('\t') < end &&
            count_brackets(before).at_end == 0)
            found = number;
        before += line + "\n";
    }
    return found;
}

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

OpenBrackets count_brackets(std::string_view text) {
    OpenBrackets open;
    for (const char letter : text) {
        if (letter == '[' || letter == '{') open.at_most = std::max(open.at_most, ++open.at_end);
        if ((letter == ']' || letter == '}') && open.at_end > 0) --open.at_end;
    }
    return open;
}

ConfigValue parse_config(const std::string& text, const std::string& name, bool from_command_line) {
    check_extent(text, name);
    check_encoding(text, name, from_command_line);
    TreeBuilder builder(name, from_command_line);
    try {
        std::istringstream in(text);
        YAML::Parser parser(in);
        if (!parser.HandleNextDocument(builder)) return builder.take_root();
        ConfigValue root = builder.take_root();
        // Not LoadAll: of brackets that close too often the parser makes documents without end.
        if (parser.HandleNextDocument(builder))
            refuse(name, "the file", "one document",
                   "more (separated by ---, or by a bracket that closes nothing)");
        if (!from_command_line) drop_extensions(root);
        return root;
    } catch (const YAML::Exception& error) {
        const auto last = static_cast<std::size_t>(std::max(error.mark.line, 0)) + 1;
        const auto line = line_indented_by_tab(text, last);
        if (line && !from_command_line)
            throw StartupError(
                fmt::format("{}:{}: not YAML: a tab in front of the line", name, *line),
                "indent by spaces: `expand -t 2` turns the tabs of a file into them");
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
