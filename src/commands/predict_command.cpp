// See predict_command.h.
#include "src/commands/predict_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/commands/chosen_mode.h"
#include "src/native_peer/training_data.h"
#include "src/predict/prediction_page.h"
#include "src/predict/strategy_text.h"

namespace ako {

ExitStatus predict(const PredictOptions& given) {
    PredictOptions options = with_run_folder(given);
    Settings settings = read_for_all_modes(options.file, options.overrides);
    Grounds grounds;
    const std::vector<MachineProfile> profiles = read_profiles(options, settings, grounds);
    if (settings.model.kind == ModelKind::external)  // its program may have said another
        settings.training.batch.local = profiles.front().gradients.front().batch;
    const PredictionQuestion question = question_of(options, settings, grounds);
    const PredictionBase base = base_of(options, settings, profiles);
    const Prediction prediction = predict(question, base);
    StrategyPrediction strategies;
    if (options.strategies) strategies = predict_strategies(question, profiles, settings);
    if (options.json) {
        auto json = prediction_json(prediction, grounds);
        json["training_samples"] = training_set_size(settings);
        if (options.strategies) json["strategies"] = strategies_json(strategies);
        fmt::print("{}\n", json.dump(1));
        return exit_ok;
    }
    const auto rates_of = [&](const Predicted& cell) { return rates_for(question, base, cell); };
    const std::string headline = headline_text(prediction, options.goal, rates_of);
    if (!options.output.empty())
        fmt::print("page: {}\n\n",
                   write_prediction_page(prediction, headline, grounds,
                                         settings.run + ", predicted", options.output));
    fmt::print("{}\n", headline);
    for (const std::string& ground : grounds) fmt::print("{}\n", ground);
    fmt::print("{}{}", tables_text(prediction), peaks_text(prediction));
    if (options.strategies) fmt::print("{}", strategies_text(strategies));
    return exit_ok;
}

}  // namespace ako
