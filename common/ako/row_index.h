// A row of the ledger, by the place of its owner in the cluster file. A type of its own, apart from
// PeerIndex: a row outlives the process that wrote it, and any peer may hold it and pass it on.
// Values; any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

#include "ako/types.h"

namespace ako {

class RowIndex {
  public:
    constexpr RowIndex() = default;
    /// A place that stands in the program's text.
    consteval RowIndex(int place) : place_(static_cast<std::uint32_t>(place)) {}
    /// Whether the owner's row is meant, `row_of` says.
    RowIndex(PeerIndex) = delete;

    static constexpr RowIndex at(std::size_t place) {
        RowIndex row;
        row.place_ = static_cast<std::uint32_t>(place);
        return row;
    }
    constexpr std::uint32_t place() const { return place_; }

    auto operator<=>(const RowIndex&) const = default;

  private:
    std::uint32_t place_ = 0;
};

constexpr RowIndex row_of(PeerIndex owner) { return RowIndex::at(owner); }
constexpr PeerIndex owner_of(RowIndex row) { return row.place(); }

/// On the wire: the initial parameters, where a peer takes over those of another.
inline constexpr RowIndex initial_row = RowIndex::at(peers_max);

/// The rows 0 .. count - 1, for a loop over all of them.
class AllRows {
  public:
    class Iterator {
      public:
        constexpr explicit Iterator(std::size_t place) : place_(place) {}
        constexpr RowIndex operator*() const { return RowIndex::at(place_); }
        constexpr Iterator& operator++() {
            ++place_;
            return *this;
        }
        constexpr bool operator==(const Iterator&) const = default;

      private:
        std::size_t place_;
    };

    constexpr explicit AllRows(std::size_t count) : count_(count) {}
    constexpr Iterator begin() const { return Iterator(0); }
    constexpr Iterator end() const { return Iterator(count_); }

  private:
    std::size_t count_;
};

/// One value for each row, [row count].
template <class T>
class PerRow {
  public:
    PerRow() = default;
    explicit PerRow(std::size_t row_count, const T& value = {}) : values_(row_count, value) {}

    T& operator[](RowIndex row) { return values_[row.place()]; }
    const T& operator[](RowIndex row) const { return values_[row.place()]; }
    std::size_t size() const { return values_.size(); }
    bool empty() const { return values_.empty(); }
    void resize(std::size_t row_count) { values_.resize(row_count); }
    void push_back(T value) { values_.push_back(std::move(value)); }
    void clear() { values_.clear(); }
    std::size_t capacity() const { return values_.capacity(); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

    bool operator==(const PerRow&) const = default;

  private:
    std::vector<T> values_;
};

}  // namespace ako
