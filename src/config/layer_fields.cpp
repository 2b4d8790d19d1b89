#include "src/config/layer_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/config/layer_forms.h"
#include "src/config/nearest_word.h"

namespace ako {

namespace {

/// Deep networks for CPUs have some 50 layers with their ReLUs; this is room for twice that. Those
/// inside a residual are a list of their own.
constexpr std::size_t layers_max = 128;

std::string layers_expected() { return fmt::format("a list of 1 to {} layers", layers_max); }

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

std::vector<LayerSettings> read_layers(const ConfigValue& value, const std::string& path);

void read_key(const LayerKey& key, const ConfigValue& value, const std::string& path,
              LayerSettings& layer) {
    if (key.list != nullptr)
        layer.*key.list = read_layers(value, path);
    else
        key.read(value, path, layer);
}

/// Is this what stands for the first key by itself: a number, or a list of layers?
bool is_bare(const LayerForm& form, const ConfigValue& value) {
    const bool one_required = form.keys.size() < 2 || !form.keys[1].required;
    const bool list = form.keys.front().list != nullptr;
    return one_required &&
           value.kind == (list ? ConfigValue::Kind::list : ConfigValue::Kind::scalar);
}

/// Reads the keys of one layer, or the bare value that stands for the first.
void read_keys(const LayerForm& form, const ConfigValue& value, const std::string& path,
               LayerSettings& layer) {
    const std::string expected = fmt::format("`{}`", form.example);
    if (form.keys.empty()) {
        if (value.kind != ConfigValue::Kind::null)
            refuse(value.where, path, expected, value.description());
        return;
    }
    if (is_bare(form, value)) return read_key(form.keys.front(), value, path, layer);
    if (value.kind != ConfigValue::Kind::map)
        refuse(value.where, path, expected, value.description());
    for (const ConfigEntry& entry : value.entries) {
        const auto key = std::find_if(form.keys.begin(), form.keys.end(),
                                      [&](const LayerKey& k) { return k.name == entry.key; });
        const std::string inner = fmt::format("{}.{}", path, entry.key);
        if (key == form.keys.end())
            refuse(entry.where, inner,
                   fmt::format("no key but {}", fmt::join(form.key_names(), ", ")), "it",
                   did_you_mean(entry.key, form.key_names()));
        read_key(*key, entry.value, inner, layer);
    }
    for (const LayerKey& key : form.keys) {
        if (key.required && value.find(key.name) == nullptr)
            refuse(value.where, fmt::format("{}.{}", path, key.name), key.expected, "nothing",
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

std::vector<LayerSettings> read_layers(const ConfigValue& value, const std::string& path) {
    if (value.kind != ConfigValue::Kind::list || value.entries.empty() ||
        value.entries.size() > layers_max)
        refuse(value.where, path, layers_expected(), value.description());
    std::vector<LayerSettings> layers;
    for (const ConfigEntry& entry : value.entries)
        layers.push_back(read_layer(entry.value, fmt::format("{}.{}", path, layers.size())));
    return layers;
}

/// "conv: {outputs: 20, window: 5, stride: 1, padding: 0}"; of a layer with others inside it,
/// "residual:".
std::string layer_text(const LayerSettings& layer) {
    const LayerForm& form = form_of(layer.kind);
    if (form.keys.empty()) return form.name;
    if (form.keys.front().list != nullptr) return form.name + ":";
    std::vector<std::string> keys;
    for (const LayerKey& key : form.keys) {
        const std::string value = key.write(layer);
        if (!value.empty()) keys.push_back(fmt::format("{}: {}", key.name, value));
    }
    return fmt::format("{}: {{{}}}", form.name, fmt::join(keys, ", "));
}

void add_lines(const std::vector<LayerSettings>& layers, std::size_t indent,
               std::vector<LayerLine>& lines) {
    for (const LayerSettings& layer : layers) {
        lines.push_back({fmt::format("{:{}}- {}", "", indent, layer_text(layer)), true});
        for (const LayerKey& key : form_of(layer.kind).keys) {
            if (key.list == nullptr || (layer.*key.list).empty()) continue;
            lines.push_back({fmt::format("{:{}}{}:", "", indent + 4, key.name), false});
            add_lines(layer.*key.list, indent + 6, lines);
        }
    }
}

}  // namespace

std::vector<LayerLine> layer_lines(const std::vector<LayerSettings>& layers) {
    std::vector<LayerLine> lines;
    add_lines(layers, 4, lines);
    return lines;
}

std::vector<std::string> layer_forms_text() {
    std::vector<std::string> lines;
    for (const LayerForm& form : layer_forms()) {
        std::vector<std::string> keys;
        for (const LayerKey& key : form.keys) {
            const std::string range = fmt::format("{} {}", key.name, key.range);
            keys.push_back(key.required ? range : "[" + range + "]");
        }
        lines.push_back(keys.empty()
                            ? form.example
                            : fmt::format("{:<36} {}", form.example, fmt::join(keys, ", ")));
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
    return {path, Scope::shared, expected, read, write};
}

Field layers_field() {
    const std::string path = "model.layers";
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        settings.model.layers = read_layers(value, path);
    };
    const auto write = [](const Settings& settings) {
        std::string list;
        for (const LayerLine& line : layer_lines(settings.model.layers)) list += "\n" + line.text;
        return list;
    };
    return {path, Scope::shared, layers_expected(), read, write};
}

}  // namespace ako
