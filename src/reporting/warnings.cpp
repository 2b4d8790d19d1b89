#include "src/reporting/warnings.h"

#include <fmt/format.h>

#include "ako/blocks.h"
#include "ako/ending.h"
#include "ako/mode_table.h"
#include "src/config/key_places.h"
#include "src/config/layer_fields.h"
#include "src/numbers/batch_plan.h"
#include "src/results/number_text.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

namespace {

/// So few are over before the learning rate matters, or anything has been exchanged.
constexpr std::uint64_t few_rounds = 2;
/// Red, green, blue and a mask: an image of no more rows than this is one with its channels first.
constexpr std::size_t channels_of_colour = 4;

class Warnings {
  public:
    explicit Warnings(const Settings& settings) : settings_(settings) {}

    void add(const std::string& key, const std::string& what, const std::string& remedy) {
        const StartupError placed = at_key(settings_, key, StartupError(what));
        lines.push_back(fmt::format("{}; {}", placed.what(), remedy));
    }

    std::vector<std::string> lines;

  private:
    const Settings& settings_;
};

}  // namespace

std::uint64_t rounds_per_peer(const Settings& settings, std::uint64_t sample_budget) {
    return BatchPlan(settings.training, place_among_workers(settings, 0).count)
        .rounds(sample_budget);
}

std::vector<std::string> warnings(const Settings& settings, const RunSize& run) {
    Warnings found(settings);
    const std::size_t blocks = Blocks(run.parameter_count).count();
    const std::size_t partitions = settings.exchange.partitions;
    const ModeEntry& mode = entry_of(settings.exchange);
    if (heeds(settings, "exchange.partitions") && partitions > blocks)
        found.add("exchange.partitions",
                  fmt::format("{} for the {} blocks of this network: in {} of {} rounds a link "
                              "carries nothing",
                              grouped(partitions), grouped(blocks), grouped(partitions - blocks),
                              grouped(partitions)),
                  fmt::format("auto sends as the links take it; a number means something up to {}",
                              grouped(blocks)));
    const std::uint64_t rounds = rounds_per_peer(settings, run.sample_budget);
    if (rounds <= few_rounds)
        found.add("training.epochs",
                  fmt::format("the {} samples of this run are trained on in {} of each peer",
                              grouped(run.sample_budget), rounds == 1 ? "one round" : "two rounds"),
                  "raise training.epochs, or lower training.batch");
    const Shape& input = settings.model.input;
    if (settings.model.kind == ModelKind::layers && input.height <= channels_of_colour &&
        input.width > channels_of_colour && input.channels > channels_of_colour)
        found.add("model.input",
                  fmt::format("{} is a height of {}, a width of {} and {} channels",
                              shape_text(input), input.height, input.width, input.channels),
                  fmt::format("channels come last: {}",
                              shape_text({input.width, input.channels, input.height})));
    if (settings.data.sharding == Sharding::elastic && !mode.shards_follow)
        found.add("data.sharding", "elastic is of the mode ako",
                  "in this mode every peer has its own share, as with disjoint");
    const std::size_t majority = settings.peers.size() / 2 + 1;
    const std::size_t begins_with = settings.exchange.start_peers_min;
    if (mode.arrivals == Arrivals::into_rows && begins_with > 0 && begins_with < majority)
        found.add("exchange.start_peers_min",
                  fmt::format("{} of {} peers may begin, but only {} can agree at the end",
                              begins_with, settings.peers.size(), majority),
                  fmt::format("where too few come later, each ends with a model of its own and "
                              "exit {}, after finish_timeout_s",
                              static_cast<int>(exit_no_agreement)));
    if (settings.training.keeps_checkpoints() && !mode.keeps_checkpoints())
        found.add(settings.training.until ? "training.until" : "training.checkpoint_every",
                  fmt::format("{} only models are kept, and nothing that --resume could go on from",
                              mode.why_no_checkpoints),
                  mode.goes_on()
                      ? "as long as one of its members lives the others have the state from it"
                      : "with consistency bsp and co-located servers there is");
    for (const auto& [path, value] : settings.retired)
        found.add(path, value + " is not heeded: it is no key any more",
                  "leave it out: " + field_at(path).meaning);
    return found.lines;
}

}  // namespace ako
