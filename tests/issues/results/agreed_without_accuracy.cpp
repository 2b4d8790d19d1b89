// A program that evaluated nothing ended by exit 4, "no agreement was reached", though all its
// peers held the same: the summary looked for an accuracy. Since then rounds count as well.
#include <doctest/doctest.h>

#include "src/results/summary.h"

namespace ako::agreed_without_accuracy {

namespace {

PeerResult finished(const std::string& name, Role role, std::uint64_t rounds) {
    PeerResult result;
    result.name = name;
    result.role = role;
    result.rounds = rounds;
    result.agreed = true;
    result.digest = rounds > 0 ? "d" : "";
    return result;
}

}  // namespace

TEST_CASE("workers that agreed are finishers, whether or not anybody evaluated") {
    Summary summary;
    summary.peers = {finished("a", Role::worker, 9), finished("b", Role::worker, 9)};
    CHECK(summary.finished_with() == std::vector<std::string>{"a", "b"});
    CHECK(summary.replicas_identical());
    CHECK(summary.exit_status() == exit_ok);
}

TEST_CASE("one that only serves has no replica") {
    Summary summary;
    summary.peers = {finished("s", Role::server, 0)};
    CHECK(summary.finisher() == nullptr);
}

}  // namespace ako::agreed_without_accuracy
