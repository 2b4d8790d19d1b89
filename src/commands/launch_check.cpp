#include "src/commands/launch_check.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "ako/error.h"
#include "ako/printable.h"
#include "models/catalog.h"
#include "src/config/key_places.h"
#include "src/launch/ports.h"
#include "src/native_peer/initial_parameters.h"
#include "src/native_peer/network_memory.h"
#include "src/native_peer/training_data.h"
#include "src/reporting/warnings.h"
#include "src/wiring/link_safety.h"

namespace ako {
namespace {

/// Refuses now what every peer would refuse later, of a network that ako itself trains.
void check_network(const Settings& settings) {
    const auto network = make_network(settings.model);
    check_memory(settings, plan_memory(settings, {network->parameter_count(),
                                                  training_data_bytes(settings)}));
    if (!settings.model.initial.empty()) initial_parameters(settings, *network);
    const TrainingData data(settings);
    check_links(settings);
    for (const std::string& note : data.notes()) fmt::print(stderr, "ako: {}\n", printable(note));
    for (const std::string& warning :
         warnings(settings, {network->parameter_count(), data.sample_budget()}))
        fmt::print(stderr, "ako: warning: {}\n", printable(warning));
}

}  // namespace

void check_program(const Settings& settings, const LaunchOptions& options) {
    const bool external = settings.model.kind == ModelKind::external;
    if (external == !options.program.empty()) {
        if (external && options.resume.said)
            throw StartupError("--resume, --from: with model: external there are no checkpoints",
                               "save and load them in the program, with the anchor");
        return;
    }
    if (external) make_network(settings.model);  // says what to do
    throw at_key(settings, "model",
                 StartupError("ako trains this model itself, and there is a program after --",
                              "leave the program out, or write `model: external`"));
}

void check_before(const Settings& settings, PortsAre ports) {
    if (settings.model.kind != ModelKind::external)
        check_network(settings);
    else
        check_links(settings);
    if (ports == PortsAre::here) require_free_ports(settings);
}

}  // namespace ako
