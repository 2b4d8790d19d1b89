// Slurm: a run is one job, whose script has `ako launch` start the peers (slurm_allocation.h). The
// run folder lies on a path that all nodes share, as home folders do there. One thread.
#pragma once

#include "src/engines/engine.h"

namespace ako {

class SlurmEngine final : public Engine {
  public:
    std::string_view word() const override { return "slurm"; }
    bool shares_files() const override { return true; }
    Settings settings_there(const Submission& submission) const override;
    std::vector<EngineFile> render(const Submission& submission) const override;
    void check(const Submission& submission) const override;
    std::vector<std::string> warnings(const Submission& submission) const override;
    std::string submit(const Submission& submission) const override;
    EngineState state(const SubmittedRun& run) const override;
    std::vector<std::string> logs_command(const SubmittedRun& run, bool follow) const override;
    void cancel(const SubmittedRun& run) const override;
    std::string fetch(const SubmittedRun&) const override { return ""; }  // it lies there

  private:
    bool ends_within(const SubmittedRun& run, double seconds) const;
};

/// What `scontrol show job --oneliner` says of one job, or of the elements of an array. Pure.
EngineState slurm_state(const std::string& said);

}  // namespace ako
