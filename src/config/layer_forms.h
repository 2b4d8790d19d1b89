// The kinds of layers as they are written in the cluster file: each with its name, its keys and
// what those may be. A table, constant after construction; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/model_settings.h"
#include "src/config/config_value.h"

namespace ako {

/// A side of 4,096 and 4,096 channels: 16 times what photographs and their networks have.
inline constexpr std::uint64_t extent_max = 4'096;

/// A key of a layer; the first of a layer's keys is the one that a bare value stands for.
struct LayerKey {
    std::string name;
    std::string expected;  ///< for complaints: "a whole number from 1 to 256"
    std::string range;     ///< the same in short: "1 to 256"
    bool required = false;
    /// Reads the value at `path` or refuses it; of a list of layers nothing, see `list`.
    std::function<void(const ConfigValue&, const std::string& path, LayerSettings&)> read = {};
    std::function<std::string(const LayerSettings&)> write = {};  ///< empty: need not be said
    /// Where its value is a list of layers, which stand inside this one.
    std::vector<LayerSettings> LayerSettings::*list = nullptr;
};

struct LayerForm {
    LayerKind kind;
    std::string name;
    std::vector<LayerKey> keys;
    std::string example;

    /// "outputs, window, stride".
    std::vector<std::string> key_names() const;
};

const std::vector<LayerForm>& layer_forms();
const LayerForm& form_of(LayerKind kind);

}  // namespace ako
