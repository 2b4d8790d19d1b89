// Every mode has an entry, and what entries say of keys is about keys that there are.
#include "ako/mode_table.h"

#include <doctest/doctest.h>

#include <string>

#include "src/config/cluster_file.h"
#include "src/config/fields.h"
#include "src/config/key_texts.h"
#include "tests/unit/config/complaint.h"

namespace ako::mode_table_test {

TEST_CASE("every mode has one entry that holds for all of it, behind its special ones") {
    for (const Mode mode :
         {Mode::ako, Mode::ring, Mode::parameter_server, Mode::local_sgd, Mode::sma, Mode::local}) {
        const ModeEntry* last = nullptr;
        for (const ModeEntry& entry : mode_table::entries)
            if (entry.mode == mode) last = &entry;
        REQUIRE(last != nullptr);
        CHECK(last->with.empty());
        ExchangeSettings exchange;
        exchange.mode = mode;
        CHECK(last->holds(exchange));
        CHECK(entry_of(exchange).word == last->word);
        CHECK(entry_named(last->word)->name == last->name);
    }
    CHECK(entry_named("gossip") == nullptr);
}

TEST_CASE("settings find their entry") {
    ExchangeSettings exchange;
    exchange.mode = Mode::ring;
    CHECK(entry_of(exchange).name == "ring");
    exchange.rounds_ahead = 1;
    CHECK(entry_of(exchange).name == "ring a round ahead");
    CHECK(entry_of(exchange).runs_ahead);
    exchange.elastic = true;
    CHECK(entry_of(exchange).goes_on());
    CHECK(entry_of(exchange).is_elastic());
    CHECK(!entry_of(exchange).runs_ahead);
    exchange.mode = Mode::parameter_server;
    CHECK(entry_of(exchange).goes_on_together());
    exchange.server.placement = Placement::dedicated;
    CHECK(!entry_of(exchange).keeps_checkpoints());
    CHECK(entry_of(exchange).life_timeout_ms == 30'000);
    exchange.server.clock_gap_max.reset();
    CHECK(entry_of(exchange).life_timeout_ms == 2000);
}

TEST_CASE("what a mode excludes is refused, and the default of the key is not") {
    for (const ModeEntry& entry : mode_table::entries) {
        for (const Exclusion& exclusion : entry.exclusions) {
            CAPTURE(entry.name);
            CAPTURE(exclusion.key);
            const std::string standard = written_value(Settings{}, std::string(exclusion.key));
            CHECK(exclusion.allowed.find(standard) != std::string_view::npos);
            CHECK(!exclusion.why.empty());
        }
    }
}

TEST_CASE("the modes that heed a key are modes that there are") {
    for (const KeyText& key : key_texts()) {
        CAPTURE(key.path);
        bool heeded = false;
        for (const ModeEntry& entry : mode_table::entries)
            heeded |= key.heeded_by(std::string(entry.word));
        CHECK(heeded);
    }
    CHECK(field_at("exchange.start_peers_min").heeded_by(mode_table::elastic_ring));
    CHECK(!field_at("exchange.start_peers_min").heeded_by(mode_table::ring));
}

}  // namespace ako::mode_table_test
