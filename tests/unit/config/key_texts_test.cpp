// Every key has a meaning, and it is the one that the commented example gives it; so are the ranges
// and defaults that stand there.
#include "src/config/key_texts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "ako/error.h"
#include "src/config/config_value.h"
#include "src/config/fields.h"
#include "src/config/layer_list.h"
#include "tests/contains.h"
#include "tests/in_source.h"

using namespace ako;
using test::contains;

namespace {

/// A line of the example: what stands in front of its comment, and the comment. A key of a list of
/// layers, which stands in a comment itself, counts as a key too.
struct Line {
    std::string key;             ///< empty: a comment alone, a blank line, or neither
    bool of_a_list = false;      ///< the key stands in the comment about lists of layers
    std::size_t indent = 0;      ///< of the key, or of the comment
    std::string comment;         ///< without its #
    std::size_t comment_at = 0;  ///< the column of the #; 0 with a key: none
};

Line line_of(std::string text) {
    static const std::regex of_a_list("^#( +)(input|layers):");
    const bool listed = std::regex_search(text, of_a_list);
    if (listed) text.front() = ' ';
    static const std::regex key("^( *)(?:- )?([a-z_]+):");
    Line line;
    line.of_a_list = listed;
    const std::size_t hash = std::min(text.find('#'), text.size());
    std::smatch found;
    const std::string front = text.substr(0, hash);
    if (std::regex_search(front, found, key)) {
        line.key = found[2];
        line.indent = static_cast<std::size_t>(found.position(2));
    } else {
        line.indent = hash;
    }
    if (hash < text.size()) line.comment = text.substr(hash + 1);
    line.comment_at = hash < text.size() ? hash : 0;
    return line;
}

std::vector<Line> example_lines() {
    std::ifstream in(test::in_source("experiments/example.yaml"));
    std::vector<Line> lines;
    for (std::string text; std::getline(in, text);) lines.push_back(line_of(text));
    return lines;
}

/// In words: every run of blanks is one.
std::string words_of(const std::string& text) {
    std::istringstream in(text);
    std::string words;
    for (std::string word; in >> word;) words += (words.empty() ? "" : " ") + word;
    return words;
}

struct Comments {
    std::string own;     ///< behind the key, and below it further in than the key
    std::string before;  ///< whole lines above it, or above a group it is in
};

/// The comments of every key of the example, lists by the first element that has the key.
std::map<std::string, Comments> example_comments() {
    std::map<std::string, Comments> comments;
    struct Group {
        std::string path;
        std::size_t indent;
        std::string before;
    };
    std::vector<Group> groups;
    std::string before;
    const std::vector<Line> lines = example_lines();
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const Line& line = lines[k];
        if (line.key.empty()) {
            before = line.comment.empty() ? "" : before + line.comment + " ";
            continue;
        }
        if (line.of_a_list) {
            comments.insert({"model." + line.key, {words_of(line.comment), ""}});
            continue;
        }
        while (!groups.empty() && groups.back().indent >= line.indent) groups.pop_back();
        Group group = groups.empty() ? Group{} : groups.back();
        if (!group.path.empty()) group.path += group.path == "peers" ? ".*." : ".";
        group.path += line.key;
        group.indent = line.indent;
        group.before += before;
        groups.push_back(group);
        std::string own = line.comment;
        while (line.comment_at > 0 && k + 1 < lines.size() && lines[k + 1].key.empty() &&
               lines[k + 1].comment_at > line.indent)
            own += " " + lines[++k].comment;
        before.clear();
        comments.insert({group.path, {words_of(own), words_of(group.before)}});
    }
    return comments;
}

/// What a comment says of a range, beside the meaning: "1 to 65,536", "above 0".
std::vector<std::string> ranges_in(const std::string& comment) {
    static const std::regex range(
        "-?[0-9][0-9,]* to [0-9][0-9,]*|(above|below|from|at most) -?[0-9][0-9,]*"
        "( to -?[0-9][0-9,]*)?");
    std::vector<std::string> found;
    for (std::sregex_iterator at(comment.begin(), comment.end(), range), end; at != end; ++at)
        found.push_back(at->str());
    return found;
}

/// The same as the reader says it: "from 1 to 65536", or "from 0 and at most 1".
bool states(const std::string& expected, std::string range) {
    std::erase(range, ',');
    if (!std::isalpha(static_cast<unsigned char>(range.front()))) range = "from " + range;
    const std::string other = std::regex_replace(range, std::regex(" to "), " and at most ");
    const auto ends_there = [&](const std::string& text) {
        return std::regex_search(expected, std::regex(text + "(?![0-9.])"));
    };
    return ends_there(range) || (range.starts_with("from ") && ends_there(other)) ||
           ends_there("of " + range.substr(range.find(' ') + 1));
}

const KeyText& of(const std::string& path) {
    for (const KeyText& text : key_texts())
        if (text.path == path) return text;
    FAIL("no key ", path);
    return key_texts().front();
}

bool is_key(const std::string& path) {
    return std::find(known_keys().begin(), known_keys().end(), path) != known_keys().end();
}

}  // namespace

TEST_CASE("all known keys have a meaning, a range and a default or the word that there is none") {
    std::set<std::string> told;
    for (const KeyText& text : key_texts()) {
        CAPTURE(text.path);
        CHECK(told.insert(text.path).second);
        CHECK_FALSE(text.meaning.empty());
        CHECK_FALSE(text.expected.empty());
        CHECK_FALSE(text.standard.empty());
        CHECK(text.standard != "?");
    }
    CHECK(told == std::set<std::string>(known_keys().begin(), known_keys().end()));
}

TEST_CASE("the meaning of every key stands in its comment in the example, word for word") {
    const std::map<std::string, Comments> comments = example_comments();
    const std::string limits = "exchange.link_limits.*.";
    for (const KeyText& text : key_texts()) {
        CAPTURE(text.path);
        CAPTURE(text.meaning);
        if (text.path.starts_with(limits)) {  // an empty list there, whose comment has its keys
            const std::string key = text.path.substr(limits.size());
            CHECK(contains(comments.at("exchange.link_limits").own, key + ": " + text.meaning));
            continue;
        }
        REQUIRE(comments.contains(text.path));
        const Comments& here = comments.at(text.path);
        CHECK((contains(here.own, text.meaning) || contains(here.before, text.meaning)));
    }
}

TEST_CASE("a range that a comment of the example states is the one of the reader") {
    int stated = 0;
    for (const auto& [path, comment] : example_comments()) {
        if (comment.own.empty() || !is_key(path)) continue;
        std::string rest = comment.own;
        const std::string& meaning = of(path).meaning;
        if (const std::size_t at = rest.find(meaning); at != std::string::npos)
            rest.erase(at, meaning.size());
        for (const std::string& range : ranges_in(rest)) {
            CAPTURE(path);
            CAPTURE(range);
            CAPTURE(of(path).expected);
            CHECK(states(of(path).expected, range));
            ++stated;
        }
    }
    CHECK(stated >= 15);
}

TEST_CASE("the example shows the default that is told of every key") {
    std::ifstream in(test::in_source("experiments/example.yaml"));
    std::ostringstream file;
    file << in.rdbuf();
    const ConfigValue example = parse_config(file.str(), "example.yaml");
    const std::map<std::string, Comments> comments = example_comments();
    int shown = 0;
    for (const KeyText& text : key_texts()) {
        const ConfigValue* value = example.at(text.path);
        if (value == nullptr || text.standard.starts_with("required")) continue;
        CAPTURE(text.path);
        CAPTURE(text.standard);
        ++shown;
        if (text.path.ends_with("schedule.kind") ||
            text.path == "training.optimizer")  // with another kind, what steps are is shown
            CHECK(contains(comments.at(text.path).own, "if left out: " + text.standard));
        else if (text.path.starts_with("data.normalisation."))
            CHECK(text.standard.starts_with("idx " + value->text + ","));
        else if (value->kind == ConfigValue::Kind::scalar)
            CHECK(value->text == text.standard);
        else
            CHECK(text.standard == (value->kind == ConfigValue::Kind::null ? "null" : "[]"));
    }
    CHECK(shown >= 45);
}

TEST_CASE("range and default come from the table that reads the file") {
    CHECK(of("training.batch.local").expected == "a whole number from 1 to 65536");
    CHECK(of("training.batch.local").standard == "64");
    CHECK(of("exchange.mode").standard == "ako");
    CHECK(of("exchange.consistency").standard == "bsp");
    CHECK(of("data.path").standard.starts_with("required"));
    CHECK(of("model.noise").applies_with == "model.name: synthetic");
    CHECK(contains(of("peers.*.name").expected, "at most 32 letters"));
    bool conv = false;
    for (const std::string& form : layer_forms_text())
        conv |= form.starts_with("conv: ") && contains(form, "[stride 1 to 256]");
    CHECK(conv);
}

TEST_CASE("a group, a single key, and the nearest where there is neither") {
    CHECK(key_texts_of("").size() == key_texts().size());
    CHECK(key_texts_of("training.schedule").size() == 4);
    CHECK(key_texts_of("training.epochs").size() == 1);
    CHECK(key_texts_of("peers").size() == 5);
    CHECK(key_texts_of("peers").front().path == "peers");
    try {
        key_texts_of("exchnge");
        FAIL("accepted");
    } catch (const StartupError& error) {
        CHECK(contains(error.what(), "exchnge"));
        CHECK(error.hint() == "did you mean exchange?");
    }
    CHECK_THROWS_AS(key_texts_of("train"), StartupError);
}
