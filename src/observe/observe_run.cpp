// See observe_run.h.
#include "src/observe/observe_run.h"

#include "src/config/fields.h"
#include "src/config/peer_list.h"
#include "src/system/build_info.h"

namespace ako {

ObservedRun observed_run(const Settings& settings, PeerIndex self) {
    ObservedRun run;
    run.run = settings.run;
    run.peer = settings.peers[self].name;
    run.mode = written_value(settings, "exchange.mode");
    run.model =
        settings.model.kind == ModelKind::layers ? "layers" : written_value(settings, "model.name");
    run.version = AKO_VERSION;
    run.commit = build_commit();
    for (PeerIndex peer = 0; peer < settings.peers.size(); ++peer) {
        const std::string& address = settings.peers[peer].address;
        const auto observed = observe_address(settings, peer);
        run.peers.push_back({settings.peers[peer].name, split_address(address, "", "").host,
                             observed ? observed->port : 0,
                             settings.peers[peer].role == Role::server});
    }
    return run;
}

}  // namespace ako
