// Writes the first inputs of codec_fuzz, one frame head of every kind, into a folder: run it again
// when the wire changes.
//     build/fuzz/tests/fuzz/make_codec_corpus tests/fuzz/corpus/codec
#include <fstream>

#include "tests/net/random_headers.h"

int main(int count, char** words) {
    if (count != 2) return 2;
    using namespace ako;
    test::RandomHeaders headers(7);
    for (std::size_t kind = 0; kind < std::variant_size_v<Header>; ++kind) {
        // The shortest of 200: the fuzzer finds long ones by itself, and they slow its search down.
        std::vector<std::byte> shortest;
        std::string name;
        for (int i = 0; i < 200; ++i) {
            const Header header = headers.make(kind);
            const auto head = encode_frame_head(header, 4);
            if (!shortest.empty() && head.size() >= shortest.size()) continue;
            shortest = head;
            name = header_name(header);
        }
        std::ofstream out(std::string(words[1]) + "/" + name, std::ios::binary);
        out.write(reinterpret_cast<const char*>(shortest.data()),
                  static_cast<std::streamsize>(shortest.size()));
        if (!out) return 1;
    }
    return 0;
}
