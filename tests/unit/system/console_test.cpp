// The console: lines in their order, and nobody who waits for who reads them.
#include "src/system/console.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace ako::console_test {

namespace {

using Stream = Console::Stream;

/// A pipe that is read when the test likes.
class Pipe {
  public:
    Pipe() { REQUIRE(pipe2(ends_.data(), O_CLOEXEC) == 0); }
    ~Pipe() {
        close_reader();
        close_writer();
    }
    int writer() const { return ends_[1]; }
    void close_reader() { close_end(ends_[0]); }
    void close_writer() { close_end(ends_[1]); }
    /// Fills the pipe, so that a writer waits from the first byte on. A reader never sees this.
    void fill() {
        const int flags = fcntl(writer(), F_GETFL);
        REQUIRE(fcntl(writer(), F_SETFL, flags | O_NONBLOCK) == 0);
        const std::string page(4096, '.');
        ssize_t count = 0;
        while ((count = write(writer(), page.data(), page.size())) > 0)
            filling_ += static_cast<std::size_t>(count);
        REQUIRE(errno == EAGAIN);
        REQUIRE(fcntl(writer(), F_SETFL, flags) == 0);
    }
    /// At least one byte; waits for it.
    std::string read_some() {
        std::string text = read_once();
        const std::size_t dropped = std::min(filling_, text.size());
        filling_ -= dropped;
        text.erase(0, dropped);
        return text.empty() && dropped > 0 ? read_some() : text;
    }
    /// To the end, once nobody writes any more.
    std::string read_rest() {
        std::string text;
        for (std::string piece = read_some(); !piece.empty(); piece = read_some()) text += piece;
        return text;
    }

  private:
    std::string read_once() {
        std::array<char, 65536> buffer;
        const ssize_t count = read(ends_[0], buffer.data(), buffer.size());
        REQUIRE(count >= 0);
        return {buffer.data(), static_cast<std::size_t>(count)};
    }
    static void close_end(int& fd) {
        if (fd >= 0) close(fd);
        fd = -1;
    }
    std::array<int, 2> ends_{-1, -1};
    std::size_t filling_ = 0;  ///< bytes of fill() not yet read
};

const std::string line_of_1k = std::string(1023, 'x') + "\n";

/// Twice as many lines as the queue takes.
constexpr int taken = static_cast<int>(Console::waiting_bytes_max >> 10);
constexpr int too_many = 2 * taken;

/// What comes of them if the pipe is full meanwhile: one line in the writer's hand, the others in
/// the queue, which counts that one too.
std::string shown_of_too_many() {
    std::string text;
    for (int k = 0; k < taken; ++k) text += line_of_1k;
    return text + "(" + std::to_string(too_many - taken) +
           " lines were left out here: nobody took them)\n";
}

}  // namespace

TEST_CASE("lines of both streams are written in their order") {
    Pipe pipe;
    {
        Console console(pipe.writer(), pipe.writer());
        for (int k = 0; k < 100; ++k)
            console.print(k % 2 == 0 ? Stream::out : Stream::err, std::to_string(k) + "\n");
    }
    pipe.close_writer();
    std::string expected;
    for (int k = 0; k < 100; ++k) expected += std::to_string(k) + "\n";
    CHECK(pipe.read_rest() == expected);
}

TEST_CASE("who prints never waits, and what found no room is counted") {
    Pipe pipe;
    pipe.fill();
    std::string shown;
    {
        Console console(pipe.writer(), pipe.writer(), std::chrono::minutes(1));
        std::vector<std::thread> threads;
        for (int k = 0; k < 2; ++k)
            threads.emplace_back([&] {
                for (int line = 0; line < too_many / 2; ++line)
                    console.print(Stream::out, line_of_1k);
            });
        for (std::thread& thread : threads) thread.join();  // would not return before
        // Room again: the reader has to make it before the next line can be taken.
        while (shown.size() < Console::waiting_bytes_max / 2) shown += pipe.read_some();
        console.print(Stream::out, "after\n");
        while (shown.find("after\n") == std::string::npos) shown += pipe.read_some();
    }
    CHECK(shown == shown_of_too_many() + "after\n");
}

TEST_CASE("the end does not wait for ever for a terminal that takes nothing") {
    // The pipe outlives the writer, which stays blocked until somebody reads.
    Pipe pipe;
    pipe.fill();
    {
        Console console(pipe.writer(), pipe.writer(), std::chrono::milliseconds(1));
        for (int k = 0; k < too_many; ++k) console.print(Stream::out, line_of_1k);
    }
    // What it still has comes to a reader that begins again. The note is the last of it: then the
    // thread ends, and writes to no descriptor any more.
    std::string shown;
    while (shown.find("nobody took them)\n") == std::string::npos) shown += pipe.read_some();
    CHECK(shown == shown_of_too_many());
}

TEST_CASE("a stream that refuses is no reason to stop, and is named once with its reason") {
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    REQUIRE(full >= 0);
    Pipe pipe;
    {
        Console console(full, pipe.writer());
        for (int k = 0; k < 100; ++k) console.print(Stream::out, "lost\n");
        console.print(Stream::err, "kept\n");
        console.print(Stream::out, "lost\n");
    }
    {
        Console console(full, full);
        console.print(Stream::out, "lost\n");
        console.print(Stream::err, "lost\n");
    }
    pipe.close_writer();
    CHECK(pipe.read_rest() ==
          "(standard output takes no more lines: No space left on device)\nkept\n"
          "(101 lines were lost, which standard output did not take: No space left on device)\n");
    close(full);
}

}  // namespace ako::console_test
