#include "src/system/console.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "src/system/output_file.h"

namespace ako {

namespace {

using Stream = Console::Stream;

std::string left_out_text(std::uint64_t lines) {
    return fmt::format("({} line{} left out here: nobody took them)\n", lines,
                       lines == 1 ? " was" : "s were");
}

std::string refusal_text(int error) {
    return fmt::format("(standard output takes no more lines: {})\n",
                       std::generic_category().message(error));
}

std::string lost_text(Stream stream, std::uint64_t lost, int error) {
    return fmt::format("({} line{} lost, which standard {} did not take: {})\n", lost,
                       lost == 1 ? " was" : "s were", stream == Stream::out ? "output" : "error",
                       std::generic_category().message(error));
}

}  // namespace

struct Console::Shared {
    struct Printed {
        Stream stream;
        std::string text;
        std::uint64_t lines;  ///< of who prints, none of the console itself
    };

    /// What became of a stream that may refuse: a full disk, a pipe whose reader is gone.
    struct Sink {
        int fd = -1;
        int error = 0;           ///< errno of the first refusal
        std::uint64_t lost = 0;  ///< lines it refused
    };

    // Used by the writing thread alone, once it runs.
    Sink out;
    Sink err;

    std::mutex mutex;
    std::condition_variable changed;
    // Protected by mutex.
    std::deque<Printed> waiting;
    std::size_t waiting_bytes = 0;  ///< those being written included
    std::uint64_t left_out = 0;     ///< lines that found no room, not yet said
    bool ending = false;
    bool ended = false;

    /// Says what was left out before what comes next; the mutex is held.
    void put_left_out() {
        if (left_out == 0) return;
        std::string text = left_out_text(std::exchange(left_out, 0));
        waiting_bytes += text.size();
        waiting.push_back({Stream::err, std::move(text), 0});
    }

    /// Tries each time, for a disk may have room again, but speaks of it only once, and of the
    /// lines at the end: a line about every line would fill the other stream to the end of a run.
    void write(const Printed& piece) {
        Sink& sink = piece.stream == Stream::out ? out : err;
        const int error = write_all(sink.fd, piece.text);
        if (error == 0) return;
        const bool first = sink.error == 0;
        if (first) sink.error = error;
        sink.lost += piece.lines;
        if (first && piece.stream == Stream::out) write({Stream::err, refusal_text(error), 0});
    }

    /// The last words, after all lines.
    void write_lost() {
        if (out.lost > 0) write({Stream::err, lost_text(Stream::out, out.lost, out.error), 0});
        if (err.lost > 0) write({Stream::err, lost_text(Stream::err, err.lost, err.error), 0});
    }

    void run() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return !waiting.empty() || ending; });
            if (waiting.empty() && left_out > 0) put_left_out();
            if (waiting.empty()) break;
            const Printed piece = std::move(waiting.front());
            waiting.pop_front();
            lock.unlock();
            write(piece);
            lock.lock();
            waiting_bytes -= piece.text.size();
        }
        lock.unlock();
        write_lost();
        lock.lock();
        ended = true;
        changed.notify_all();
    }
};

Console::Console(int out_fd, int err_fd, std::chrono::milliseconds patience)
    : patience_(patience), shared_(std::make_shared<Shared>()) {
    shared_->out.fd = out_fd;
    shared_->err.fd = err_fd;
    // Signals are for the threads that know what to do with them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    writer_ = std::thread([shared = shared_] {
        // Whoever reads may go; that must not end a program of which this is only a library.
        sigset_t broken;
        sigemptyset(&broken);
        sigaddset(&broken, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &broken, nullptr);
        shared->run();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Console::~Console() {
    std::unique_lock lock(shared_->mutex);
    shared_->ending = true;
    shared_->changed.notify_all();
    const bool ended =
        shared_->changed.wait_for(lock, patience_, [this] { return shared_->ended; });
    lock.unlock();
    if (ended)
        writer_.join();
    else
        writer_.detach();
}

void Console::print(Stream stream, std::string_view lines) {
    const auto count = static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waiting_bytes + lines.size() > waiting_bytes_max) {
        shared_->left_out += count;
        return;
    }
    shared_->put_left_out();
    shared_->waiting_bytes += lines.size();
    shared_->waiting.push_back({stream, std::string(lines), count});
    shared_->changed.notify_all();
}

}  // namespace ako
