// A line of a screen: text in UTF-8, piece by piece with how it is painted, whose columns can be
// counted and cut without breaking a letter or a colour. Values; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ako {

/// What a piece of text means; the colours follow from it.
enum class Paint { plain, strong, faint, good, notice, bad, loss, accuracy };

class ScreenLine {
  public:
    ScreenLine() = default;
    explicit ScreenLine(std::string_view text, Paint paint = Paint::plain) { add(text, paint); }

    ScreenLine& add(std::string_view text, Paint paint = Paint::plain);
    ScreenLine& add(const ScreenLine& other);
    /// Spaces up to this column; none if it is wider already.
    ScreenLine& pad_to(std::size_t columns);

    std::size_t columns() const;
    /// What goes to the terminal: at most so many columns, with or without colours.
    std::string text(std::size_t columns_max, bool colours) const;

  private:
    struct Piece {
        std::string text;
        Paint paint;
    };
    std::vector<Piece> pieces_;
};

/// Columns that a text takes: one per letter, as for every text shown here.
std::size_t columns_of(std::string_view text);
/// Of a heading and the names below it.
std::size_t column_width(std::string_view heading, const std::vector<std::string>& names);
/// At most so many columns; what is cut off ends in "~".
std::string shortened(std::string_view text, std::size_t columns);
/// Lines of at most so many columns, broken at spaces where there are some; all but the first begin
/// with `indent` spaces, if at least as much is left beside them.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace ako
