#include "src/launch/peer_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "ako/error.h"

namespace ako {

namespace {

/// As execvp looks for it. Before any thread is started; nothing here ever sets the environment.
bool can_start(const std::string& program) {
    if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
    const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): see above
    std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string found = fmt::format("{}/{}", folder, program);
        if (access(found.c_str(), X_OK) == 0) return true;
    }
    return false;
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

}  // namespace

PeerPlace::PeerPlace(const std::string& command) {
    std::istringstream rest(command);
    for (std::string word; rest >> word;) words_.push_back(word);
    if (words_.empty() || can_start(words_.front())) return;
    throw StartupError(
        fmt::format("--in: {} is not a program that can be started", words_.front()),
        "its path is relative to the folder in which launch is started; words end at spaces");
}

std::vector<std::string> PeerPlace::words(std::size_t index, const std::string& name) const {
    std::vector<std::string> words = words_;
    for (std::string& word : words) {
        replace_all(word, "{number}", fmt::to_string(index + 1));
        replace_all(word, "{name}", name);
    }
    return words;
}

}  // namespace ako
