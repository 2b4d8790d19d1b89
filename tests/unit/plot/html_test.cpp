// Pieces of pages: text stays text, and nothing comes from elsewhere.
#include "src/plot/html.h"

#include <doctest/doctest.h>

namespace ako::html_test {

TEST_CASE("text in a page is only text") {
    CHECK(html_text("<b>\"&") == "&lt;b&gt;&quot;&amp;");
    CHECK(html_table("a < b", {"x"}, {}).find("a &lt; b") != std::string::npos);
    const std::string page = html_page("t", "<p>x</p>");
    CHECK(page.find("<script") == std::string::npos);
    CHECK(page.find("http") == std::string::npos);
}

}  // namespace ako::html_test
