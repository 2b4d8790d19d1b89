// Sums that do not depend on who comes first.
#include "src/buckets/part_sum.h"

#include <doctest/doctest.h>

namespace ako::part_sum_test {

TEST_CASE("all parts are added in the order of peers, whoever comes first") {
    const std::vector<std::vector<float>> values = {{1e8F, 1}, {3.3F, 2}, {-1e8F, 3}};
    std::vector<float> expected = values[0];
    for (std::size_t peer : {1, 2})
        for (std::size_t k = 0; k < 2; ++k) expected[k] += values[peer][k];
    for (const std::vector<PeerIndex>& order : {std::vector<PeerIndex>{0, 2}, {2, 0}}) {
        PartSum sum({10, 2}, 1, 3);
        std::vector<float> out(2);
        for (int exchange = 0; exchange < 2; ++exchange) {
            for (const PeerIndex peer : order) {
                CHECK(!sum.add_up(values[1].data(), out.data()));
                for (std::size_t k = 0; k < 2; ++k) {  // in two chunks
                    sum.memory(peer, {10 + k, 1})[0] = values[peer][k];
                    sum.arrived(peer, 1);
                }
            }
            CHECK(sum.add_up(values[1].data(), out.data()));
            CHECK(out == expected);
            CHECK(!sum.add_up(values[1].data(), out.data()));  // once
            sum.clear();
        }
    }
}

}  // namespace ako::part_sum_test
