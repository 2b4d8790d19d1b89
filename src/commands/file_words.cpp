// See file_words.h.
#include "src/commands/file_words.h"

namespace ako {

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
    command
        .add_option("--set", overrides,
                    "override a key of the file, such as training.epochs=1; repeatable")
        ->type_name("KEY=VALUE")
        ->take_all()
        ->allow_extra_args(false);
}

void add_cluster_file(CLI::App& command, std::string& file, std::vector<std::string>& overrides) {
    command.add_option("FILE", file, "the cluster file (YAML)")->required();
    add_overrides(command, overrides);
}

}  // namespace ako
