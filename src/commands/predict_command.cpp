// See predict_command.h.
#include "src/commands/predict_command.h"

#include <fmt/format.h>

#include "src/config/cluster_file.h"
#include "src/predict/prediction_page.h"
#include "src/predict/strategy_text.h"

namespace ako {

ExitStatus predict(const PredictOptions& options) {
    const Settings settings = read_cluster_file(options.file, options.overrides);
    Grounds grounds;
    const std::vector<MachineProfile> profiles = read_profiles(options, settings, grounds);
    const PredictionQuestion question = question_of(options, settings, grounds);
    const Prediction prediction = predict(options, settings, profiles, question);
    StrategyPrediction strategies;
    if (options.strategies) strategies = predict_strategies(question, profiles, settings);
    if (options.json) {
        const std::string json = json_text(prediction, grounds);
        fmt::print("{}", options.strategies ? with_strategies(json, strategies) : json);
        return exit_ok;
    }
    if (!options.output.empty())
        fmt::print("page: {}\n\n",
                   write_prediction_page(prediction, grounds, settings.run + ", predicted",
                                         options.output));
    fmt::print("{}\n", headline_text(prediction));
    for (const std::string& ground : grounds) fmt::print("{}\n", ground);
    fmt::print("{}{}", tables_text(prediction), peaks_text(prediction));
    if (options.strategies) fmt::print("{}", strategies_text(strategies));
    return exit_ok;
}

}  // namespace ako
