// `ako explore` on the command line. The search itself is a package of Python (src/python/ako/
// explore), for its engine and its samplers are; this checks the words and becomes it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace ako {

class ExploreWords {
  public:
    /// The app outlives this.
    explicit ExploreWords(CLI::App& app);
    /// If this command was said: its exit status, where it could not become the search. Throws
    /// StartupError.
    std::optional<int> run() const;

  private:
    /// For Python: all of it as one value (JSON).
    std::string said() const;

    CLI::App* explore_;
    std::string plan_;
    bool list_ = false, resume_ = false, plain_ = false;
    std::string scheduler_, output_dir_, store_ = "explore/store", dashboard_;
    unsigned slots_ = 0;
};

}  // namespace ako
