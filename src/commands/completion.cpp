#include "src/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "ako/error.h"
#include "src/config/fields.h"
#include "src/config/nearest_word.h"

namespace ako {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    // What is hidden from the help is left out.
    return app.get_subcommands([](const CLI::App* it) { return !it->get_group().empty(); });
}

std::vector<std::string> names_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
    return names;
}

/// "--set", "-o"; what is hidden from the help is left out.
std::vector<std::string> options_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

constexpr const char* start_of_script =
    R"(# Completion of ako's command line. Load it with: source <(ako completion bash)
_ako() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=
    local command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$_ako_commands" -- "$word"))
        return
    fi
    case $before in
    --set)
        compopt -o nospace
        COMPREPLY=($(compgen -S = -W "$_ako_keys" -- "$word"))
        return ;;
    keys)
        COMPREPLY=($(compgen -W "$_ako_keys" -- "$word"))
        return ;;
    esac
    case $command in
)";

constexpr const char* end_of_script = R"(    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) compopt -o default ;;
    esac
}
complete -F _ako ako
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
    std::vector<std::string> first = names_of(app);
    for (const std::string& option : options_of(app)) first.push_back(option);
    std::vector<std::string> keys;
    for (const std::string& key : known_keys()) {
        if (key.find('*') == std::string::npos) keys.push_back(key);
    }
    std::string text = start_of_script;
    for (const CLI::App* command : commands_of(app))
        text += fmt::format("    {}) options=\"{}\" ;;\n", command->get_name(),
                            fmt::join(options_of(*command), " "));
    return text + end_of_script +
           fmt::format("_ako_commands=\"{}\"\n_ako_keys=\"{}\"\n", fmt::join(first, " "),
                       fmt::join(keys, " "));
}

void check_command_word(const CLI::App& app, const std::string& word) {
    const std::vector<std::string> names = names_of(app);
    const auto is_it = [&word](const CLI::App* it) { return it->get_name() == word; };
    if (word.starts_with('-') || !app.get_subcommands(is_it).empty()) return;
    const std::string meant = did_you_mean(word, names);
    throw StartupError(
        "there is no command " + word,
        !meant.empty() ? meant
                       : fmt::format("the commands are {}: `ako --help`", fmt::join(names, ", ")));
}

std::string option_meant(const CLI::App& app, const std::vector<std::string>& words) {
    for (const CLI::App* command : app.get_subcommands()) {
        const std::vector<std::string> options = options_of(*command);
        std::vector<std::string> names;  // without the dashes, in which all are alike
        for (const std::string& option : options) {
            if (option.starts_with("--")) names.push_back(option.substr(2));
        }
        for (const std::string& word : words) {
            const std::string name = word.substr(0, word.find('='));
            if (!name.starts_with("--") ||
                std::find(options.begin(), options.end(), name) != options.end())
                continue;
            const std::string meant = nearest_word(name.substr(2), names);
            return meant.empty() ? "" : "did you mean --" + meant + "?";
        }
    }
    return "";
}

}  // namespace ako
