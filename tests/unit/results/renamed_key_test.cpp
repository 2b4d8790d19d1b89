// What an older program wrote is read: it said "images" where "samples" stands now.
#include "src/results/renamed_key.h"

#include <doctest/doctest.h>

#include <string>

#include "src/results/metrics_line.h"
#include "src/results/peer_result.h"
#include "tests/contains.h"

namespace ako::renamed_key_test {

namespace {

std::string by_older_program(std::string text) {
    for (const auto& [now, before] : {std::pair(R"("samples":)", R"("images":)"),
                                      std::pair(R"("samples_per_s":)", R"("images_per_s":)")}) {
        const std::string key = now;
        for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
            text.replace(at, key.size(), before);
    }
    return text;
}

}  // namespace

TEST_CASE("the name of today counts, and only where it is missing the one of before") {
    const auto key = [](const char* json) {
        return key_in(nlohmann::ordered_json::parse(json), "samples_per_s");
    };
    CHECK(key(R"({"samples_per_s": 1})") == "samples_per_s");
    CHECK(key(R"({"images_per_s": 1})") == "images_per_s");
    CHECK(key(R"({"images_per_s": 1, "samples_per_s": 2})") == "samples_per_s");
    CHECK(key(R"({"images": 1})") == "samples_per_s");
    CHECK(key_in(nlohmann::ordered_json::parse(R"({"images": 1})"), "rounds") == "rounds");
}

TEST_CASE("an older program's line of metrics has the same values") {
    MetricsLine line;
    line.phase = "training";
    line.samples = 3168;
    line.samples_per_s = 3144.5;
    line.links.emplace_back();
    line.links[0].samples = 78976;
    line.links[0].samples_per_s = 512.5;
    const std::string text = to_json_text(line);
    const std::string older = by_older_program(text);
    CHECK_FALSE(test::contains(older, "samples"));
    const auto read = parse_metrics_line(older);
    REQUIRE(read);
    CHECK(read->samples == 3168);
    CHECK(read->samples_per_s == 3144.5);
    CHECK(to_json_text(*read) == text);
}

TEST_CASE("an older program's result has the same values") {
    PeerResult result;
    result.name = "a";
    result.samples = 47040;
    result.samples_total = 188160;
    result.lost_shards = {{"b", 15000, 7712}};
    result.left_peers = {{"c", 812, 0.31, 15000, 7000}, {"d", 800, 0.3}};
    result.shards = {{"a", 15000, 47040}};
    result.seen = Seen{60000, 3, 59800, 74};
    result.figures = TrainingFigures{};
    result.figures->samples_per_s = 640;
    const std::string text = result_line(result);
    const std::string older = by_older_program(text);
    CHECK_FALSE(test::contains(older, "\"samples\""));
    CHECK_FALSE(test::contains(older, "samples_per_s"));
    const auto read = parse_result_line(older);
    REQUIRE(read);
    CHECK(read->samples == 47040);
    CHECK(read->lost_shards[0].unseen() == 7288);
    CHECK(read->left_peers[0].unseen() == 8000);
    CHECK(read->seen->items == 60000);
    CHECK(result_line(*read) == text);
}

}  // namespace ako::renamed_key_test
