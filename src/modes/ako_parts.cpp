// See ako_parts.h.
#include "src/modes/ako_parts.h"

#include <utility>

namespace ako {
namespace {

FinishTimes finish_times(const ExchangeTimes& times) {
    return {times.finish_exchange, times.finish_linger, times.finish_timeout};
}

/// Nothing: it is chosen. Where a cycle is to take a number of rounds, or nothing stands in for
/// what is not there yet, nobody waits unless that is said.
std::optional<unsigned> bound_of(const ExchangeSettings& exchange) {
    if (exchange.staleness_rounds_max) return exchange.staleness_rounds_max;
    if (exchange.partitions != 0 || exchange.rule == Rule::plain) return 0;
    return std::nullopt;
}

}  // namespace

AkoParts::AkoParts(const ModeSettings& mode_settings, std::span<float> initial_parameters,
                   Mailbox& own_mailbox, Outbox& own_outbox, Snapshots& snapshots)
    : settings(mode_settings),
      blocks(initial_parameters.size(), settings.block_elements),
      mailbox(own_mailbox),
      outbox(own_outbox),
      rows(settings.self, settings.peer_count(), blocks, initial_parameters, outbox, snapshots,
           settings.peer_count() == 1 ? Precision::float32 : settings.exchange.precision),
      roster(settings.self, settings.peer_count(), settings.times().answers_within),
      staleness(bound_of(settings.exchange), roster, rows.ledger()),
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
