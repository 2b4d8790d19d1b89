#include "src/commands/keys_command.h"

#include <fmt/format.h>

#include "ako/error.h"
#include "src/commands/wrapped_text.h"
#include "src/config/example_file.h"
#include "src/config/fields.h"
#include "src/config/key_texts.h"
#include "src/config/layer_fields.h"

namespace ako {

namespace {

constexpr const char* indent = "    ";

std::string key_text(const KeyText& key) {
    std::string text = key.path + "\n" + wrapped(key.meaning, indent);
    std::string values = key.expected;
    if (!key.standard.empty())
        values += (key.standard.starts_with("required") ? "; " : "; default ") + key.standard;
    text += wrapped(values, indent);
    if (!key.applies_with.empty()) text += wrapped("only with " + key.applies_with, indent);
    for (const std::string& limit : key.limits) text += wrapped("here only " + limit, indent);
    if (key.path == "model.layers") {
        for (const std::string& form : layer_forms_text())
            text += std::string(indent) + "- " + form + "\n";
    }
    return text;
}

}  // namespace

std::string keys_text(const KeysOptions& options) {
    if (options.example) return example_file();
    const ModeEntry* const mode = options.mode.empty() ? nullptr : entry_named(options.mode);
    if (!options.mode.empty() && mode == nullptr)
        throw StartupError(fmt::format("there is no mode {}", options.mode),
                           fmt::format("a mode is {}", field_at("exchange.mode").expected));
    std::string text;
    for (const KeyText& key : key_texts_of(options.group, mode))
        text += (text.empty() ? "" : "\n") + key_text(key);
    return text;
}

ExitStatus keys(const KeysOptions& options) {
    fmt::print("{}", keys_text(options));
    return exit_ok;
}

}  // namespace ako
