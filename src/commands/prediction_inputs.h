// What a prediction starts from: profiles of machines, and what is asked of them. From the words of
// the command line and, where they say nothing, from the cluster file. Functions; one thread.
#pragma once

#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/predict/machine_profile.h"
#include "src/predict/prediction.h"
#include "src/predict/prediction_text.h"

namespace ako {

/// The folder of profiles where nobody says another.
inline constexpr const char* profiles_folder = "profiles";

struct PredictOptions {
    std::string file;
    std::vector<std::string> overrides = {};
    std::string profiles = profiles_folder;
    bool profiles_named = false;  ///< on the command line
    std::string run_folder = "";  ///< whose config.yaml `file` is; empty: of no run
    std::vector<std::string> runs = {};
    // Lists as text: "1,2,4", or "1..64", which doubles. Empty: what the file says.
    std::string machines = "", rates = "", batches = "", cores = "";
    double period_ms = 100;  ///< of a quota that `cores` makes
    double latency_ms = 0;
    double goodput = 0;  ///< 0: as usual
    double rounds = 0;   ///< of one machine to the target; 0: not known; likewise the next
    double noise_scale = 0;
    bool shared = false;   ///< machines are groups of this one
    bool divided = false;  ///< a batch is that of all machines together
    Goal goal = Goal::time;
    bool json = false;
    /// Also of work that is divided otherwise than Ako does it.
    bool strategies = false;
    std::string output = "";  ///< the folder for a page; empty: none
};

/// Where `file` is the folder of a run: the file in it, and that folder as the one to take profiles
/// from. Throws StartupError: beside a folder of profiles.
PredictOptions with_run_folder(PredictOptions options);

/// The machines in the order of the file's peers, as far as there are profiles with their names;
/// then whatever else is there. Adds what they rest on to `grounds`. Throws StartupError: none, or
/// one of another network.
std::vector<MachineProfile> read_profiles(const PredictOptions& options, const Settings& settings,
                                          Grounds& grounds);

/// Those of the machine that this runs on: others tell nothing of peers that are all here.
std::vector<MachineProfile> profiles_of_this_machine(std::vector<MachineProfile> profiles);

/// Throws StartupError: no list of numbers, or nothing says what links carry.
PredictionQuestion question_of(const PredictOptions& options, const Settings& settings,
                               Grounds& grounds);

/// What a prediction is of, for the settings of the file. The data set's files are looked at.
PredictionBase base_of(const PredictOptions& options, const Settings& settings,
                       std::vector<MachineProfile> profiles);

/// The numbers of such a list; `what` is its option, for complaints. Throws StartupError.
std::vector<double> numbers_in(const std::string& text, const std::string& what);

}  // namespace ako
