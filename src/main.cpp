// The program: says on standard error why it could not start, and nothing else of its own.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>

#include "ako/ending.h"
#include "ako/error.h"
#include "ako/printable.h"
#include "src/commands/command_line.h"

namespace {

int run(int count, char** words) {
    try {
        return ako::run_command_line(count, words);
    } catch (const ako::StartupError& error) {
        // Names that files hold may be part of a message; the terminal must not obey them.
        std::fprintf(stderr, "ako: %s\n", ako::printable_lines(error.what()).c_str());
        if (!error.hint().empty())
            std::fprintf(stderr, "     %s\n", ako::printable_lines(error.hint()).c_str());
        return ako::exit_start_up;
    } catch (const std::bad_alloc&) {
        std::fprintf(
            stderr,
            "ako: the system gives no more memory\n"
            "     `ako check` shows what a cluster file needs; data sets are read whole\n");
        return ako::exit_start_up;
    } catch (const std::exception& error) {
        // A disk that fails: nothing here could go on.
        std::fprintf(stderr, "ako: %s\n", ako::printable_lines(error.what()).c_str());
        return ako::exit_start_up;
    }
}

}  // namespace

/// Ends the process without the exit handlers of libraries: where memory is short, OpenBLAS could
/// not start its threads, and its handler would wait for them for ever. What the program owns is
/// given back by then.
int main(int count, char** words) {
    int status = run(count, words);
    std::cout.flush();
    const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!flushed && ako::went_well(status)) {
        const std::string why = std::generic_category().message(errno);
        std::fprintf(stderr, "ako: standard output cannot be written: %s\n", why.c_str());
        status = ako::exit_not_written;
    }
    std::fflush(nullptr);
    _exit(status);
}
