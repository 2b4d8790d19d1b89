// Pieces of an HTML page. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

namespace ako {

/// With &, <, > and quotes as entities.
std::string html_text(const std::string& text);

/// A cell of a table: HTML, and whether it is a number, which is set to the right.
struct HtmlCell {
    std::string html;
    bool number = false;
    bool header = false;   ///< of its row
    std::size_t rows = 1;  ///< it spans
};

/// Of a number as text.
inline HtmlCell number_cell(const std::string& text) { return {html_text(text), true}; }

/// A table in a box of its own that scrolls if the page is narrower. `caption` is text.
std::string html_table(const std::string& caption, const std::vector<std::string>& heads,
                       const std::vector<std::vector<HtmlCell>>& rows);

/// The page: `body` is HTML; nothing in it comes from elsewhere.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace ako
