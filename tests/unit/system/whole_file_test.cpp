// Files that are written as a whole, or not at all, with why.
#include "src/system/whole_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "ako/error.h"
#include "src/system/output_file.h"

namespace ako::whole_file_test {

namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// No file of this process may become longer while it lives.
class FileLimit {
  public:
    explicit FileLimit(rlim_t bytes) {
        handler_ = signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limited{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limited);
    }
    ~FileLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        signal(SIGXFSZ, handler_);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

  private:
    rlimit before_{};
    sighandler_t handler_;
};

std::string refusal(const std::string& path, const std::string& text) {
    try {
        write_whole_file(path, text);
    } catch (const StartupError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a file is replaced as a whole, or stays as it was, and the reason is the system's") {
    std::string folder = (fs::temp_directory_path() / "ako-test-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    const std::string path = folder + "/file";
    write_whole_file(path, "old");
    CHECK(text_of(path) == "old");
    {
        const FileLimit limit(100);
        CHECK(refusal(path, std::string(1000, 'x')) ==
              path + ": cannot be written: File too large");
    }
    CHECK(text_of(path) == "old");
    CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
    const std::string nowhere = folder + "/none/file";
    CHECK(refusal(nowhere, "new") == nowhere + ": cannot be written: No such file or directory");
    write_whole_file(path, "new");
    CHECK(text_of(path) == "new");
    fs::remove_all(folder);
}

TEST_CASE("a pipe in the place of a file is refused, and not waited for") {
    const fs::path folder = fs::temp_directory_path() / ("ako-pipe-" + std::to_string(getpid()));
    fs::create_directory(folder);
    const std::string path = folder / "log.txt";
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    for (const int reader : {-1, open(path.c_str(), O_RDONLY | O_NONBLOCK)}) {
        const Result<int> file = open_output(path, O_APPEND);
        REQUIRE_FALSE(file);
        CHECK(file.error().what == "it is a pipe, and no file");
        if (reader >= 0) close(reader);
    }
    fs::remove_all(folder);
}

}  // namespace ako::whole_file_test
