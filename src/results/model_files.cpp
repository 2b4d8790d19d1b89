#include "src/results/model_files.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "models/safetensors.h"
#include "src/results/disk_reserve.h"

namespace ako {

ModelFiles::ModelFiles(FileLayer& files, std::string folder, const Settings& settings,
                       std::string peer, std::vector<Tensor> tensors)
    : files_(files),
      folder_(std::move(folder)),
      run_(settings.run),
      peer_(std::move(peer)),
      epochs_(settings.training.epochs),
      tensors_(std::move(tensors)) {}

std::map<std::string, std::string> ModelFiles::metadata(
    const std::optional<Verdict>& verdict) const {
    std::map<std::string, std::string> stated = {{"run", run_}, {"peer", peer_}};
    if (!verdict) return stated;
    stated["accuracy"] = fmt::format("{:.4f}", verdict->accuracy);
    if (verdict->loss) stated["loss"] = fmt::format("{:.6f}", *verdict->loss);
    return stated;
}

Result<void> ModelFiles::write_checkpoint(std::span<const float> parameters,
                                          const Verdict& verdict) const try {
    const std::uint64_t reserve = end_bytes(parameters.size());
    if (auto enough = keep_reserve(files_, folder_, parameters.size_bytes(), reserve); !enough)
        return fail(Error::Kind::io, folder_ + "/checkpoint.safetensors: " + enough.error().what);
    auto stated = metadata(verdict);
    stated["epochs"] = fmt::format("{:.4f}", verdict.progress * epochs_);
    write_safetensors(folder_ + "/checkpoint.safetensors", tensors_, parameters, stated,
                      folder_ + "/checkpoint-before.safetensors");
    return {};
} catch (const std::exception& error) {  // nothing may leave the thread that writes
    return fail(Error::Kind::io, error.what());
}

void ModelFiles::write_model(const std::string& name, std::span<const float> parameters,
                             const std::optional<Verdict>& verdict,
                             const std::string& digest) const {
    auto stated = metadata(verdict);
    stated["digest"] = digest;
    write_safetensors(fmt::format("{}/{}.safetensors", folder_, name), tensors_, parameters,
                      stated);
}

}  // namespace ako
