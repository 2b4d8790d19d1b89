// Strides of tensors, and their way into files.
#include "src/library/storage_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace ako::storage_order_test {

TEST_CASE("storage order: dense tensors in any order of their dimensions") {
    CHECK(refused_strides({2, 3, 4}, {}) == "");
    CHECK(refused_strides({2, 3, 4}, {12, 4, 1}) == "");
    CHECK(refused_strides({2, 3, 4}, {12, 1, 3}) == "");
    CHECK(refused_strides({2, 1, 4}, {4, 77, 1}) == "");  // one element: its stride leads nowhere
    CHECK(refused_strides({}, {}) == "");
    CHECK(refused_strides({2, 3}, {3}).find("not as many") != std::string::npos);
    CHECK(refused_strides({2, 3}, {6, 2}).find("dimension 1 is 2") != std::string::npos);
    CHECK(refused_strides({2, 3}, {1, 1}).find("densely") != std::string::npos);
    CHECK(refused_strides({2, 3}, {-3, 1}).find("densely") != std::string::npos);
}

TEST_CASE("storage order: what lies with its channels last becomes row-major") {
    // [2 outputs, 3 channels, 2 rows, 2 columns], stored as [outputs, rows, columns, channels].
    const std::vector<Tensor> tensors = {{"bias", {2}, 0}, {"weight", {2, 3, 2, 2}, 2}};
    const std::vector<Strides> last = {{}, {12, 1, 6, 3}};
    std::vector<float> flat(26);
    std::iota(flat.begin(), flat.end(), 0.0F);
    CHECK(!row_major(tensors, last));
    CHECK(row_major(tensors, {{1}, {12, 4, 2, 1}}));
    CHECK(row_major(tensors, {{}, {}}));
    const std::vector<float> out = to_row_major(tensors, last, flat);
    REQUIRE(out.size() == flat.size());
    CHECK(std::equal(out.begin(), out.begin() + 2, flat.begin()));
    for (std::size_t output = 0; output < 2; ++output)
        for (std::size_t channel = 0; channel < 3; ++channel)
            for (std::size_t row = 0; row < 2; ++row)
                for (std::size_t column = 0; column < 2; ++column)
                    CHECK(out[2 + ((output * 3 + channel) * 2 + row) * 2 + column] ==
                          flat[2 + ((output * 2 + row) * 2 + column) * 3 + channel]);
    CHECK(to_row_major(tensors, {{}, {}}, flat) == flat);
}

}  // namespace ako::storage_order_test
