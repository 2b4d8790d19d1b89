#include "src/launch/peer_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "ako/error.h"
#include "ako/replace_all.h"

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

}  // namespace

PeerWords PeerWords::of_command(const std::string& command) {
    std::vector<std::string> words;
    std::istringstream rest(command);
    for (std::string word; rest >> word;) words.push_back(word);
    if (words.empty() || can_start(words.front())) return PeerWords(std::move(words));
    throw StartupError(
        fmt::format("--in: {} is not a program that can be started", words.front()),
        "its path is relative to the folder in which launch is started; words end at spaces");
}

PeerWords PeerWords::of_program(std::vector<std::string> words, bool anywhere) {
    if (words.empty() || anywhere || can_start(words.front())) return PeerWords(std::move(words));
    throw StartupError(fmt::format("{} is not a program that can be started", words.front()),
                       "what follows -- is the program of each peer and its words, such as: ako "
                       "launch FILE -- python3 train.py");
}

PeerWords PeerWords::of_machines(std::vector<std::string> words,
                                 std::vector<std::string> machines) {
    return PeerWords(std::move(words), std::move(machines));
}

std::vector<std::string> PeerWords::of(std::size_t index, const std::string& name) const {
    std::vector<std::string> words = words_;
    for (std::string& word : words) {
        replace_all(word, "{number}", fmt::to_string(index + 1));
        replace_all(word, "{name}", name);
        if (index < machines_.size()) replace_all(word, "{machine}", machines_[index]);
    }
    return words;
}

}  // namespace ako
