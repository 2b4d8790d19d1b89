// The types of fields: what each accepts, says when it refuses, and writes. `member` is a callable
// that gives the member of (const or mutable) Settings the field stands for.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/config/fields.h"
#include "src/config/nearest_word.h"

namespace ako {

/// The numbers a field accepts: low .. high, each end with or without itself.
struct Bounds {
    double low = 0;
    double high = 0;
    bool low_open = false;
    bool high_open = false;

    bool hold(double number) const {
        return (low_open ? number > low : number >= low) &&
               (high_open ? number < high : number <= high);
    }
    /// "a number above 0 and at most 1".
    std::string description() const;
};

/// A number inside the bounds, or a StartupError.
double read_bounded(const ConfigValue& value, const std::string& path, const Bounds& bounds);
/// `text` in double quotes, escaped: YAML and JSON alike.
std::string quote(const std::string& text);
/// A number with the fewest digits that read back as the same number.
std::string write_number(double number);
/// "[0.5, 0.75]".
std::string write_numbers(const std::vector<double>& numbers);

/// `run`: a text that can name a folder.
Field run_name_field();

template <class Member>
Field text_field(const std::string& path, Scope scope, Member member, const std::string& expected) {
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        member(settings) = read_text(value, path, expected);
        if (member(settings).empty()) refuse(value.where, path, expected, "an empty text");
    };
    const auto write = [=](const Settings& settings) { return quote(member(settings)); };
    return {path, scope, expected, read, write};
}

/// A text or null, which is the empty text in the settings.
template <class Member>
Field optional_text_field(const std::string& path, Scope scope, Member member,
                          const std::string& what) {
    const std::string expected = what + ", or null";
    Field field = text_field(path, scope, member, expected);
    field.read = [=, read_present = field.read](const ConfigValue& value, Settings& settings) {
        member(settings).clear();
        if (value.kind != ConfigValue::Kind::null) read_present(value, settings);
    };
    field.write = [=, write_present = field.write](const Settings& settings) {
        return member(settings).empty() ? std::string("null") : write_present(settings);
    };
    return field;
}

/// Makes the text of a field of text a path: variables in it are expanded.
Field as_path(Field field);

template <class Member>
Field number_field(const std::string& path, Scope scope, Member member, Bounds bounds) {
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        member(settings) = read_bounded(value, path, bounds);
    };
    const auto write = [=](const Settings& settings) { return write_number(member(settings)); };
    return {path, scope, bounds.description(), read, write};
}

/// A number or null.
template <class Member>
Field optional_number_field(const std::string& path, Scope scope, Member member, Bounds bounds) {
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        if (value.kind == ConfigValue::Kind::null)
            member(settings) = std::nullopt;
        else
            member(settings) = read_bounded(value, path, bounds);
    };
    const auto write = [=](const Settings& settings) {
        const std::optional<double>& number = member(settings);
        return number ? write_number(*number) : std::string("null");
    };
    return {path, scope, bounds.description() + ", or null", read, write};
}

/// A number, or a word that stands for `meant` in the settings, which no such number is.
template <class Member>
Field number_or_word_field(const std::string& path, Scope scope, Member member, Bounds bounds,
                           const std::string& word, double meant) {
    Field field = number_field(path, scope, member, bounds);
    field.expected = fmt::format("{} or {}", word, field.expected);
    field.read = [=, expected = field.expected, read_number = field.read](const ConfigValue& value,
                                                                          Settings& settings) {
        const char first = value.text.empty() ? ' ' : value.text.front();
        const bool begins_a_number = first == '-' || first == '.' || (first >= '0' && first <= '9');
        if (value.kind != ConfigValue::Kind::scalar || begins_a_number)
            read_number(value, settings);
        else if (value.text == word)
            member(settings) = meant;
        else
            refuse(value.where, path, expected, value.description(),
                   did_you_mean(value.text, {word}));
    };
    field.write = [=](const Settings& settings) {
        return member(settings) == meant ? word : write_number(member(settings));
    };
    return field;
}

/// A whole number from low to high.
template <class Member>
Field whole_field(const std::string& path, Scope scope, Member member, std::uint64_t low,
                  std::uint64_t high) {
    const std::string expected = fmt::format("a whole number from {} to {}", low, high);
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        using Number = std::remove_reference_t<decltype(member(settings))>;
        const std::uint64_t number = read_whole(value, path, expected);
        if (number < low || number > high || number > std::numeric_limits<Number>::max())
            refuse(value.where, path, expected, value.description());
        member(settings) = static_cast<Number>(number);
    };
    const auto write = [=](const Settings& settings) { return fmt::to_string(member(settings)); };
    return {path, scope, expected, read, write};
}

/// A whole number from 1 to high, or a word that stands for 0 in the settings.
template <class Member>
Field whole_or_word_field(const std::string& path, Scope scope, Member member,
                          const std::string& word, std::uint64_t high) {
    Field field = whole_field(path, scope, member, 1, high);
    field.expected = fmt::format("{} or {}", word, field.expected);
    field.read = [=](const ConfigValue& value, Settings& settings) {
        using Number = std::remove_reference_t<decltype(member(settings))>;
        const std::string expected = fmt::format("{} or a whole number from 1 to {}", word, high);
        if (value.kind == ConfigValue::Kind::scalar && value.text == word) {
            member(settings) = 0;
            return;
        }
        if (value.kind == ConfigValue::Kind::scalar && !did_you_mean(value.text, {word}).empty())
            refuse(value.where, path, expected, value.description(),
                   did_you_mean(value.text, {word}));
        const std::uint64_t number = read_whole(value, path, expected);
        if (number < 1 || number > high) refuse(value.where, path, expected, value.description());
        member(settings) = static_cast<Number>(number);
    };
    field.write = [=](const Settings& settings) {
        return member(settings) == 0 ? word : fmt::to_string(member(settings));
    };
    return field;
}

/// One of some words.
template <class Choice, class Member>
Field choice_field(const std::string& path, Scope scope, Member member,
                   std::vector<std::pair<std::string, Choice>> words) {
    std::string expected;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < words.size(); ++i) {
        expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i].first;
        names.push_back(words[i].first);
    }
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        const std::string text = read_text(value, path, expected);
        for (const auto& [word, choice] : words) {
            if (word != text) continue;
            member(settings) = choice;
            return;
        }
        refuse(value.where, path, expected, value.description(), did_you_mean(text, names));
    };
    const auto write = [=](const Settings& settings) {
        for (const auto& [word, choice] : words) {
            if (choice == member(settings)) return word;
        }
        return std::string("?");
    };
    return {path, scope, expected, read, write};
}

/// true or false.
template <class Member>
Field flag_field(const std::string& path, Scope scope, Member member) {
    return choice_field<bool>(path, scope, member, {{"true", true}, {"false", false}});
}

/// A key that is no key any more. Files of earlier versions are still read: another value than the
/// one that everybody had is kept in Settings::retired, for it stands in digests of that time.
Field retired_field(const std::string& path, Scope scope, const std::string& standard,
                    const std::string& instead);

/// A number for all channels of an image, or a list with one for each.
template <class Member>
Field channel_numbers_field(const std::string& path, Scope scope, Member member, Bounds bounds) {
    const std::string expected = bounds.description() + ", or a list of one per channel";
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        std::vector<double> numbers;
        if (value.kind != ConfigValue::Kind::list)
            numbers.push_back(read_bounded(value, path, bounds));
        for (const ConfigEntry& entry : value.entries)
            numbers.push_back(read_bounded(entry.value, path, bounds));
        if (numbers.empty()) refuse(value.where, path, expected, "an empty list");
        member(settings) = numbers;
    };
    const auto write = [=](const Settings& settings) {
        const auto& numbers = member(settings);
        return numbers.size() == 1 ? write_number(numbers.front()) : write_numbers(numbers);
    };
    return {path, scope, expected, read, write};
}

/// A list of numbers between 0 and 1, each above the one before, at least one.
template <class Member>
Field rising_numbers_field(const std::string& path, Scope scope, Member member) {
    const std::string expected = "a rising list of numbers between 0 and 1";
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        if (value.kind != ConfigValue::Kind::list || value.entries.empty())
            refuse(value.where, path, expected, value.description());
        std::vector<double> numbers;
        for (const ConfigEntry& entry : value.entries) {
            const double number = read_number(entry.value, path, expected);
            if (number <= (numbers.empty() ? 0 : numbers.back()) || number >= 1)
                refuse(entry.value.where, path, expected, entry.value.description());
            numbers.push_back(number);
        }
        member(settings) = numbers;
    };
    const auto write = [=](const Settings& settings) { return write_numbers(member(settings)); };
    return {path, scope, expected, read, write};
}

}  // namespace ako
