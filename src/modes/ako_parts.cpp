// See ako_parts.h.
#include "src/modes/ako_parts.h"

#include <utility>

namespace ako {
namespace {

FinishTimes finish_times(const ExchangeTimes& times) {
    return {times.finish_exchange, times.finish_linger, times.finish_timeout};
}

}  // namespace

AkoParts::AkoParts(const ModeSettings& mode_settings, std::span<float> initial_parameters,
                   Mailbox& own_mailbox, Outbox& own_outbox, Snapshots& snapshots)
    : settings(mode_settings),
      blocks(initial_parameters.size(), settings.block_elements),
      mailbox(own_mailbox),
      outbox(own_outbox),
      rows(settings.self, settings.peer_count(), blocks, initial_parameters, outbox, snapshots,
           settings.peer_count() == 1 ? Precision::float32 : settings.exchange.precision,
           settings.exchange.staleness_rounds_max > 0 ? MarksBy::round : MarksBy::time),
      roster(settings.self, settings.peer_count(), settings.times().answers_within),
      finish(
          rows.ledger(), roster,
          [this](PeerIndex peer, Header header)
              AKO_COMPUTE_THREAD { outbox.send(peer, std::move(header)); },
          finish_times(settings.times()), settings.process_id),
      relaying(rows.ledger(), roster, outbox),
      initial(initial_parameters, blocks, roster, settings.initial_of_lowest),
      beginning(settings, rows, roster, initial,
                [this](PeerIndex peer, Header header)
                    AKO_COMPUTE_THREAD { outbox.send(peer, std::move(header)); }),
      budget(settings, roster),
      stop(settings) {}

}  // namespace ako
