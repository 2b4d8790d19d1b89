// The checkpoint file: what was put in comes out, and what is not whole is not believed.
#include "src/results/checkpoint_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "models/safetensors.h"
#include "src/numbers/digest.h"
#include "tests/contains.h"
#include "tests/unit/results/checkpoints.h"

namespace ako::checkpoint_file_test {

using namespace ako::test;

namespace {

std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A file with a checkpoint in it.
struct Written {
    Written() {
        checkpoint.words["rounds"] = {7, UINT64_MAX};
        checkpoint.numbers["known.workers"] = UINT64_MAX;
        const auto written = write_checkpoint(files, folder.path(), owner_of("a"), checkpoint);
        REQUIRE_MESSAGE(written, written.error().what);
    }
    TemporaryFolder folder;
    SystemFiles files;
    std::string path = checkpoint_path(folder.path(), "a", 40);
    Checkpoint checkpoint = checkpoint_of(40, 1000);
};

}  // namespace

TEST_CASE("a checkpoint comes back bit for bit") {
    Written file;
    const Result<Checkpoint> read = read_checkpoint(file.path);
    REQUIRE_MESSAGE(read, read.error().what);
    CHECK(read->id == file.checkpoint.id);
    CHECK(read->samples == file.checkpoint.samples);
    CHECK(read->progress == file.checkpoint.progress);
    CHECK(read->numbers == file.checkpoint.numbers);
    CHECK(read->floats == file.checkpoint.floats);
    CHECK(read->words == file.checkpoint.words);
    CHECK_FALSE(read->common);
    const Result<CheckpointHead> head = check_checkpoint(file.path);
    REQUIRE(head);
    CHECK(head->owner == owner_of("a"));
    CHECK(head->id == file.checkpoint.id);
    CHECK(head->progress == file.checkpoint.progress);
}

TEST_CASE("lists without values come back, though they begin where others do") {
    const TemporaryFolder folder;
    SystemFiles files;
    Checkpoint kept = checkpoint_of(40, 10);
    for (const char* const name : {"a", "o", "z"}) kept.floats[name] = {};
    kept.words["none"] = {};
    REQUIRE(write_checkpoint(files, folder.path(), owner_of("a"), kept));
    const Result<Checkpoint> read = read_checkpoint(checkpoint_path(folder.path(), "a", 40));
    REQUIRE_MESSAGE(read, read.error().what);
    CHECK(read->floats == kept.floats);
    CHECK(read->words == kept.words);
}

TEST_CASE("other tools can read it: it is a safetensors file") {
    Written file;
    file.checkpoint.words.clear();
    REQUIRE(write_checkpoint(file.files, file.folder.path(), owner_of("a"), file.checkpoint));
    const std::vector<float>& values = file.checkpoint.floats.at("parameters");
    const std::vector<float> read =
        read_safetensors(file.path, {{"parameters", {values.size()}, 0}});
    CHECK(read == values);
}

TEST_CASE("no byte can be another, be missing or be too many") {
    Written file;
    const std::string whole = text_of(file.path);
    std::mt19937_64 random(1);
    for (int k = 0; k < 400; ++k) {
        std::string text = whole;
        // Half of them in the header, where a number could still be read as another one.
        const std::size_t place = random() % (k % 2 == 0 ? std::size_t{1500} : text.size());
        text[place] = static_cast<char>(text[place] ^ (1 << random() % 8));
        write_text(file.path, text);
        CAPTURE(place);
        CHECK_FALSE(check_checkpoint(file.path));
        CHECK_FALSE(read_checkpoint(file.path));
    }
    for (std::size_t length = 0; length < whole.size(); length += 1 + random() % 200) {
        write_text(file.path, whole.substr(0, length));
        CAPTURE(length);
        CHECK_FALSE(check_checkpoint(file.path));
        CHECK_FALSE(read_checkpoint(file.path));
    }
    write_text(file.path, whole + '\0');
    CHECK_FALSE(check_checkpoint(file.path));
    CHECK_FALSE(read_checkpoint(file.path));
    write_text(file.path, whole);
    CHECK(check_checkpoint(file.path));
}

TEST_CASE("an error says what is wrong") {
    Written file;
    const auto why = [&](const std::string& text) {
        write_text(file.path, text);
        const auto found = check_checkpoint(file.path);
        REQUIRE_FALSE(found);
        return found.error().what;
    };
    const std::string whole = text_of(file.path);
    CHECK(why("") == "is cut off: it has fewer than 8 bytes");
    CHECK(why(whole.substr(0, 100)) == "is cut off within its header");
    CHECK(why(std::string(100, 'x')) == "is no checkpoint of Ako, or damaged");
    std::string changed = whole;
    changed.back() ^= 1;
    CHECK(contains(why(changed), "is damaged: it has the checksum "));
    changed = whole;
    changed.replace(changed.find("checkpoint 1"), 12, "checkpoint 2");
    CHECK(why(changed) ==
          "is of the format \"ako checkpoint 2\", not \"ako checkpoint 1\": another version of Ako "
          "wrote it");
    std::filesystem::remove(file.path);
    CHECK(check_checkpoint(file.path).error().what ==
          "cannot be opened: No such file or directory");
}

TEST_CASE("files of a peer are known by their names") {
    const TemporaryFolder folder;
    for (const char* name : {"state-a-40.safetensors", "state-a-120.safetensors", "state-a.partial",
                             "state-a-b-40.safetensors", "state-a-.safetensors",
                             "checkpoint.safetensors", "state-b-1.safetensors"})
        write_text(folder.file(name), "");
    std::vector<std::string> found = checkpoint_paths(folder.path(), "a");
    std::sort(found.begin(), found.end());
    CHECK(found == std::vector<std::string>{folder.file("state-a-120.safetensors"),
                                            folder.file("state-a-40.safetensors")});
    CHECK(checkpoint_paths(folder.path(), "a-b") ==
          std::vector<std::string>{folder.file("state-a-b-40.safetensors")});
    CHECK(checkpoint_paths(folder.file("none"), "a").empty());
}

}  // namespace ako::checkpoint_file_test
