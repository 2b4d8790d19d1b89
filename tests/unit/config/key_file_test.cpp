// The key file: what passes for one, and for everything else the reason and the remedy.
#include "src/config/key_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ako/error.h"
#include "tests/contains.h"

namespace ako::key_file_test {

using ako::test::contains;

namespace {

/// A folder that is gone after the test.
class KeyFolder {
  public:
    KeyFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "ako-key-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        folder_ = name;
    }
    ~KeyFolder() { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string write(const std::string& content, mode_t mode = 0600) const {
        const std::string file = path("cluster.key");
        std::ofstream(file, std::ios::binary) << content;
        chmod(file.c_str(), mode);
        return file;
    }

  private:
    std::filesystem::path folder_;
};

std::string complaint(const std::string& path) {
    try {
        read_key_file(path);
    } catch (const StartupError& error) {
        return std::string(error.what()) + " (" + error.hint() + ")";
    }
    return "";
}

}  // namespace

TEST_CASE("a key is what stands in the file, without what editors add at its end") {
    const KeyFolder folder;
    const std::string key = "0123456789abcdef";
    CHECK(read_key_file(folder.write(key)) == key);
    CHECK(read_key_file(folder.write(key + "\n")) == key);
    CHECK(read_key_file(folder.write(key + " \r\n\n")) == key);
    CHECK(read_key_file(folder.write(" " + key, 0400)) == " " + key);
    CHECK(read_key_file(folder.write(key, 0640)) == key);
    const std::string binary("\0\1\2\3\4\5\6\7\0\1\2\3\4\5\6\7", 16);
    CHECK(read_key_file(folder.write(binary)) == binary);
    const std::string longest(key_bytes_max, 'x');
    CHECK(read_key_file(folder.write(longest)) == longest);
}

TEST_CASE("what is no key is refused with the remedy, and never shown") {
    const KeyFolder folder;
    const std::string missing = complaint(folder.path("none.key"));
    CHECK(missing.starts_with("cluster_key_file: " + folder.path("none.key") +
                              ": cannot be read: No such file"));
    CHECK(contains(missing, "openssl rand -hex 32 > " + folder.path("none.key")));
    CHECK(contains(complaint(folder.path(".")), "this is no file"));
    REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
    CHECK(contains(complaint(folder.path("pipe")), "this is no file"));
    CHECK(contains(complaint(folder.write("")), "0 bytes are too few for a key, 16 at least"));
    CHECK(contains(complaint(folder.write("0123456789abcde\n\n\n")), "15 bytes are too few"));
    CHECK_FALSE(contains(complaint(folder.write("secret")), "secret"));
    CHECK(contains(complaint(folder.write(std::string(key_bytes_max + 1, 'x'))), "more than 4096"));
}

TEST_CASE("a key that every user may use is refused") {
    const KeyFolder folder;
    for (const mode_t mode : {0644, 0604, 0602, 0601, 0777}) {
        CAPTURE(mode);
        const std::string text = complaint(folder.write("0123456789abcdef", mode));
        CHECK(contains(text, "every user of this machine may use it (mode 0"));
        CHECK(contains(text, "chmod 600 " + folder.path("cluster.key")));
    }
}

}  // namespace ako::key_file_test
