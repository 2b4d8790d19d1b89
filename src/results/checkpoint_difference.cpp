#include "src/results/checkpoint_difference.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <vector>

#include "src/results/number_text.h"

namespace ako {

namespace {

template <class T>
bool same_bits(const T& one, const T& other) {
    return std::memcmp(&one, &other, sizeof(T)) == 0;
}

template <class T>
std::string difference_in(const std::map<std::string, std::vector<T>>& one,
                          const std::map<std::string, std::vector<T>>& other) {
    for (const auto& [name, values] : one) {
        const auto found = other.find(name);
        if (found == other.end()) return name + ", which only one of them has";
        if (found->second.size() != values.size())
            return fmt::format("{}: {} values and {}", name, grouped(values.size()),
                               grouped(found->second.size()));
        std::size_t different = 0;
        for (std::size_t k = 0; k < values.size(); ++k)
            different += same_bits(values[k], found->second[k]) ? 0 : 1;
        if (different > 0)
            return fmt::format("{} of {} values of {}", grouped(different), grouped(values.size()),
                               name);
    }
    for (const auto& [name, values] : other)
        if (!one.contains(name)) return name + ", which only one of them has";
    return "";
}

std::string difference_in(const std::map<std::string, std::uint64_t>& one,
                          const std::map<std::string, std::uint64_t>& other) {
    for (const auto& [name, value] : one) {
        const auto found = other.find(name);
        if (found == other.end() || found->second != value) return name;
    }
    for (const auto& [name, value] : other)
        if (!one.contains(name)) return name;
    return "";
}

}  // namespace

std::string difference_of(const Checkpoint& one, const Checkpoint& other) {
    if (one.id.round != other.id.round)
        return fmt::format("the round, {} and {}", one.id.round, other.id.round);
    if (one.samples != other.samples)
        return fmt::format("the samples, {} and {}", one.samples, other.samples);
    std::string found = difference_in(one.floats, other.floats);
    if (found.empty()) found = difference_in(one.words, other.words);
    if (found.empty()) found = difference_in(one.numbers, other.numbers);
    return found;
}

}  // namespace ako
