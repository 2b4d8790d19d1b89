// See data_cut.h.
#include "models/data_cut.h"

#include <algorithm>
#include <cstdint>

#include "models/random.h"

namespace ako {
namespace {

/// What a sample is chosen for, so that no two uses share a sequence.
constexpr std::uint64_t use_validation = 0x56414c4944, use_subset = 0x535542534554;

/// By a number of its own from 0 to 1, whatever the order of the set: is it of that share?
bool is_of_share(std::size_t index, std::uint64_t use, double share) {
    constexpr int unused_bits = 11;  // of 64, beyond those of a double
    constexpr double step = 0x1p-53;
    return static_cast<double>(derive_seed(use, index) >> unused_bits) * step < share;
}

template <class Value>
void keep(const std::vector<std::size_t>& places, std::size_t each, std::vector<Value>& values) {
    if (values.empty()) return;
    auto out = values.begin();
    for (const std::size_t place : places) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(place * each);
        out = std::copy_n(first, each, out);
    }
    values.erase(out, values.end());
    values.shrink_to_fit();
}

}  // namespace

bool is_cut(const DataSettings& settings, DataPart part) {
    return settings.validation > 0 || (part == DataPart::train && settings.subset < 1);
}

std::vector<std::size_t> places_of(const DataSettings& settings, DataPart part, std::size_t count) {
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < count; ++k) {
        const bool kept_back = is_of_share(k, use_validation, settings.validation);
        const bool used = !kept_back && is_of_share(k, use_subset, settings.subset);
        if (part == DataPart::train ? used : kept_back) places.push_back(k);
    }
    return places;
}

void keep_places(const std::vector<std::size_t>& places, Images& images, Labels& labels) {
    const std::size_t elements = images.shape.element_count();
    keep(places, elements, images.bytes);
    keep(places, elements, images.numbers);
    keep(places, 1, labels);
    images.count = places.size();
}

}  // namespace ako
