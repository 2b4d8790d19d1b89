// The confusion matrix of a test set: how often a sample of one class was taken for another. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ako {

class ConfusionMatrix {
  public:
    explicit ConfusionMatrix(std::size_t class_count);

    /// One sample. Both are below class_count.
    void add(std::size_t label, std::size_t answer);
    /// One sample whose scores are not finite and give no answer.
    void add_unanswered(std::size_t label);

    std::uint64_t count(std::size_t label, std::size_t answer) const {
        return counts_[label * class_count_ + answer];
    }

    /// As a matrix where that fits into so many columns, else as a table with a line per class.
    /// Each line ends in a line break.
    std::string text(std::size_t columns) const;

  private:
    std::uint64_t samples_of(std::size_t label) const;
    std::string matrix(std::size_t cell_width) const;
    std::string table() const;
    std::string right_percent(std::size_t label) const;
    /// The largest confusions of one class: "5 (12), 8 (4)".
    std::string taken_for(std::size_t label) const;

    const std::size_t class_count_;
    std::vector<std::uint64_t> counts_;      ///< [label][answer]
    std::vector<std::uint64_t> unanswered_;  ///< [label]
};

}  // namespace ako
