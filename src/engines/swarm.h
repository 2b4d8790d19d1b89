// Docker Swarm: a run is a stack with a service for each peer. What peers write stays in a volume
// on their node, from which `fetch` brings what lies on this one. One thread.
#pragma once

#include "src/engines/engine.h"

namespace ako {

class SwarmEngine final : public Engine {
  public:
    std::string_view word() const override { return "swarm"; }
    bool shares_files() const override { return false; }
    Settings settings_there(const Submission& submission) const override;
    std::vector<EngineFile> render(const Submission& submission) const override;
    void check(const Submission& submission) const override;
    std::vector<std::string> warnings(const Submission&) const override { return {}; }
    std::string submit(const Submission& submission) const override;
    EngineState state(const SubmittedRun& run) const override;
    std::vector<std::string> logs_command(const SubmittedRun& run, bool follow) const override;
    void cancel(const SubmittedRun& run) const override;
    std::string fetch(const SubmittedRun& run) const override;
};

/// What `docker stack ps` says in lines of name, state, error and node between '|', the newest of
/// each service first. Pure.
EngineState swarm_state(const std::string& said);

}  // namespace ako
