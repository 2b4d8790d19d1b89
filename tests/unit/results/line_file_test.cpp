// Whole lines, also after a process was killed and while a disk has no room.
#include "src/results/line_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ako/error.h"

namespace ako::line_file_test {

namespace {

std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// No file of this process becomes longer, as on a full disk, while it lives.
class NoRoom {
  public:
    explicit NoRoom(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit now = before_;
        now.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~NoRoom() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*const handler_)(int);
};

struct Bench {
    Bench() { std::filesystem::remove(path); }
    ~Bench() { std::filesystem::remove(path); }
    LineFile file(bool goes_on) {
        return LineFile(path, goes_on, "metrics",
                        [this](const std::string& text) { said.push_back(text); });
    }
    const std::string path = std::filesystem::temp_directory_path() / "ako-line-file-test.jsonl";
    std::vector<std::string> said;
};

}  // namespace

TEST_CASE("a file begins anew, or goes on behind its last whole line") {
    Bench bench;
    std::ofstream(bench.path) << "one\ntwo\nhal";
    bench.file(true).write("three");
    CHECK(content(bench.path) == "one\ntwo\nthree\n");
    bench.file(false).write("anew");
    CHECK(content(bench.path) == "anew\n");
    CHECK(bench.said.empty());
}

TEST_CASE("a disk without room costs the lines of that time, half of none stays, both are said") {
    Bench bench;
    LineFile file = bench.file(false);
    file.write("one");
    {
        const NoRoom full(6);  // and so two bytes of the next line fit
        file.write("two");
        file.write("three");
        CHECK(content(bench.path) == "one\n");  // also if it ends here
        CHECK(bench.said.size() == 1);
        CHECK(bench.said[0].find("no metrics while it cannot be written") != std::string::npos);
    }
    file.write("four");
    file.write("five");
    CHECK(content(bench.path) == "one\nfour\nfive\n");
    CHECK(bench.said.size() == 2);
    CHECK(bench.said[1].find("metrics go on, 2 lines were lost") != std::string::npos);
}

TEST_CASE("of what is no file nothing is taken out, and each line is tried") {
    std::vector<std::string> said;
    LineFile full("/dev/full", true, "metrics",
                  [&said](const std::string& text) { said.push_back(text); });
    full.write("one");
    full.write("two");
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("No space left on device") != std::string::npos);
}

TEST_CASE("a file that cannot be opened is said with its name") {
    CHECK_THROWS_AS(LineFile("/nowhere/lines", false, "metrics", {}), StartupError);
    CHECK_THROWS_AS(LineFile("/nowhere/lines", true, "metrics", {}), StartupError);
}

}  // namespace ako::line_file_test
