#include "src/screen/screen_line.h"

#include <algorithm>

namespace ako {

namespace {

/// Select Graphic Rendition (ECMA-48), in the sixteen colours that every terminal has.
std::string_view code_of(Paint paint) {
    switch (paint) {
        case Paint::plain:
            return "";
        case Paint::strong:
            return "\033[1m";
        case Paint::faint:
            return "\033[2m";
        case Paint::good:
            return "\033[32m";
        case Paint::notice:
            return "\033[33m";
        case Paint::bad:
            return "\033[31m";
        case Paint::loss:
            return "\033[36m";
        case Paint::accuracy:
            return "\033[32m";
    }
    return "";
}
constexpr std::string_view code_end = "\033[0m";

bool continues_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The bytes of the first so many letters.
std::string_view first_letters(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        if (continues_letter(text[end])) continue;
        if (count == 0) break;
        --count;
    }
    return text.substr(0, end);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    for (const char byte : text) columns += continues_letter(byte) ? 0 : 1;
    return columns;
}

std::size_t column_width(std::string_view heading, const std::vector<std::string>& names) {
    std::size_t width = heading.size();
    for (const std::string& name : names) width = std::max(width, name.size());
    return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (columns_of(text) <= columns) return std::string(text);
    if (columns == 0) return "";
    return std::string(first_letters(text, columns - 1)) + "~";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
    if (columns < 2 * indent) indent = 0;
    columns = std::max<std::size_t>(columns, 1);
    std::vector<std::string> lines;
    while (true) {
        const std::size_t margin = lines.empty() ? 0 : indent;
        const std::string_view fitting = first_letters(text, columns - margin);
        std::size_t end = fitting.size();
        if (end < text.size() && text[end] != ' ') {
            // What stands before the indent, as a time and a name, is no place to break at.
            const std::size_t space = fitting.rfind(' ');
            if (space != std::string_view::npos && space > indent - margin) end = space;
        }
        lines.push_back(std::string(margin, ' ').append(text.substr(0, end)));
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        if (text.empty()) return lines;
    }
}

ScreenLine& ScreenLine::add(std::string_view text, Paint paint) {
    if (!text.empty()) pieces_.push_back({std::string(text), paint});
    return *this;
}

ScreenLine& ScreenLine::add(const ScreenLine& other) {
    pieces_.insert(pieces_.end(), other.pieces_.begin(), other.pieces_.end());
    return *this;
}

ScreenLine& ScreenLine::pad_to(std::size_t columns) {
    const std::size_t used = this->columns();
    if (used < columns) add(std::string(columns - used, ' '));
    return *this;
}

std::size_t ScreenLine::columns() const {
    std::size_t columns = 0;
    for (const Piece& piece : pieces_) columns += columns_of(piece.text);
    return columns;
}

std::string ScreenLine::text(std::size_t columns_max, bool colours) const {
    std::string text;
    std::size_t left = columns_max;
    for (const Piece& piece : pieces_) {
        const std::string_view shown = first_letters(piece.text, left);
        left -= columns_of(shown);
        const std::string_view code = colours ? code_of(piece.paint) : "";
        text += code;
        text += shown;
        if (!code.empty()) text += code_end;
        if (left == 0) break;
    }
    return text;
}

}  // namespace ako
