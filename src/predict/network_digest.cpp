// See network_digest.h.
#include "src/predict/network_digest.h"

#include <fmt/format.h>

#include "models/catalog.h"
#include "src/config/layer_fields.h"
#include "src/numbers/digest.h"

namespace ako {

std::string network_digest(const Settings& settings) {
    std::string text = fmt::format("{} threads\n", settings.training.threads);
    if (needs_data(settings.model.kind)) {
        const ModelSettings model = written_out(settings.model);
        text += shape_text(model.input);
        for (const LayerLine& line : layer_lines(model.layers)) text += line.text + "\n";
    } else {
        text += fmt::format("{} {} {}", static_cast<int>(settings.model.kind),
                            settings.model.parameters, settings.model.compute_ms);
    }
    constexpr std::size_t digits = 16;
    return hex(sha256(text)).substr(0, digits);
}

std::vector<Range> network_layers(const Settings& settings, std::size_t parameter_count) {
    if (settings.model.kind == ModelKind::external) return {{0, parameter_count}};
    return layer_ranges(make_network(settings.model)->tensors());
}

}  // namespace ako
