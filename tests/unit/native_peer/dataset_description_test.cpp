// What a data set says of itself follows from its labels and images, in their order and each in
// its piece, whatever type they came in.
#include "src/native_peer/dataset_description.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

namespace ako::dataset_description_test {

namespace {

constexpr std::size_t count = 300;
const Shape shape{2, 2, 1};

Labels labels() {
    Labels labels;
    for (std::size_t k = 0; k < count; ++k) labels.push_back(static_cast<std::uint8_t>(k % 10));
    return labels;
}

Images bytes() {
    Images images{count, shape, {}, {}};
    for (std::size_t k = 0; k < 4 * count; ++k)
        images.bytes.push_back(static_cast<std::uint8_t>(k));
    return images;
}

Images numbers() {
    Images images{count, shape, {}, {}};
    for (std::size_t k = 0; k < 4 * count; ++k) images.numbers.push_back(static_cast<float>(k));
    return images;
}

/// The only piece that differs; the number of pieces if none does.
std::size_t only_difference(const std::vector<std::uint32_t>& one,
                            const std::vector<std::uint32_t>& other) {
    REQUIRE(one.size() == other.size());
    std::size_t found = one.size();
    for (std::size_t k = 0; k < one.size(); ++k) {
        if (one[k] == other[k]) continue;
        CHECK(found == one.size());
        found = k;
    }
    return found;
}

TEST_CASE("one label or pixel that differs is in one piece") {
    const DataPartDescription whole = describe(Dataset(bytes(), labels()));
    CHECK(whole.count == count);
    CHECK(whole.first_labels.size() == labels_told_max);
    CHECK(whole.first_labels[13] == 3);
    CHECK(whole.labels.size() == data_pieces_max);
    CHECK(describe(Dataset(bytes(), labels())) == whole);

    Labels other = labels();
    ++other[200];
    const DataPartDescription by_label = describe(Dataset(bytes(), std::move(other)));
    const DataPiece piece = data_piece(count, only_difference(whole.labels, by_label.labels));
    CHECK(piece.first <= 200);
    CHECK(200 < piece.end);
    CHECK(by_label.images == whole.images);
    CHECK(by_label.first_labels == whole.first_labels);

    Images changed = bytes();
    ++changed.bytes[4 * 299 + 3];
    CHECK(only_difference(whole.images, describe(Dataset(changed, labels())).images) == 63);
    const DataPartDescription floats = describe(Dataset(numbers(), labels()));
    CHECK(floats.labels == whole.labels);
    Images nearly = numbers();
    nearly.numbers[0] = 0.5F;
    CHECK(only_difference(floats.images, describe(Dataset(nearly, labels())).images) == 0);
}

TEST_CASE("a set of few images has a piece for each") {
    const DataPartDescription few = describe(Dataset({1, shape, {1, 2, 3, 4}, {}}, {7}));
    CHECK(few.first_labels == std::vector<std::uint8_t>{7});
    CHECK(few.labels.size() == 1);
    CHECK(few.images.size() == 1);
}

}  // namespace
}  // namespace ako::dataset_description_test
