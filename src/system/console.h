// The console: lines for people on their way to standard output and standard error. A terminal may
// take none for as long as somebody likes (Ctrl-S, a pager, a link that is gone), a file no more
// for ever (a full disk); neither may stop who prints. So lines go into a queue with a limit in
// bytes and are written, in their order, by a thread of the console's own. (A live view has another
// one, src/screen/view_thread.h; no other thread ever waits for a terminal.) What finds no room is
// left out, counted, and said at its place once there is room again. A stream that refuses (a full
// disk, a pipe whose reader is gone) is named once on standard error with its reason, and how many
// lines it lost at the end.
//
// print() from any thread; made and destroyed on one. The thread may outlive the console, blocked
// in a write: it touches nothing but what it shares, and ends with the process, which must end by
// _exit (see main.cpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace ako {

class Console {
  public:
    enum class Stream { out, err };

    /// Room for some thousand lines: minutes of a run that is shown as text.
    static constexpr std::size_t waiting_bytes_max = std::size_t{256} << 10;
    /// How long the last lines of a process wait for a terminal that takes none.
    static constexpr std::chrono::milliseconds patience_default{3000};

    /// Writes to standard output and standard error, or to what stands for them in a test.
    explicit Console(int out_fd = 1, int err_fd = 2,
                     std::chrono::milliseconds patience = patience_default);
    /// Waits until all is written, for at most `patience`; then the rest is left out.
    ~Console();
    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;

    /// Whole lines, with their ends. Never waits.
    void print(Stream stream, std::string_view lines);

  private:
    struct Shared;

    const std::chrono::milliseconds patience_;
    const std::shared_ptr<Shared> shared_;
    std::thread writer_;
};

}  // namespace ako
