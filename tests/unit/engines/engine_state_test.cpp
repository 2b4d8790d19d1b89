// What engines say of a run, in their own words, and what is made of it.
#include <doctest/doctest.h>

#include "ako/error.h"
#include "src/engines/kubernetes.h"
#include "src/engines/slurm.h"
#include "src/engines/swarm.h"

namespace ako::engine_state_test {

TEST_CASE("a job of Slurm that waits, runs, has ended") {
    const EngineState waits =
        slurm_state("JobId=7 JobName=x JobState=PENDING Reason=Resources Restarts=0 NodeList=\n");
    CHECK(waits.phase == EnginePhase::queued);
    CHECK(waits.words == "PENDING (Resources)");
    const EngineState runs =
        slurm_state("JobId=7 JobState=RUNNING Reason=None Restarts=2 NodeList=n[1-2]\n");
    CHECK(runs.phase == EnginePhase::running);
    CHECK(runs.words == "RUNNING");
    CHECK(runs.requeues == 2);
    CHECK(runs.machines == std::vector<std::string>{"n[1-2]"});
    CHECK(slurm_state("JobState=COMPLETED Reason=None Restarts=0 NodeList=n1\n").phase ==
          EnginePhase::ended);
    CHECK(slurm_state("JobState=NODE_FAIL Reason=None\n").phase == EnginePhase::ended);
}

TEST_CASE("of an array of Slurm's what runs counts before what waits, and that before what ended") {
    const EngineState state = slurm_state(
        "JobId=8 ArrayTaskId=1 JobState=COMPLETED Reason=None Restarts=0 NodeList=n1\n"
        "JobId=9 ArrayTaskId=2 JobState=RUNNING Reason=None Restarts=1 NodeList=n2\n"
        "JobId=7 ArrayTaskId=3 JobState=PENDING Reason=Resources Restarts=0 NodeList=(null)\n");
    CHECK(state.phase == EnginePhase::running);
    CHECK(state.words == "COMPLETED, PENDING (Resources), RUNNING");
    CHECK(state.requeues == 1);
}

TEST_CASE("the services of a Swarm's stack, and what was started again") {
    const EngineState state = swarm_state(
        "s_a.1|Running 3 seconds ago||n1\n"
        "s_b.1|Preparing 1 second ago||n2\n"
        "s_b.1|Failed 2 seconds ago|\"task: non-zero exit (137)\"|n1\n");
    CHECK(state.phase == EnginePhase::running);
    CHECK(state.words == "1 Preparing, 1 Running");
    CHECK(state.requeues == 1);
    CHECK(state.machines == std::vector<std::string>{"n1", "n2"});
    CHECK(swarm_state("s_a.1|Complete 3 seconds ago||n1\n").phase == EnginePhase::ended);
    const EngineState waits = swarm_state("s_a.1|Pending 9 seconds ago|\"no suitable node\"|\n");
    CHECK(waits.phase == EnginePhase::queued);
    CHECK(waits.words == "1 Pending (\"no suitable node\")");
}

TEST_CASE("the job and the pods of Kubernetes") {
    const EngineState state = kubernetes_state(
        R"({"items": [{"kind": "Job", "status": {"active": 2, "failed": 1}},
                      {"kind": "Pod", "spec": {"nodeName": "k1"}, "status": {"phase": "Running"}},
                      {"kind": "Pod", "spec": {}, "status": {"phase": "Pending"}}]})");
    CHECK(state.phase == EnginePhase::running);
    CHECK(state.words == "1 Pending, 1 Running");
    CHECK(state.requeues == 1);
    CHECK(state.machines == std::vector<std::string>{"k1"});
    const EngineState failed = kubernetes_state(
        R"({"items": [{"kind": "Job", "status": {"conditions":
             [{"type": "Failed", "status": "True", "message": "index 0 failed"}]}}]})");
    CHECK(failed.phase == EnginePhase::ended);
    CHECK(failed.words == " (index 0 failed)");
    CHECK(kubernetes_state(R"({"items": []})").words == "taken away");
    CHECK_THROWS_AS(kubernetes_state("error: no context"), StartupError);
}

}  // namespace ako::engine_state_test
