// Lines are told apart: by colour alone, by symbol alone, and in a run of as many peers as can be.
#include "src/plot/line_style.h"

#include <doctest/doctest.h>

#include <set>
#include <tuple>

namespace ako::line_style_test {

TEST_CASE("no two of 64 lines look alike, nor do two of the first few without their colours") {
    std::set<std::tuple<std::string, unsigned, std::vector<unsigned>>> styles;
    std::set<std::tuple<unsigned, std::vector<unsigned>>> colourless;
    std::set<std::string> colours;
    constexpr std::size_t peers = 64, few = 16;
    for (std::size_t number = 0; number < peers; ++number) {
        styles.insert({series_colour(number), series_symbol(number), series_dashes(number)});
        if (number < few) colourless.insert({series_symbol(number), series_dashes(number)});
        if (number < series_colours()) colours.insert(series_colour(number));
    }
    CHECK(styles.size() == peers);
    CHECK(colourless.size() == few);
    CHECK(colours.size() == series_colours());
    CHECK(series_dashes(0).empty());
}

}  // namespace ako::line_style_test
