// The words of the commands for engines of shared clusters: submit, jobs, logs and cancel; and of
// the attendant, which is not for people. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/commands/jobs_command.h"
#include "src/commands/submit_command.h"

namespace ako {

class EngineWords {
  public:
    /// Adds them.
    explicit EngineWords(CLI::App& app);
    EngineWords(const EngineWords&) = delete;
    EngineWords& operator=(const EngineWords&) = delete;

    /// Runs the one that was said, and returns its exit status; nothing if none was.
    std::optional<int> run() const;

  private:
    SubmitOptions submit_options_;
    JobsOptions jobs_options_;
    LogsOptions logs_options_;
    std::string cancelled_;
    std::vector<std::string> attended_;
    const CLI::App* const submit_;
    const CLI::App* const jobs_;
    const CLI::App* const logs_;
    const CLI::App* const cancel_;
    const CLI::App* const attend_;
};

}  // namespace ako
