// The page of a run: what it says of the run, and that its charts are in it and beside it.
#include "src/plot/run_page.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>

#include "ako/error.h"
#include "tests/contains.h"
#include "tests/unit/plot/recorded_run.h"

namespace ako::run_page_test {

using test::contains;
using test::line_at;
using test::RecordedRun;

namespace {

std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string page_of(const RecordedRun& folder) {
    return content(write_run_page(read_run(folder.path()), folder.path()));
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

}  // namespace

TEST_CASE("the page of a run that is over says how, with what, and shows its charts") {
    const RecordedRun folder;
    for (const char* const peer : {"a", "b", "c"})
        for (const double seconds : {1.0, 2.0, 3.0}) folder.add(peer, line_at(seconds, 3));
    folder.write("config.yaml", test::config_text);
    folder.write("summary.json", test::summary_text);
    folder.write("curve.json", test::curve_text);
    const std::string page = page_of(folder);
    CHECK(contains(page, "<h1>mnist</h1>"));
    CHECK(contains(page, "Over after 0:19 with a test accuracy of 99.29 %; lost on the way: c."));
    CHECK(contains(page, "replicas identical: yes (ddea2afce146b94f) on a, b"));
    CHECK(count(page, "<td>lost, while training</td>") == 1);
    CHECK(contains(page, "<th scope=\"row\">training.epochs</th><td>4</td>"));
    CHECK_FALSE(contains(page, "exchange.local_rounds"));
    CHECK(count(page, "<figure>") == 5);
    CHECK(count(page, "<figcaption class=\"key\">") == 4);
    CHECK_FALSE(contains(page, "processes</th>"));
    CHECK_FALSE(contains(page, "Without a value"));
    CHECK_FALSE(contains(page, "<script"));
    for (const char* const name : {"loss", "accuracy", "samples", "partitions", "staleness"})
        CHECK(contains(content(folder.file("plots/" + std::string(name) + ".svg")), "</svg>"));
}

TEST_CASE("of a run under way it says how far it is, what is lacking, and who was started again") {
    const RecordedRun folder;
    for (const double seconds : {1.0, 2.0, 1.0}) folder.add("a", line_at(seconds, 2));
    std::filesystem::create_directory(folder.file("plots"));
    folder.write("plots/accuracy.svg", "of an earlier run");
    folder.write("plots/mine.svg", "of somebody else");
    const std::string page = page_of(folder);
    CHECK(contains(page, "1 % of the budget after 0:03. There is no summary yet"));
    CHECK(contains(page, "Without a value so far: test accuracy."));
    CHECK(contains(page, "the peer was started again"));
    CHECK(contains(page, "processes</th>"));
    CHECK_FALSE(contains(page, "<h2>Settings</h2>"));
    CHECK_FALSE(std::filesystem::exists(folder.file("plots/accuracy.svg")));
    CHECK(std::filesystem::exists(folder.file("plots/mine.svg")));
}

TEST_CASE("a folder that cannot be made is named") {
    const RecordedRun folder;
    folder.add("a", line_at(1, 2));
    folder.write("file", "");
    const RunRecord run = read_run(folder.path());
    CHECK_THROWS_AS(write_run_page(run, folder.file("file")), StartupError);
}

}  // namespace ako::run_page_test
