// What checkpoints cost the pace of training: rounds of LeNet per second without any, with the
// writing beside the training, and with the writing in the rounds themselves, in turn. A checkpoint
// is of so many parameter vectors, of which the mode ako with four peers keeps six.
//
//   checkpoint_cost FOLDER [--vectors 6] [--every ROUNDS] [--seconds 5] [--turns 12]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "models/catalog.h"
#include "models/workers.h"
#include "src/numbers/optimizer.h"
#include "src/results/checkpoint_folder.h"
#include "src/training/checkpoints.h"

namespace {

using namespace ako;

constexpr std::size_t batch_count = 64;

struct Options {
    std::string folder;
    std::map<std::string, double> numbers = {
        {"--vectors", 6}, {"--every", 50}, {"--seconds", 5}, {"--turns", 12}};

    std::size_t count(const char* name) const { return static_cast<std::size_t>(numbers.at(name)); }
};

/// One peer's rounds, with no exchange.
class Rounds {
  public:
    Rounds()
        : network_(make_network({ModelKind::lenet})),
          parameters_(network_->parameter_count()),
          gradient_(parameters_.size()),
          optimizer_(parameters_.size(), TrainingSettings{}, {}),
          images_(batch_count * 28 * 28, 0.5F),
          labels_(batch_count) {
        set_threads(1);
        network_->initialize(1, parameters_);
        for (std::size_t k = 0; k < images_.size(); ++k)
            images_[k] = static_cast<float>(k * 2654435761u >> 24) / 255;
        for (std::size_t k = 0; k < labels_.size(); ++k)
            labels_[k] = static_cast<std::uint8_t>(k % 10);
    }
    void make_one() {
        const auto nothing = [](Range) {};
        network_->gradient({images_, labels_, batch_count}, parameters_, gradient_, nothing,
                           nothing);
        optimizer_.apply({0, parameters_.size()}, gradient_, 1, parameters_, 1e-6);
        ++made_;
    }
    void save(Checkpoint& out, std::size_t vectors) const {
        out.id = {1, made_};
        for (std::size_t k = 0; k < vectors; ++k)
            out.put("vector" + std::to_string(k), parameters_);
    }
    std::size_t parameter_count() const { return parameters_.size(); }

  private:
    const std::unique_ptr<Network> network_;
    std::vector<float> parameters_, gradient_;
    Sgd optimizer_;
    std::vector<float> images_;
    std::vector<std::uint8_t> labels_;
    Round made_ = 0;
};

enum class Way { none, beside, within };
constexpr const char* names[] = {"none", "beside the training", "within the rounds"};

/// Rounds per second.
double measure(Rounds& rounds, Way way, Checkpoints& beside, CheckpointFolder& within,
               const Options& options) {
    using Seconds = std::chrono::duration<double>;
    const SteadyClock clock;
    const Time began = clock.now();
    Checkpoint own;
    std::size_t made = 0;
    while (Seconds(clock.now() - began).count() < options.numbers.at("--seconds")) {
        rounds.make_one();
        if (++made % options.count("--every") != 0 || way == Way::none) continue;
        Checkpoint* const room = way == Way::beside ? beside.room(0) : &own;
        if (room == nullptr) continue;
        rounds.save(*room, options.count("--vectors"));
        if (way == Way::beside)
            beside.filled();
        else if (const auto written = within.write(own); !written)
            throw StartupError(written.error().what);
    }
    const double seconds = Seconds(clock.now() - began).count();
    beside.flush();
    return static_cast<double>(made) / seconds;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void run(const Options& options) {
    Rounds rounds;
    SystemFiles files;
    const CheckpointOwner owner{"bench", "a", {"a"}, {}, {}, {}, ""};
    CheckpointFolder folder(files, options.folder, owner);
    std::size_t left_out = 0;
    Checkpoints beside(
        rounds.parameter_count(), nullptr, [&left_out](const std::string&) { ++left_out; },
        [](const std::string&) {}, [&folder](const Checkpoint& it) { return folder.write(it); });
    measure(rounds, Way::none, beside, folder, options);  // caches
    std::vector<double> pace[3], lost[3];
    for (std::size_t turn = 0; turn < options.count("--turns"); ++turn) {
        for (const Way way : {Way::none, Way::beside, Way::within}) {
            const auto place = static_cast<std::size_t>(way);
            pace[place].push_back(measure(rounds, way, beside, folder, options));
            lost[place].push_back(100 * (1 - pace[place].back() / pace[0].back()));
        }
    }
    fmt::print(
        "a checkpoint of {:.1f} MB every {} rounds; medians of {} turns of {} s\n",
        static_cast<double>(options.count("--vectors") * rounds.parameter_count() * 4) * 1e-6,
        options.count("--every"), options.count("--turns"), options.numbers.at("--seconds"));
    for (std::size_t place = 0; place < 3; ++place) {
        const auto [low, high] = std::minmax_element(lost[place].begin(), lost[place].end());
        fmt::print("{:20} {:7.1f} rounds/s, lost {:5.2f} % ({:.2f} to {:.2f})\n", names[place],
                   median(pace[place]), median(lost[place]), *low, *high);
    }
    fmt::print("left out, for the one before was still being written: {}\n", left_out);
}

}  // namespace

int main(int count, char** words) {
    Options options;
    for (int k = 1; k < count; ++k) {
        const std::string word = words[k];
        if (options.numbers.contains(word) && k + 1 < count)
            options.numbers[word] = std::atof(words[++k]);
        else
            options.folder = word;
    }
    if (options.folder.empty()) {
        fmt::print(stderr,
                   "usage: checkpoint_cost FOLDER [--vectors 6] [--every ROUNDS] "
                   "[--seconds 5] [--turns 12]\n");
        return 2;
    }
    try {
        run(options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "checkpoint_cost: {}\n", error.what());
        return 3;
    }
    return 0;
}
