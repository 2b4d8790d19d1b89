// Random headers of every kind, within what the codec takes: for its tests, and as the first
// inputs of its fuzz target. They come from the fields that each message lists, and so do the
// fullest ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "net/codec.h"

namespace ako::test {

class RandomHeaders {
  public:
    explicit RandomHeaders(unsigned seed) : random_(seed) {}

    Header make(std::size_t kind) {
        Header header = empty_header(kind);
        std::visit([this](auto& it) { it.fields(it, *this); }, header);
        if (auto* hello = std::get_if<Hello>(&header)) hello->protocol = protocol_version;
        return header;
    }
    /// Every text and list as long as it may be.
    Header fullest(std::size_t kind) {
        fullest_ = true;
        Header header = make(kind);
        fullest_ = false;
        return header;
    }

    std::uint64_t u64() { return random_(); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(random_()); }
    std::size_t below(std::size_t limit) { return random_() % limit; }

    /// Called by the lists.
    void operator()(const char*, auto& value, auto... bound) { set(value, bound...); }

  private:
    std::size_t up_to(std::size_t most, std::size_t enough) {
        return fullest_ ? most : below(std::min(most, enough) + 1);
    }
    bool coin() { return fullest_ || below(2) == 1; }

    /// As often small as large.
    template <std::unsigned_integral Number>
    void set(Number& value) {
        value = static_cast<Number>(coin() ? u64() : below(100));
    }
    void set(bool& value) { value = coin(); }
    void set(PeerIndex& peer, bound::Peer) { peer = static_cast<PeerIndex>(below(peers_max)); }
    void set(RowIndex& row) { row = RowIndex::at(below(peers_max + 1)); }
    void set(RowIndex& row, bound::OfPeer) { row = RowIndex::at(below(peers_max)); }
    void set(Time& time) { time = Time(static_cast<Time::rep>(u64() >> 2)); }
    template <std::floating_point Float>
    void set(Float& value) {
        value = std::normal_distribution<Float>()(random_);
    }
    template <std::floating_point Float>
    void set(Float& value, bound::Share) {
        value = static_cast<Float>(below(5)) / 4;
    }
    template <std::floating_point Float>
    void set(Float& value, bound::NotNegative) {
        set(value);
        value = std::abs(value);
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void set(Enum& value) {
        value = static_cast<Enum>(below(static_cast<std::size_t>(last(value)) + 1));
    }
    void set(Digest& digest) {
        for (auto& byte : digest) byte = static_cast<std::uint8_t>(random_());
    }
    void set(PeerCounts& counts) {
        for (std::size_t said = up_to(peers_max, peers_max); said > 0; --said)
            counts[said - 1] = static_cast<std::uint8_t>(1 + below(255));
    }
    void set(std::string& text, auto bound) {
        text.assign(up_to(bound.bytes, bound.bytes), ' ');
        for (char& c : text) c = static_cast<char>(' ' + below(95));
    }
    void set(std::string& text, bound::Lines bound) {
        set(text, bound::Line{bound.bytes});
        for (std::size_t at = 0; at < text.size(); at += 1 + below(100)) text[at] = '\n';
    }
    template <class Value>
    void set(std::optional<Value>& value, auto... bound) {
        value.reset();
        if (coin()) set(value.emplace(), bound...);
    }
    template <class Item>
    void set(std::vector<Item>& list, bound::AtMost bound = {}) {
        list.resize(up_to(bound.entries, 200));
        for (Item& item : list) set(item);
    }
    template <class Item>
    void set(std::vector<Item>& list, bound::AllOrNone bound) {
        list.resize(coin() ? bound.entries : 0);
        for (Item& item : list) set(item);
    }
    template <class Item>
    void set(PerRow<Item>& list) {
        list.resize(up_to(peers_max, peers_max));
        for (const RowIndex row : AllRows(list.size())) set(list[row]);
    }
    template <class Value>
    requires requires(Value& value, RandomHeaders& each) { Value::fields(value, each); }
    void set(Value& value) { Value::fields(value, *this); }

    std::mt19937_64 random_;
    bool fullest_ = false;
};

}  // namespace ako::test
