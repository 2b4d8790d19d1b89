#include "src/config/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ako {

namespace {

/// Letters of a word of which a part was left out: fewer are in too many words.
constexpr std::size_t part_min = 3;

std::string in_small_letters(std::string text) {
    for (char& letter : text) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return text;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= from.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped =
                i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last.back();
}

std::string nearest_word(const std::string& text, const std::vector<std::string>& words) {
    const std::string given = in_small_letters(text);
    const std::size_t most = std::max<std::size_t>(1, (given.size() + 1) / 3);
    std::size_t best = most + 1;
    std::string nearest;
    for (const std::string& word : words) {
        const std::size_t longer = std::max(given.size(), word.size());
        const std::size_t shorter = std::min(given.size(), word.size());
        const bool part =
            given.size() >= part_min && (word.starts_with(given) || word.ends_with(given));
        if (!part && longer - shorter > most) continue;  // it cannot be near
        const std::size_t distance = part ? 1 : edit_distance(given, word);
        const bool shorter_one = distance == best && word.size() < nearest.size();
        if (distance >= best && !shorter_one) continue;
        best = distance;
        nearest = word;
    }
    return nearest;
}

std::string did_you_mean(const std::string& text, const std::vector<std::string>& words) {
    const std::string nearest = nearest_word(text, words);
    return nearest.empty() ? nearest : "did you mean " + nearest + "?";
}

}  // namespace ako
