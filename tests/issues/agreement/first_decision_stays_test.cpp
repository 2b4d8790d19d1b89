// A peer that had adopted a cut heard of another one, decided where two of three had been started
// again and knew nothing of the first. It took that for what it had adopted, and so would have
// handed a name to others under which it held something else (simulate, seed 327122).
#include <doctest/doctest.h>

#include "src/agreement/agreement.h"

namespace ako::first_decision_stays_test {

TEST_CASE("issue: the decision that a peer knows stays, whatever is decided apart from it") {
    const CutId first{1, 0}, apart{1, 1};
    Agreement peer(0, 3, 745);
    peer.learn(first);
    peer.learn(apart);
    CHECK(peer.decided() == first);
}

}  // namespace ako::first_decision_stays_test
