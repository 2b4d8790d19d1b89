#include "src/config/layer_forms.h"

#include <fmt/format.h>

#include <utility>

#include "ako/assert.h"
#include "src/config/field_types.h"

namespace ako {

namespace {

/// Published networks have windows of up to 31.
constexpr std::uint64_t window_max = 256;
/// The widest dense layers there are (the words of a language) have some 100,000 outputs.
constexpr std::uint64_t outputs_max = 1'000'000;

enum class Need { required, optional };

LayerKey whole_key(const std::string& name, std::size_t LayerSettings::*member, std::uint64_t low,
                   std::uint64_t high, Need need = Need::required) {
    const std::string range = fmt::format("{} to {}", low, high);
    const std::string expected = "a whole number from " + range;
    const auto read = [=](const ConfigValue& value, const std::string& path, LayerSettings& layer) {
        const std::uint64_t number = read_whole(value, path, expected);
        if (number < low || number > high) refuse(value.where, path, expected, value.description());
        layer.*member = static_cast<std::size_t>(number);
    };
    const auto write = [=](const LayerSettings& layer) { return fmt::to_string(layer.*member); };
    return {name, expected, range, need == Need::required, read, write};
}

LayerKey padding_mode_key() {
    static constexpr std::pair<const char*, PaddingMode> words[] = {
        {"zeros", PaddingMode::zeros},
        {"replicate", PaddingMode::replicate},
        {"reflect", PaddingMode::reflect}};
    const std::string expected = "zeros, replicate or reflect";
    const auto read = [=](const ConfigValue& value, const std::string& path, LayerSettings& layer) {
        const std::string text = read_text(value, path, expected);
        for (const auto& [word, mode] : words) {
            if (text != word) continue;
            layer.padding_mode = mode;
            return;
        }
        refuse(value.where, path, expected, value.description(),
               did_you_mean(text, {"zeros", "replicate", "reflect"}));
    };
    const auto write = [](const LayerSettings& layer) {
        for (const auto& [word, mode] : words) {
            if (mode == layer.padding_mode && mode != PaddingMode::zeros) return std::string(word);
        }
        return std::string();  // zeros are what everybody expects
    };
    return {"padding_mode", expected, "zeros | replicate | reflect", false, read, write};
}

/// A number above 0 and below 1.
LayerKey share_key(const std::string& name, double LayerSettings::*member) {
    const Bounds bounds{.low = 0, .high = 1, .low_open = true, .high_open = true};
    const auto read = [=](const ConfigValue& value, const std::string& path, LayerSettings& layer) {
        layer.*member = read_bounded(value, path, bounds);
    };
    const auto write = [=](const LayerSettings& layer) { return write_number(layer.*member); };
    return {name, bounds.description(), "above 0, below 1", true, read, write};
}

LayerKey list_key(const std::string& name, std::vector<LayerSettings> LayerSettings::*member,
                  Need need) {
    return {name, "a list of layers", "a list", need == Need::required, {}, {}, member};
}

std::vector<LayerForm> make_forms() {
    using L = LayerSettings;
    const auto optional = Need::optional;
    return {
        {LayerKind::conv,
         "conv",
         {whole_key("outputs", &L::outputs, 1, outputs_max),
          whole_key("window", &L::window, 1, window_max),
          whole_key("stride", &L::stride, 1, window_max, optional),
          whole_key("padding", &L::padding, 0, window_max, optional), padding_mode_key()},
         "conv: {outputs: 20, window: 5}"},
        {LayerKind::max_pool,
         "max_pool",
         {whole_key("window", &L::window, 1, window_max),
          whole_key("stride", &L::stride, 1, window_max, optional)},
         "max_pool: {window: 2}"},
        {LayerKind::global_average_pool, "global_average_pool", {}, "global_average_pool"},
        {LayerKind::group_norm,
         "group_norm",
         {whole_key("groups", &L::groups, 1, extent_max)},
         "group_norm: {groups: 8}"},
        {LayerKind::relu, "relu", {}, "relu"},
        {LayerKind::residual,
         "residual",
         {list_key("layers", &L::layers, Need::required),
          list_key("shortcut", &L::shortcut, optional)},
         "residual: {layers: [...]}"},
        {LayerKind::subsample,
         "subsample",
         {whole_key("stride", &L::stride, 1, window_max),
          whole_key("outputs", &L::outputs, 1, outputs_max)},
         "subsample: {stride: 2, outputs: 32}"},
        {LayerKind::dropout, "dropout", {share_key("rate", &L::rate)}, "dropout: 0.5"},
        {LayerKind::flatten, "flatten", {}, "flatten"},
        {LayerKind::dense,
         "dense",
         {whole_key("outputs", &L::outputs, 1, outputs_max)},
         "dense: 10"},
    };
}

}  // namespace

std::vector<std::string> LayerForm::key_names() const {
    std::vector<std::string> names;
    for (const LayerKey& key : keys) names.push_back(key.name);
    return names;
}

const std::vector<LayerForm>& layer_forms() {
    static const std::vector<LayerForm> forms = make_forms();
    return forms;
}

const LayerForm& form_of(LayerKind kind) {
    for (const LayerForm& form : layer_forms()) {
        if (form.kind == kind) return form;
    }
    AKO_BUG("layer kind " + std::to_string(static_cast<int>(kind)));
}

}  // namespace ako
