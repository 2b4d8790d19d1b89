// Arrays as NumPy writes them, made by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "refusal.h"

namespace ako::test {

/// A file as numpy.save writes it: the header padded to a multiple of 64 bytes.
template <class Element>
Bytes npy_file(const std::string& type, const std::string& shape,
               const std::vector<Element>& elements, const std::string& order = "False",
               int version = 1) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    const std::size_t start = version == 1 ? 10 : 12;
    while ((start + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    Bytes bytes{0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
    for (std::size_t shift = 0; shift < 8 * (start - 8); shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(header.size() >> shift));
    bytes.insert(bytes.end(), header.begin(), header.end());
    const auto* data = reinterpret_cast<const std::uint8_t*>(elements.data());
    bytes.insert(bytes.end(), data, data + elements.size() * sizeof(Element));
    return bytes;
}

}  // namespace ako::test
