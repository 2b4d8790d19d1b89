// See verify_words.h.
#include "src/commands/verify_words.h"

#include "src/commands/file_words.h"

namespace ako {

VerifyWords::VerifyWords(CLI::App& app)
    : verify_(app.add_subcommand(
          "verify", "Train a run once more from its checkpoints: is it the same, bit for bit?")) {
    verify_
        ->add_option("RUN", options_->folder, "a run's folder, with the checkpoints of all peers")
        ->required();
    add_overrides(*verify_, options_->overrides);
}

std::optional<int> VerifyWords::run() const {
    if (!verify_->parsed()) return std::nullopt;
    return verify(*options_);
}

}  // namespace ako
