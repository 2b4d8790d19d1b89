#include "src/commands/keys_command.h"

#include <fmt/format.h>

#include "src/commands/wrapped_text.h"
#include "src/config/key_texts.h"
#include "src/config/layer_list.h"

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
    if (key.path == "model.layers") {
        for (const std::string& form : layer_forms_text())
            text += std::string(indent) + "- " + form + "\n";
    }
    return text;
}

}  // namespace

std::string keys_text(const std::string& group) {
    std::string text;
    for (const KeyText& key : key_texts_of(group))
        text += (text.empty() ? "" : "\n") + key_text(key);
    return text;
}

ExitStatus keys(const std::string& group) {
    fmt::print("{}", keys_text(group));
    return exit_ok;
}

}  // namespace ako
