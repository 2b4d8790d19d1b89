// A Slurm allocation as its environment and `scontrol` tell of it.
#include "src/engines/slurm_allocation.h"

#include <doctest/doctest.h>

#include <set>

namespace ako::slurm_allocation_test {

TEST_CASE("tasks of nodes, as Slurm shortens them") {
    CHECK(tasks_of_nodes("2(x3),1") == std::vector<unsigned>{2, 2, 2, 1});
    CHECK(tasks_of_nodes("4") == std::vector<unsigned>{4});
    CHECK(tasks_of_nodes("").empty());
    CHECK(tasks_of_nodes("2(x").empty());
    CHECK(tasks_of_nodes("two").empty());
}

TEST_CASE("nodes with the addresses at which Slurm reaches them") {
    const auto nodes = nodes_told(
        "NodeName=n1 Arch=x86_64 NodeAddr=10.0.0.7 NodeHostName=h Port=1\n"
        "NodeName=n2 NodeAddr=n2.cluster State=IDLE\n");
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[0].node == "n1");
    CHECK(nodes[0].address == "10.0.0.7");
    CHECK(nodes[1].address == "n2.cluster");
}

TEST_CASE("outside of Slurm, and in a task of it, there is no allocation to use") {
    CHECK(!SlurmAllocation::here({}));
    CHECK(!SlurmAllocation::here({"12", "n[1-2]", "1(x2)", "1", "0"}));
}

TEST_CASE("each peer is a step of its own, which no other one ends") {
    const SlurmAllocation allocation("12", {{"n1", "10.0.0.1"}, {"n2", "10.0.0.2"}}, 3);
    const std::vector<std::string> words = allocation.start_words();
    const std::set<std::string> all(words.begin(), words.end());
    CHECK(words.front() == "srun");
    for (const char* word : {"--ntasks=1", "--cpus-per-task=3", "--exact", "--no-kill",
                             "--kill-on-bad-exit=0", "--nodelist={machine}"})
        CHECK(all.contains(word));
}

TEST_CASE("jobs side by side have other ports, below those of outgoing connections") {
    std::set<unsigned> ports;
    for (const char* job : {"1", "2", "186", "187"})
        ports.insert(SlurmAllocation(job, {}, 1).first_port());
    CHECK(ports.size() == 4);
    for (const unsigned port : ports) {
        CHECK(port >= 20'000);
        CHECK(port + 63 < 32'768);
    }
}

}  // namespace ako::slurm_allocation_test
