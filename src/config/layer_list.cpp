#include "src/config/layer_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/config/nearest_word.h"

namespace ako {

namespace {

/// Deep networks for CPUs have some 50 layers with their ReLUs; this is room for twice that.
constexpr std::size_t layers_max = 128;
/// A side of 4,096 and 4,096 channels: 16 times what photographs and their networks have.
constexpr std::uint64_t extent_max = 4'096;
/// Published networks have windows of up to 31.
constexpr std::uint64_t window_max = 256;
/// The widest dense layers there are (the words of a language) have some 100,000 outputs.
constexpr std::uint64_t outputs_max = 1'000'000;

/// A key of a layer; the first of a layer's keys is the one that a bare number stands for.
struct LayerKey {
    std::string name;
    std::size_t LayerSettings::*member;
    std::uint64_t low;
    std::uint64_t high;
    bool required;

    std::string expected() const { return fmt::format("a whole number from {} to {}", low, high); }
};

/// A kind of layer, as it is written.
struct LayerForm {
    LayerKind kind;
    std::string name;
    std::vector<LayerKey> keys;
    std::string example;
};

const std::vector<LayerForm>& layer_forms() {
    using L = LayerSettings;
    static const std::vector<LayerForm> forms = {
        {LayerKind::conv,
         "conv",
         {{"outputs", &L::outputs, 1, outputs_max, true},
          {"window", &L::window, 1, window_max, true},
          {"stride", &L::stride, 1, window_max, false},
          {"padding", &L::padding, 0, window_max, false}},
         "conv: {outputs: 20, window: 5}"},
        {LayerKind::max_pool,
         "max_pool",
         {{"window", &L::window, 1, window_max, true},
          {"stride", &L::stride, 1, window_max, false}},
         "max_pool: {window: 2}"},
        {LayerKind::global_average_pool, "global_average_pool", {}, "global_average_pool"},
        {LayerKind::group_norm,
         "group_norm",
         {{"groups", &L::groups, 1, extent_max, true}},
         "group_norm: {groups: 8}"},
        {LayerKind::relu, "relu", {}, "relu"},
        {LayerKind::flatten, "flatten", {}, "flatten"},
        {LayerKind::dense, "dense", {{"outputs", &L::outputs, 1, outputs_max, true}}, "dense: 10"},
    };
    return forms;
}

std::string layer_remedy(const std::string& unknown, const std::vector<std::string>& names) {
    if (unknown.starts_with("softmax"))
        return "the softmax and its loss come by themselves after the last layer";
    const std::string meant = did_you_mean(unknown, names);
    return meant.empty() ? "`ako keys model.layers` prints every layer with its keys" : meant;
}

const LayerForm& form_named(const std::string& name, const std::string& where,
                            const std::string& path) {
    std::vector<std::string> names;
    for (const LayerForm& form : layer_forms()) {
        if (form.name == name) return form;
        names.push_back(form.name);
    }
    refuse(where, path, fmt::format("one of the layers {}", fmt::join(names, ", ")), name,
           layer_remedy(name, names));
}

std::size_t read_key(const LayerKey& key, const ConfigValue& value, const std::string& path) {
    const std::uint64_t number = read_whole(value, path, key.expected());
    if (number < key.low || number > key.high)
        refuse(value.where, path, key.expected(), value.description());
    return static_cast<std::size_t>(number);
}

/// Reads the keys of one layer, or the bare number that stands for the first.
void read_keys(const LayerForm& form, const ConfigValue& value, const std::string& path,
               LayerSettings& layer) {
    const std::string expected = fmt::format("`{}`", form.example);
    if (form.keys.empty()) {
        if (value.kind != ConfigValue::Kind::null)
            refuse(value.where, path, expected, value.description());
        return;
    }
    const bool one_required = form.keys.size() < 2 || !form.keys[1].required;
    if (value.kind == ConfigValue::Kind::scalar && one_required) {
        layer.*form.keys.front().member = read_key(form.keys.front(), value, path);
        return;
    }
    if (value.kind != ConfigValue::Kind::map)
        refuse(value.where, path, expected, value.description());
    for (const ConfigEntry& entry : value.entries) {
        const auto key = std::find_if(form.keys.begin(), form.keys.end(),
                                      [&](const LayerKey& k) { return k.name == entry.key; });
        const std::string inner = fmt::format("{}.{}", path, entry.key);
        if (key == form.keys.end()) {
            std::vector<std::string> names;
            for (const LayerKey& known : form.keys) names.push_back(known.name);
            refuse(entry.where, inner, fmt::format("no key but {}", fmt::join(names, ", ")), "it",
                   did_you_mean(entry.key, names));
        }
        layer.*key->member = read_key(*key, entry.value, inner);
    }
    for (const LayerKey& key : form.keys) {
        if (key.required && value.find(key.name) == nullptr)
            refuse(value.where, fmt::format("{}.{}", path, key.name), key.expected(), "nothing",
                   fmt::format("for example {}", expected));
    }
}

LayerSettings read_layer(const ConfigValue& value, const std::string& path) {
    const bool bare = value.kind == ConfigValue::Kind::scalar;
    if (!bare && (value.kind != ConfigValue::Kind::map || value.entries.size() != 1))
        refuse(value.where, path, "one layer, such as `relu` or `dense: 10`", value.description(),
               bare || value.entries.empty()
                   ? ""
                   : fmt::format("write `- {}: {{...}}`, or indent its keys below it",
                                 value.entries.front().key));
    const std::string& name = bare ? value.text : value.entries.front().key;
    const LayerForm& form = form_named(name, value.where, path);
    const ConfigValue nothing =
        ConfigValue::make(ConfigValue::Kind::null, value.where, value.from_command_line);
    const ConfigValue& keys = bare ? nothing : value.entries.front().value;
    LayerSettings layer;
    layer.kind = form.kind;
    layer.place.text = fmt::format("{}: {}.{}", value.where, path, form.name);
    layer.stride = 0;
    read_keys(form, keys, fmt::format("{}.{}", path, form.name), layer);
    if (layer.stride == 0) layer.stride = form.kind == LayerKind::max_pool ? layer.window : 1;
    return layer;
}

}  // namespace

std::string layer_text(const LayerSettings& layer) {
    for (const LayerForm& form : layer_forms()) {
        if (form.kind != layer.kind) continue;
        std::vector<std::string> keys;
        for (const LayerKey& key : form.keys)
            keys.push_back(fmt::format("{}: {}", key.name, layer.*key.member));
        if (keys.empty()) return form.name;
        return fmt::format("{}: {{{}}}", form.name, fmt::join(keys, ", "));
    }
    return "";
}

std::vector<std::string> layer_forms_text() {
    std::vector<std::string> lines;
    for (const LayerForm& form : layer_forms()) {
        std::vector<std::string> keys;
        for (const LayerKey& key : form.keys) {
            const std::string range = fmt::format("{} {} to {}", key.name, key.low, key.high);
            keys.push_back(key.required ? range : "[" + range + "]");
        }
        lines.push_back(keys.empty()
                            ? form.example
                            : fmt::format("{:<32} {}", form.example, fmt::join(keys, ", ")));
    }
    return lines;
}

std::string shape_text(const Shape& shape) {
    return fmt::format("[{}, {}, {}]", shape.height, shape.width, shape.channels);
}

Field input_shape_field() {
    const std::string path = "model.input";
    const std::string expected =
        fmt::format("[height, width, channels], each a whole number from 1 to {}", extent_max);
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        if (value.kind != ConfigValue::Kind::list || value.entries.size() != 3)
            refuse(value.where, path, expected, value.description());
        std::size_t extents[3];
        for (std::size_t k = 0; k < 3; ++k) {
            const ConfigValue& entry = value.entries[k].value;
            extents[k] = static_cast<std::size_t>(read_whole(entry, path, expected));
            if (extents[k] < 1 || extents[k] > extent_max)
                refuse(entry.where, path, expected, entry.description());
        }
        settings.model.input = {extents[0], extents[1], extents[2]};
    };
    const auto write = [](const Settings& settings) { return shape_text(settings.model.input); };
    return {path, Scope::shared, expected, read, write, {}, ""};
}

Field layers_field() {
    const std::string path = "model.layers";
    const std::string expected = fmt::format("a list of 1 to {} layers", layers_max);
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        if (value.kind != ConfigValue::Kind::list || value.entries.empty() ||
            value.entries.size() > layers_max)
            refuse(value.where, path, expected, value.description());
        std::vector<LayerSettings> layers;
        for (const ConfigEntry& entry : value.entries)
            layers.push_back(read_layer(entry.value, fmt::format("{}.{}", path, layers.size())));
        settings.model.layers = std::move(layers);
    };
    const auto write = [](const Settings& settings) {
        std::string list;
        for (const LayerSettings& layer : settings.model.layers)
            list += fmt::format("\n    - {}", layer_text(layer));
        return list;
    };
    return {path, Scope::shared, expected, read, write, {}, ""};
}

}  // namespace ako
