#include "src/wiring/hello.h"

#include <fmt/format.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "src/config/cluster_file.h"
#include "src/exchange/incarnation.h"
#include "src/numbers/digest.h"

namespace ako {
namespace {

/// Two peers whose tensors differ in name, order or shape must not mix their vectors.
Digest layout_digest(const std::vector<Tensor>& tensors) {
    std::string text;
    for (const Tensor& tensor : tensors) {
        text += tensor.name;
        for (const std::size_t extent : tensor.shape) text += fmt::format(" {}", extent);
        text += "\n";
    }
    return sha256(text);
}

}  // namespace

std::uint64_t random_process_id() {
    std::random_device device;
    std::uint64_t id = 0;
    while (process_of(id) == 0) id = (std::uint64_t{device()} << 32) | device();
    return id;
}

Hello make_hello(const Settings& settings, PeerIndex self, std::uint64_t process_id,
                 const Brought& brought) {
    Hello hello;
    hello.run_name = settings.run;
    const std::string shared = training_digest_text(settings) + brought.must_equal;
    hello.training_digest = sha256(shared);
    if (shared.size() <= settings_text_bytes_max) hello.settings_text = shared;
    hello.layout_digest = layout_digest(brought.tensors);
    // A peer that takes over the lowest one's parameters may have brought any.
    if (!brought.initial_of_lowest)
        hello.initial_digest = sha256(std::as_bytes(std::span<const float>(brought.initial)));
    hello.data = brought.data;
    hello.peer_name = settings.peers[self].name;
    hello.process_id = process_id;
    return hello;
}

}  // namespace ako
