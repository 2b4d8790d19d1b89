// Text that somebody else wrote (a file's name, a message of a library, a field of a frame), made
// safe to show: what a terminal would obey, or what would make a line read otherwise than it is,
// becomes a question mark. That is
//
//   control characters of ASCII, line ends among them, and DEL
//   C1 control characters, U+0080 to U+009F: U+009B begins a sequence as ESC [ does
//   bytes that are not UTF-8 (RFC 3629); a terminal of 8 bits takes some of them for C1
//   marks that turn the direction of writing, and the line and paragraph separators
//
// Everything else stays as it is. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ako {

/// A letter of a text: its code point, and the bytes it has in UTF-8.
struct Letter {
    char32_t code = 0;
    std::size_t bytes = 0;
};

/// The first letter of a text that is not empty; nothing if its bytes are not UTF-8.
inline std::optional<Letter> first_letter(std::string_view text) {
    const auto byte = [text](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    if (byte(0) < 0x80) return Letter{byte(0), 1};
    const std::size_t bytes = byte(0) >> 5 == 0x6    ? 2
                              : byte(0) >> 4 == 0xe  ? 3
                              : byte(0) >> 3 == 0x1e ? 4
                                                     : 0;
    if (bytes == 0 || bytes > text.size()) return std::nullopt;
    char32_t code = byte(0) & (0x7fU >> bytes);
    for (std::size_t k = 1; k < bytes; ++k) {
        if (byte(k) >> 6 != 0x2) return std::nullopt;
        code = (code << 6) | (byte(k) & 0x3fU);
    }
    // Longer than it need be, half of a pair of UTF-16, or beyond Unicode: each has been a way
    // round a check.
    constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
        return std::nullopt;
    return Letter{code, bytes};
}

/// Does a terminal show it, and nothing else?
inline bool is_harmless(char32_t code) {
    const auto within = [code](char32_t first, char32_t last) {
        return first <= code && code <= last;
    };
    return code >= 0x20 && !within(0x7f, 0x9f) && !within(0x200e, 0x200f) &&
           !within(0x2028, 0x202e) && !within(0x2066, 0x2069) && code != 0x61c;
}

/// On one line.
inline std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const auto letter = first_letter(text);
        const std::size_t bytes = letter ? letter->bytes : 1;
        if (letter && is_harmless(letter->code))
            shown += text.substr(0, bytes);
        else
            shown += '?';
        text.remove_prefix(bytes);
    }
    return shown;
}

/// Would `printable` leave the text as it is?
inline bool is_printable(std::string_view text) {
    while (!text.empty()) {
        const auto letter = first_letter(text);
        if (!letter || !is_harmless(letter->code)) return false;
        text.remove_prefix(letter->bytes);
    }
    return true;
}

/// The beginning of a text that is printable, of at most so many bytes and whole letters.
inline std::string first_bytes(const std::string& text, std::size_t bytes_max) {
    std::size_t end = std::min(bytes_max, text.size());
    const auto within_letter = [&text](std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80;
    };
    while (end > 0 && within_letter(end)) --end;
    return text.substr(0, end);
}

/// The same for a message of several lines, whose ends stay.
inline std::string printable_lines(std::string_view text) {
    std::string shown;
    for (;;) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        shown += printable(text.substr(0, end));
        if (end == text.size()) return shown;
        shown += '\n';
        text.remove_prefix(end + 1);
    }
}

}  // namespace ako
