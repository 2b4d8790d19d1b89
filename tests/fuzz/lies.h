// What a peer may say instead of the truth: headers in which single fields are 0, 1, one more, one
// less, huge or of something else that was said, and payloads whose values are not finite or far
// too large. All of it is chosen by the bytes of a fuzz target, so that these find what is worth
// saying. One thread; the bytes outlive it.
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <vector>

#include "ako/blocks.h"
#include "ako/bounds.h"
#include "ako/frame.h"
#include "tests/fuzz/fuzz_bytes.h"

namespace ako::test {

struct Frame {
    Header header;
    std::vector<std::byte> payload;
};

class Lies {
  public:
    /// The lies are those of `liar`, one of so many peers.
    Lies(FuzzBytes& bytes, PeerIndex liar, std::size_t peer_count, const Blocks& blocks)
        : bytes_(bytes), liar_(liar), peer_count_(peer_count), blocks_(blocks) {}

    /// Somebody says this: lies begin from the newest of each kind.
    void saw(const Frame& frame) { seen_[frame.header.index()] = frame; }
    /// A frame of any kind, the newest that was seen or one that might be meant, with some lies.
    Frame made_up();
    /// Changes some fields, and the payload so that it mostly fits them.
    void change(Frame& frame);

    /// Called by the fields that a message lists.
    void operator()(const char*, auto& value, auto... bounds) {
        field(value);
        (shorten(value, bounds), ...);
    }

  private:
    Frame plausible(std::size_t kind);
    /// What is told apart at first sight is mostly made to fit: who says it, and the sizes.
    void fit(Frame& frame);
    void fit_payload(Frame& frame);
    void lie_about_values(std::vector<std::byte>& payload);
    void seal(Partial& partial, const std::vector<std::byte>& payload);

    /// The codec asserts that no list is longer than its bound, which may follow from a field that
    /// was changed; what reads such bytes is the codec's own fuzz target.
    void shorten(auto& list, bound::AtMost bound) {
        if (list.size() > bound.entries) list.resize(bound.entries);
    }
    void shorten(auto& list, bound::AllOrNone bound) {
        shorten(list, bound::AtMost{bound.entries});
    }
    void shorten(auto&, auto) {}

    // A field; only the chosen one is changed. Texts and checksums are nobody's to judge.
    bool chosen() { return field_++ == chosen_; }
    template <std::unsigned_integral Number>
    void field(Number& value);
    void field(bool& value) {
        if (chosen()) value = !value;
    }
    void field(Time& value);
    template <std::floating_point Float>
    void field(Float& value);
    void field(Digest& value);
    void field(RowIndex& value);
    void field(PeerCounts& counts) { field(counts[bytes_.below(peer_count_ + 1)]); }
    void field(std::string&) {}
    template <class Enum>
    requires std::is_enum_v<Enum>
    void field(Enum& value) {
        if (chosen())
            value = static_cast<Enum>(bytes_.below(static_cast<std::size_t>(last(value)) + 1));
    }
    template <class Item>
    void field(std::optional<Item>& value);
    template <class Item>
    void field(std::vector<Item>& values) {
        list(values);
    }
    template <class Item>
    void field(PerRow<Item>& values) {
        list(values);
    }
    /// One entry of it, or their number.
    template <class List>
    void list(List& values);
    template <class Value>
    requires requires(Value& value, Lies& each) { Value::fields(value, each); }
    void field(Value& value) { Value::fields(value, *this); }

    FuzzBytes& bytes_;
    const PeerIndex liar_;
    const std::size_t peer_count_;
    const Blocks blocks_;
    std::array<std::optional<Frame>, std::variant_size_v<Header>> seen_;
    std::size_t chosen_ = 0;
    std::size_t field_ = 0;
};

}  // namespace ako::test
