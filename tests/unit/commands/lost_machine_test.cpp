// A peer whose machine was lost, as its silence and the others tell.
#include "src/commands/lost_machine.h"

#include <doctest/doctest.h>

namespace ako::lost_machine_test {

namespace {

PeerState peer(const std::string& name, double heard_at, const std::string& other = "",
               Presence presence = Presence::lost) {
    PeerState state;
    state.name = name;
    state.heard = true;
    state.heard_at = heard_at;
    if (!other.empty()) {
        LinkLine link;
        link.peer = other;
        link.presence = presence;
        link.round = 7;
        state.line.links.push_back(link);
    }
    return state;
}

}  // namespace

TEST_CASE("a silent peer that is lost to all who are heard has lost its machine") {
    CHECK(has_lost_machine({peer("a", 99, "c"), peer("b", 100, "c"), peer("c", 80)}, 2, 100));
}

TEST_CASE("one that was just heard, or that another still hears, has not") {
    CHECK(!has_lost_machine({peer("a", 99, "c"), peer("c", 95)}, 1, 100));
    CHECK(!has_lost_machine({peer("a", 99, "c"), peer("b", 99, "c", Presence::up), peer("c", 80)},
                            2, 100));
}

TEST_CASE("nobody who is silent, or has ended, is a witness") {
    CHECK(!has_lost_machine({peer("a", 80, "c"), peer("c", 80)}, 1, 100));
    PeerState ended = peer("a", 100, "c");
    ended.exit = 0;
    CHECK(!has_lost_machine({ended, peer("c", 80)}, 1, 100));
    CHECK(has_lost_machine({ended, peer("c", 80)}, 1, 300));  // which nobody is left to tell
    PeerState over = peer("c", 80);
    over.exit = 0;
    CHECK(!has_lost_machine({peer("a", 100, "c"), over}, 1, 100));
}

}  // namespace ako::lost_machine_test
