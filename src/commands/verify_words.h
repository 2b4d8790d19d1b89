// `ako verify` on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "src/commands/verify_command.h"

namespace ako {

class VerifyWords {
  public:
    /// The app outlives this.
    explicit VerifyWords(CLI::App& app);
    /// If this command was said: its exit status. Throws StartupError.
    std::optional<int> run() const;

  private:
    const std::unique_ptr<VerifyOptions> options_ = std::make_unique<VerifyOptions>();
    CLI::App* const verify_;
};

}  // namespace ako
