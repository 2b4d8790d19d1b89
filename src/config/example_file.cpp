#include "src/config/example_file.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "src/config/fields.h"
#include "src/config/peer_list.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

constexpr std::size_t columns = 100;
/// Where comments behind a value begin.
constexpr std::size_t comment_column = 26;

constexpr const char* head =
    R"(# Every key of a cluster file, with what it means and what it may be, as `ako keys --example`
# prints it. A key left out has the value shown here, but for those marked "required". The same
# file goes to every peer; `ako check FILE` shows what a file comes to, and `--set key=value`
# overrides any key for one command. Top-level keys that begin with x- are the file's own, for
# anchors (`x-common: &common {epochs: 4}`, `training: {<<: *common}`); in paths ${NAME} is a
# variable of the environment, ~/ the home folder and $$ a dollar.

)";

constexpr const char* networks = R"(# The network, by a name or as a list of layers.
#   mlp          784 - 128 - 10, dense, for MNIST
#   lenet        20@5x5, pool, 50@5x5, pool, 500, 10, for MNIST: 431,080 parameters
#   cifar-quick  32@5x5, pool, 32@5x5, pool, 64@5x5, pool, 64, 10, for CIFAR-10: 145,578 parameters
#   resnet20     16@3x3, nine residuals of 16, 32 and 64 channels, pool, 10, with group
#                normalisation, for CIFAR-10: 270,410 parameters
#   synthetic    no data and no real network: a quadratic loss with a known optimum, for experiments
#                on the exchange; the keys from `parameters` to `noise` are for it alone
#   external     a program of yours brings it, which uses Ako as a library (README, "With PyTorch")
# `ako check FILE --model` prints a named network as a list to start from. A list has no name:
#   model:
#     input: [32, 32, 3]  # height, width, channels of an image; each from 1 to 4,096
#     layers:             # 1 to 128, from the image to the scores; softmax and its loss follow
#       - conv: {outputs: 32, window: 5, stride: 1, padding: 2} # stride 1, padding 0 if left out;
#                         # windows up to 256; padding: pixels on each side, below the window, of
#                         # padding_mode: zeros (if left out) | replicate (the nearest pixel) |
#                         # reflect (the image mirrored at its edge)
#       - max_pool: {window: 3, stride: 2} # stride: that of the window if left out, at most it;
#                         # the last window is cut off at the edge, so no pixel is left out
#       - group_norm: 8   # each image's values of so many groups of channels to mean 0, variance 1
#       - relu
#       - residual:       # what these layers give plus the input, or plus what a `shortcut` gives,
#           - conv: {outputs: 32, window: 3, padding: 1} # if its shape is another: {layers: [...],
#           - group_norm: 8 # shortcut: [...]}; each 1 to 128 layers, residuals among them too
#       - subsample: {stride: 2, outputs: 64} # every 2nd pixel, zeros as the new channels: for
#                         # shortcuts
#       - global_average_pool # of each channel the mean over all pixels: no flatten after it
#       - dropout: 0.5    # in training this share of the values becomes 0, the rest is scaled up
#       - flatten         # before a dense layer whose input has several channels
#       - dense: 64       # its outputs; the same as {outputs: 64}
#       - dense: 10       # the last layer: one score per class, 2 to 256
)";

constexpr const char* two_peers = R"(  - name: a
    address: 127.0.0.1:7701
    listen: 127.0.0.1:7701
    role: worker
  - name: b
    address: 127.0.0.1:7702
)";

/// What is said of a group as a whole.
struct GroupNote {
    const char* path;
    const char* text;
};
constexpr GroupNote group_notes[] = {
    {"data.normalisation", "one number, or a list of one per channel"},
    {"data.augmentation",
     "of training images, anew in every pass; for CIFAR-10 usually 4 and true"},
    {"training.batch", "a number alone is `local`, and `batch: auto` is its schedule"},
    {"training.schedule", "a word alone is its kind: `schedule: cosine`"}};

/// `text` behind `front`, as a comment that goes on below itself.
std::string with_comment(std::string front, const std::string& text) {
    front.resize(std::max(front.size() + 1, comment_column), ' ');
    std::string lines;
    std::string line = front + "#";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = " " + text.substr(at, end - at);
        if (line.size() + word.size() > columns) {
            lines += line + "\n";
            line = std::string(comment_column, ' ') + "#";
        }
        line += word;
        at = end + 1;
    }
    return lines + line + "\n";
}

/// Are all the words of a choice explained in its meaning?
bool explains(const std::string& meaning, std::string_view expected) {
    while (!expected.empty()) {
        const std::size_t end =
            std::min({expected.find(", "), expected.find(" or "), expected.size()});
        if (meaning.find(expected.substr(0, end)) == std::string::npos) return false;
        const bool comma = expected.substr(end).starts_with(", ");
        expected.remove_prefix(std::min(end + (comma ? 2 : 4), expected.size()));
    }
    return true;
}

/// `text` without the first of what is `told` elsewhere.
void leave_out(std::string& text, const std::string& told) {
    if (const std::size_t at = text.find(told); at != std::string::npos)
        text.erase(at, told.size());
}

/// "1 to 65536" for "none or a whole number from 1 to 65536"; empty: the meaning says it all.
std::string range_of(const Field& field) {
    std::string range = field.expected;
    if (range.starts_with("the ") || range.starts_with("a safetensors") ||
        range == "true or false" || explains(field.meaning, range))
        return "";
    for (const char* word : {"none", "auto", "majority", "null"}) {
        if (field.meaning.find(word) == std::string::npos) continue;
        leave_out(range, std::string(word) + " or ");
        leave_out(range, std::string(", or ") + word);
    }
    leave_out(range, "a whole number from ");
    leave_out(range, "a number ");
    const std::string between = " and at most ";
    if (const std::size_t at = range.find(between);
        range.starts_with("from ") && at != std::string::npos) {
        range.replace(at, between.size(), " to ");
        leave_out(range, "from ");
    }
    return range;
}

std::string comment_of(const Field& field) {
    const bool is_required = field.standard.starts_with("required");
    const std::string left_out = field.standard.empty() ? field.write(Settings{}) : field.standard;
    std::string text;
    if (is_required) text += field.standard + ": ";
    if (!field.modes.empty()) text += fmt::format("{}: ", fmt::join(field.modes, ", "));
    text += field.meaning;
    if (const std::string range = range_of(field); !range.empty()) text += "; " + range;
    if (!is_required && !field.example.empty() && field.example != left_out)
        text += "; if left out: " + left_out;
    if (!is_required && !field.applies_with.empty()) text += "; with " + field.applies_with;
    for (const ListKey& key : list_keys())
        if (key.path.starts_with(field.path + "."))
            text += fmt::format(" | {}: {}", key.path.substr(key.path.rfind('.') + 1), key.meaning);
    return text;
}

}  // namespace

std::string example_file() {
    const Settings defaults;
    std::string text = head;
    std::vector<std::string> open;  // the groups that the line before stands in
    for (const Field& field : all_fields()) {
        if (field.is_retired || field.path == "model.input" || field.path == "model.layers")
            continue;
        std::vector<std::string> parts = split_path(field.path);
        const std::string key = parts.back();
        parts.pop_back();
        if (field.path != "run" && (parts.empty() || open.empty() || parts[0] != open[0]) &&
            !(parts.empty() && open.empty()))
            text += "\n";
        std::string path;
        for (std::size_t depth = 0; depth < parts.size(); ++depth) {
            path += (path.empty() ? "" : ".") + parts[depth];
            if (depth < open.size() && open[depth] == parts[depth]) continue;
            open.resize(depth);
            if (path == "model") text += networks;
            const std::string line = fmt::format("{:{}}{}:", "", 2 * depth, parts[depth]);
            const auto* note = std::find_if(std::begin(group_notes), std::end(group_notes),
                                            [&](const GroupNote& it) { return it.path == path; });
            text += note == std::end(group_notes) ? line + "\n" : with_comment(line, note->text);
            open.push_back(parts[depth]);
        }
        open.resize(parts.size());
        if (field.path == "peers") {
            text += with_comment("peers:", comment_of(field)) + two_peers;
            continue;
        }
        const std::string value = field.example.empty() ? field.write(defaults) : field.example;
        text += with_comment(fmt::format("{:{}}{}: {}", "", 2 * parts.size(), key, value),
                             comment_of(field));
    }
    return text;
}

}  // namespace ako
