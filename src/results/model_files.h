// The parameters as files of a run folder: checkpoints on the way, and the model at the end.
// Immutable; any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/error.h"
#include "ako/frame.h"
#include "ako/network.h"
#include "src/config/cluster_settings.h"
#include "src/system/file_layer.h"

namespace ako {

class ModelFiles {
  public:
    /// `peer` is who writes; `tensors` are those of the network.
    /// `files` outlives this.
    ModelFiles(FileLayer& files, std::string folder, const Settings& settings, std::string peer,
               std::vector<Tensor> tensors);

    /// Writes checkpoint.safetensors; the one before becomes checkpoint-before.safetensors. That
    /// the end's reserve (disk_reserve.h) would not stay free is an error, too. An
    /// error leaves both as they were.
    Result<void> write_checkpoint(std::span<const float> parameters, const Verdict& verdict) const;

    /// Writes `name`.safetensors. Throws StartupError.
    void write_model(const std::string& name, std::span<const float> parameters,
                     const std::optional<Verdict>& verdict, const std::string& digest) const;

  private:
    std::map<std::string, std::string> metadata(const std::optional<Verdict>& verdict) const;

    FileLayer& files_;
    const std::string folder_;
    const std::string run_;
    const std::string peer_;
    const double epochs_;
    const std::vector<Tensor> tensors_;
};

}  // namespace ako
