// Kubernetes: a run is an indexed Job with what belongs to it, given to kubectl as a folder of
// kustomize. Data are in a claim named ako-data; what peers write is in a claim of the run. One
// thread.
#pragma once

#include "src/engines/engine.h"

namespace ako {

class KubernetesEngine final : public Engine {
  public:
    std::string_view word() const override { return "kubernetes"; }
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

/// What `kubectl get job,pods -o json` says of a run. Pure. Throws StartupError for what is no
/// JSON.
EngineState kubernetes_state(const std::string& said);

}  // namespace ako
