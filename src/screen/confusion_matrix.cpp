#include "src/screen/confusion_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ako/assert.h"

namespace ako {

namespace {

constexpr std::size_t answer_width = 6;
constexpr std::size_t percent_width = 9;
/// For each class; more than the three largest are noise.
constexpr std::size_t confusions_listed_max = 3;

std::string percent(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return "-";
    return fmt::format("{:.2f}", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(std::size_t class_count)
    : class_count_(class_count), counts_(class_count * class_count), unanswered_(class_count) {
    AKO_ASSERT(class_count > 0, "no classes");
}

void ConfusionMatrix::add(std::size_t label, std::size_t answer) {
    AKO_ASSERT(label < class_count_ && answer < class_count_,
               fmt::format("{} taken for {} of {} classes", label, answer, class_count_));
    ++counts_[label * class_count_ + answer];
}

void ConfusionMatrix::add_unanswered(std::size_t label) {
    AKO_ASSERT(label < class_count_, fmt::format("class {} of {}", label, class_count_));
    ++unanswered_[label];
}

std::uint64_t ConfusionMatrix::samples_of(std::size_t label) const {
    std::uint64_t samples = unanswered_[label];
    for (std::size_t answer = 0; answer < class_count_; ++answer) samples += count(label, answer);
    return samples;
}

std::string ConfusionMatrix::right_percent(std::size_t label) const {
    return percent(count(label, label), samples_of(label));
}

std::string ConfusionMatrix::text(std::size_t columns) const {
    const std::uint64_t largest =
        std::max<std::uint64_t>(*std::max_element(counts_.begin(), counts_.end()), class_count_);
    const std::size_t digits = fmt::to_string(largest).size();
    const std::size_t frame = answer_width + percent_width;
    std::string text;
    if (frame + class_count_ * (digits + 2) <= columns)
        text = matrix(digits + 2);
    else if (frame + class_count_ * (digits + 1) <= columns)
        text = matrix(digits + 1);
    else
        text = table();
    const auto unanswered =
        std::accumulate(unanswered_.begin(), unanswered_.end(), std::uint64_t{0});
    if (unanswered > 0)
        text +=
            fmt::format("samples without an answer (scores that are not finite): {}\n", unanswered);
    return text;
}

std::string ConfusionMatrix::matrix(std::size_t cell_width) const {
    std::string text =
        fmt::format("{:>{}}  answer\n{:>{}}", "", answer_width, "label", answer_width);
    for (std::size_t answer = 0; answer < class_count_; ++answer)
        text += fmt::format("{:>{}}", answer, cell_width);
    text += fmt::format("{:>{}}\n", "right %", percent_width);
    for (std::size_t label = 0; label < class_count_; ++label) {
        text += fmt::format("{:>{}}", label, answer_width);
        for (std::size_t answer = 0; answer < class_count_; ++answer) {
            const std::uint64_t samples = count(label, answer);
            // Points instead of zeros: what is there stands out.
            text += fmt::format("{:>{}}", samples == 0 ? "." : fmt::to_string(samples), cell_width);
        }
        text += fmt::format("{:>{}}\n", right_percent(label), percent_width);
    }
    return text;
}

std::string ConfusionMatrix::table() const {
    std::string text = " label   samples   right %   answers right %   most often taken for\n";
    for (std::size_t label = 0; label < class_count_; ++label) {
        std::uint64_t answers = 0;
        for (std::size_t from = 0; from < class_count_; ++from) answers += count(from, label);
        text += fmt::format("{:>{}}  {:>8}  {:>8}  {:>16}   {}\n", label, answer_width,
                            samples_of(label), right_percent(label),
                            percent(count(label, label), answers), taken_for(label));
    }
    return text;
}

std::string ConfusionMatrix::taken_for(std::size_t label) const {
    std::vector<std::pair<std::uint64_t, std::size_t>> wrong;
    for (std::size_t answer = 0; answer < class_count_; ++answer)
        if (answer != label && count(label, answer) > 0)
            wrong.emplace_back(count(label, answer), answer);
    std::stable_sort(wrong.begin(), wrong.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t k = 0; k < std::min(wrong.size(), confusions_listed_max); ++k)
        text += fmt::format("{}{} ({})", k == 0 ? "" : ", ", wrong[k].second, wrong[k].first);
    return text.empty() ? "-" : text;
}

}  // namespace ako
