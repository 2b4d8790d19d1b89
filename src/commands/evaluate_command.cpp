#include "src/commands/evaluate_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "ako/error.h"
#include "models/catalog.h"
#include "models/safetensors.h"
#include "models/softmax_cross_entropy.h"
#include "models/workers.h"
#include "src/config/cluster_file.h"
#include "src/native_peer/training_data.h"
#include "src/results/number_text.h"
#include "src/screen/confusion_matrix.h"
#include "src/training/evaluation.h"

namespace ako {

namespace {

/// What a terminal or a page has at least.
constexpr std::size_t columns = 80;

std::string config_of(const EvaluateOptions& options) {
    if (!options.config.empty()) return options.config;
    std::error_code ignored;
    if (std::filesystem::is_directory(options.model, ignored)) {
        const auto inside = std::filesystem::path(options.model) / "model.safetensors";
        const bool there = std::filesystem::exists(inside, ignored);
        throw StartupError(options.model + ": a folder, expected a model",
                           there ? "did you mean " + inside.string() + "?"
                                 : "a run that has agreed leaves model.safetensors in its folder");
    }
    const auto beside = std::filesystem::path(options.model).parent_path() / "config.yaml";
    if (std::filesystem::exists(beside, ignored)) return beside.string();
    throw StartupError(beside.string() + ": there is no such file",
                       "say with --config which cluster file the model is of");
}

/// The highest score's place; nothing if a score is not finite.
std::optional<std::size_t> answer_of(std::span<const float> scores) {
    if (!std::all_of(scores.begin(), scores.end(),
                     [](float score) { return std::isfinite(score); }))
        return std::nullopt;
    return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

struct Judgement {
    Evaluation sum;
    std::optional<ConfusionMatrix> confusion;  ///< nothing for a network without classes
};

/// In the same slices as the training's evaluations, so that the same samples give the same sums.
Judgement judge(Network& network, const std::vector<float>& parameters, const TestSet& test_set) {
    Judgement judgement;
    for (std::size_t first = 0; first < test_set.count; first += evaluation_slice_default) {
        const std::size_t count = std::min(evaluation_slice_default, test_set.count - first);
        const Batch batch = test_set.slice(first, count);
        const std::span<const float> scores = network.scores(batch, parameters);
        const std::size_t classes = scores.size() / count;
        const Evaluation slice = classes == 0
                                     ? network.evaluate(batch, parameters)
                                     : softmax_cross_entropy(scores, batch.labels, classes);
        judgement.sum.loss_sum += slice.loss_sum;
        judgement.sum.correct += slice.correct;
        judgement.sum.count += slice.count;
        if (classes == 0) continue;
        if (!judgement.confusion) judgement.confusion.emplace(classes);
        for (std::size_t k = 0; k < count; ++k) {
            if (const auto answer = answer_of(scores.subspan(k * classes, classes)))
                judgement.confusion->add(batch.labels[k], *answer);
            else
                judgement.confusion->add_unanswered(batch.labels[k]);
        }
    }
    return judgement;
}

}  // namespace

ExitStatus evaluate(const EvaluateOptions& options) {
    const Settings settings = read_cluster_file(config_of(options), options.overrides);
    const auto network = make_network(settings.model);
    const std::vector<float> parameters = read_safetensors(options.model, network->tensors());
    TrainingData data(settings, DataParts::test);
    set_threads(settings.training.threads);
    const Judgement judgement = judge(*network, parameters, data.test_set());
    const auto count = static_cast<double>(judgement.sum.count);
    fmt::print("model: {}, {} parameters\n", options.model, grouped(parameters.size()));
    if (judgement.confusion)
        fmt::print("test set: {} samples of {}\n", grouped(judgement.sum.count),
                   settings.data.path);
    fmt::print("accuracy: {:.2f} %\n", 100 * static_cast<double>(judgement.sum.correct) / count);
    fmt::print("loss: {:.6f}\n", judgement.sum.loss_sum / count);
    if (judgement.confusion) fmt::print("\n{}", judgement.confusion->text(columns));
    if (!std::isfinite(judgement.sum.loss_sum)) {
        fmt::print(stderr, "ako: the loss is not finite: the model is of no use\n");
        return exit_numbers;
    }
    return exit_ok;
}

}  // namespace ako
