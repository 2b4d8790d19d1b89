// See explore_words.h.
#include "src/commands/explore_words.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "ako/error.h"
#include "src/system/child_process.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

/// In a checkout or where the Debian package puts it; else where Python looks anyway.
void let_python_find_the_package(const fs::path& program) {
    for (fs::path above = program.parent_path(); above.has_relative_path();
         above = above.parent_path()) {
        for (const char* const place : {"src/python", "share/ako/python"}) {
            std::error_code error;
            const fs::path package = above / place;
            if (!fs::exists(package / "ako/explore/__main__.py", error)) continue;
            const char* const before = std::getenv("PYTHONPATH");  // NOLINT(concurrency-mt-unsafe)
            const std::string path =
                package.string() + (before == nullptr ? "" : ":" + std::string(before));
            setenv("PYTHONPATH", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): alone here
            return;
        }
    }
}

}  // namespace

ExploreWords::ExploreWords(CLI::App& app)
    : explore_(app.add_subcommand(
          "explore", "Find the best of many configurations, and train what they share once")) {
    explore_->add_option("PLAN", plan_, "the plan of the search (YAML)")->required();
    explore_->add_flag("--list", list_, "show trials and what they share; run nothing");
    explore_->add_flag("--resume", resume_, "go on with the search that was begun");
    explore_
        ->add_option("--slots", slots_,
                     "of this machine, one for each core of a peer (its cores if left out)")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    explore_
        ->add_option("--scheduler", scheduler_,
                     "of Dask, which has workers with slots (dask worker ADDRESS --nthreads N "
                     "--resources slots=N); else this machine's cores are taken")
        ->type_name("ADDRESS");
    explore_
        ->add_option("--output-dir", output_dir_,
                     "of the search, with its page and its best (explore/NAME if left out)")
        ->type_name("FOLDER");
    explore_
        ->add_option("--store", store_,
                     "where stages are kept, for later searches, too")
        ->type_name("FOLDER")
        ->capture_default_str();
    explore_->add_option("--dashboard", dashboard_, "of Dask: its address, such as :8787")
        ->type_name("ADDRESS");
    explore_->add_flag("--plain", plain_, "lines instead of a table at a terminal");
}

std::string ExploreWords::said() const {
    const nlohmann::json all = {{"plan", plan_},           {"ako", own_program()},
                                {"list", list_},           {"resume", resume_},
                                {"plain", plain_},         {"slots", slots_},
                                {"scheduler", scheduler_}, {"output_dir", output_dir_},
                                {"store", store_},         {"dashboard", dashboard_}};
    return all.dump();
}

std::optional<int> ExploreWords::run() const {
    if (!explore_->parsed()) return std::nullopt;
    let_python_find_the_package(own_program());
    const char* const named = std::getenv("AKO_PYTHON");  // NOLINT(concurrency-mt-unsafe)
    std::vector<std::string> all = {named == nullptr ? "python3" : named, "-m", "ako.explore",
                                    said()};
    std::vector<char*> pointers;
    for (std::string& word : all) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp(pointers[0], pointers.data());
    throw StartupError(all[0] + ": " + std::error_code(errno, std::generic_category()).message(),
                       "apt install python3 python3-yaml python3-distributed, or name a Python "
                       "that has Dask in AKO_PYTHON");
}

}  // namespace ako
