// The gradient clock: makes gradients of the user's data and notes when each layer asks for its
// parameters and is ready with their gradient. Nothing is trained. One thread, which computes;
// several clocks may share the data.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ako/network.h"
#include "src/config/cluster_settings.h"
#include "src/native_peer/training_data.h"
#include "src/predict/machine_profile.h"

namespace ako {

class GradientClock {
  public:
    /// Both outlive it.
    GradientClock(const Settings& settings, TrainingData& data);

    std::size_t parameter_count() const { return parameters_.size(); }

    /// Gradients of so many samples, made for so many seconds and some times at least. Seconds are
    /// those of the processor; of several threads beneath, those of the clock.
    GradientProfile profile(std::size_t batch, double for_s = usual_s);
    /// Seconds of a round's own part beside the gradient: the next batch, and the optimizer's step.
    double beside();
    /// Evaluates as a peer does, and holds from then on what a peer does besides: for what all of
    /// it takes of memory.
    void evaluate();

    static constexpr double usual_s = 2;

  private:
    std::vector<GradientStep> steps_of(const Batch& samples);

    const Settings& settings_;
    TrainingData& data_;
    const unsigned threads_;
    std::unique_ptr<Network> network_;
    std::vector<float> parameters_, gradient_;
    std::vector<float> evaluated_, initial_;  ///< copies of the parameters, once it evaluated
    std::unique_ptr<BatchSource> batches_;
};

}  // namespace ako
