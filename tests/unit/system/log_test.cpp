// Where the log's notices go: to the console, or to a view as long as there is one.
#include "src/system/log.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "src/system/console.h"

namespace ako::log_test {

TEST_CASE("while a view shows the notices, the console gets none of them") {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    std::vector<std::string> shown;
    {
        Console console(ends[1], ends[1]);
        Log log("a", LogStyle::bare, console);
        log.notice()("before");
        log.show_in([&shown](const std::string& line) { shown.push_back(line); });
        log.notice()("with \033[31mview");
        log.detail()("a detail");
        log.show_in(nullptr);
        log.notice()("after");
    }
    close(ends[1]);
    std::array<char, 4096> buffer;
    const ssize_t count = read(ends[0], buffer.data(), buffer.size());
    close(ends[0]);
    REQUIRE(count > 0);
    const std::string text(buffer.data(), static_cast<std::size_t>(count));
    CHECK(text == "before\nafter\n");
    REQUIRE(shown.size() == 1);
    CHECK(shown[0].find("with ") != std::string::npos);
    CHECK(shown[0].find("\033") == std::string::npos);
}

}  // namespace ako::log_test
