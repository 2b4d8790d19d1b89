#include "src/library/layout_text.h"

#include <algorithm>
#include <span>

#include "src/numbers/digest.h"

namespace ako {
namespace {

/// Bytes of a part's text: so many are shown of a value that differs.
constexpr std::size_t part_bytes_max = 60;

/// Names of programs may be anything; what is shown is one line.
std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');
    return text;
}

std::string extents(const Tensor& tensor) {
    if (tensor.shape.empty()) return " 1";
    std::string text;
    for (const std::size_t extent : tensor.shape) text += " " + std::to_string(extent);
    return text;
}

/// Empty if they do not fit, or a name is none that a key may have.
std::string tensor_lines(const std::vector<Tensor>& tensors, std::size_t bytes_max) {
    std::string lines = "tensors:\n";
    for (const Tensor& tensor : tensors) {
        if (tensor.name.find_first_of(":\n") != std::string::npos) return "";
        lines += "  " + tensor.name + ":" + extents(tensor) + "\n";
        if (lines.size() > bytes_max) return "";
    }
    return lines;
}

}  // namespace

std::vector<std::string> layout_parts(const std::vector<Tensor>& tensors) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0, end = 1; begin < tensors.size(); begin = end, end *= 3) {
        end = std::min(end, tensors.size());
        const auto part = std::span(tensors).subspan(begin, end - begin);
        std::string all;
        for (const Tensor& tensor : part)
            all += tensor.name + std::to_string(tensor.shape.size()) + extents(tensor) + "\n";
        std::string text = hex(sha256(all)).substr(0, 8) + " " + part.front().name;
        if (part.size() > 1) text += " to " + part.back().name;
        parts.push_back("model part " + std::to_string(parts.size() + 1) + ": " +
                        one_line(text).substr(0, part_bytes_max));
    }
    return parts;
}

std::string layout_text(const std::vector<Tensor>& tensors, std::size_t bytes_max) {
    std::string text = tensor_lines(tensors, bytes_max);
    if (!text.empty()) return text;
    for (const std::string& part : layout_parts(tensors)) {
        if (text.size() + part.size() + 1 > bytes_max) break;
        text += part + "\n";
    }
    return text;
}

}  // namespace ako
