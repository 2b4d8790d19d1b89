// A prediction as a page: predict.html, one file that needs no network and no script, with a chart
// of the speed-up by machines for each rate and batch. The charts also lie beside it as files, in
// plots/. One thread.
#pragma once

#include <string>

#include "src/predict/prediction.h"
#include "src/predict/prediction_text.h"

namespace ako {

/// Writes it into `folder`, which is made unless it is there; `title`: what is predicted,
/// `headline`: what to do (headline_text). Returns the path of predict.html. Throws StartupError,
/// also where there is no gnuplot.
std::string write_prediction_page(const Prediction& prediction, const std::string& headline,
                                  const Grounds& grounds, const std::string& title,
                                  const std::string& folder);

}  // namespace ako
