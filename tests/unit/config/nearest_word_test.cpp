// Which word was meant.
#include "src/config/nearest_word.h"

#include <doctest/doctest.h>

#include "complaint.h"
#include "tests/contains.h"

namespace ako::nearest_word_test {

using test::contains;

namespace {

const std::vector<std::string> modes = {"ako", "ring", "parameter-server", "local-sgd", "local"};

std::string with(const std::string& override_text) {
    return test::complaint(
        "{run: x, model: mlp, data: {path: d}, peers: [{name: anna, address: 'h:1'}, "
        "{name: bert, address: 'h:2'}]}",
        "c.yaml", {override_text});
}

}  // namespace

TEST_CASE("letters that are swapped, left out, too many, or large") {
    CHECK(edit_distance("rnig", "ring") == 1);
    CHECK(edit_distance("ring", "ring") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("lauch", "launch") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(nearest_word("rnig", modes) == "ring");
    CHECK(nearest_word("RING", modes) == "ring");
    CHECK(nearest_word("param", modes) == "parameter-server");
    CHECK(nearest_word("parameter_server", modes) == "parameter-server");
    CHECK(nearest_word("local_sgd", modes) == "local-sgd");
    CHECK(nearest_word("loca", modes) == "local");
    CHECK(nearest_word("server", modes) == "parameter-server");
    CHECK(nearest_word("federated", modes) == "");
    CHECK(nearest_word("xyz", modes) == "");
    CHECK(nearest_word("", modes) == "");
    CHECK(did_you_mean("rnig", modes) == "did you mean ring?");
    CHECK(did_you_mean("xyz", modes) == "");
}

TEST_CASE("a complaint about a word of few choices names the one that was meant") {
    CHECK(with("exchange.mode=rnig").ends_with("found rnig (did you mean ring?)"));
    CHECK(with("model=lenett").ends_with("(did you mean lenet?)"));
    CHECK(with("data.format=numpy").ends_with("(did you mean npy?)"));
    CHECK(with("training.schedule=cosin").ends_with("(did you mean cosine?)"));
    CHECK(with("training.nesterov=True").ends_with("(did you mean true?)"));
    CHECK(with("exchange.partitions=atuo").ends_with("(did you mean auto?)"));
    CHECK(with("exchange.consistency=asinc").ends_with("(did you mean async?)"));
    CHECK(with("exchange.consistency=ssp").ends_with("(say by how many rounds: {ssp: 3})"));
    CHECK(with("peers.0.role=sever").ends_with("(did you mean server?)"));
    CHECK(with("exchange.link_limits=[{from: ana, to: bert, mbit: 1}]")
              .ends_with("found ana (did you mean anna?)"));
    CHECK(contains(with("model={input: [8, 8, 1], layers: [maxpool: 2, dense: 2]}"),
                   "did you mean max_pool?"));
    CHECK(contains(with("model={input: [8, 8, 1], layers: [conv: {outputs: 2, windw: 3}]}"),
                   "did you mean window?"));
    CHECK(with("exchange.mode=federated").ends_with("found federated"));
}

}  // namespace ako::nearest_word_test
