// The program: says on standard error why it could not start, and nothing else of its own.
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "ako/error.h"
#include "src/commands/command_line.h"
#include "src/commands/interrupts.h"

namespace {

/// Names that files hold may be part of a message; the terminal must not obey them.
std::string harmless(std::string text) {
    for (char& letter : text) {
        const bool control = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
        if (control && letter != '\n') letter = '?';
    }
    return text;
}

}  // namespace

int main(int count, char** words) {
    try {
        return ako::run_command_line(count, words);
    } catch (const ako::StartupError& error) {
        std::fprintf(stderr, "ako: %s\n", harmless(error.what()).c_str());
        if (!error.hint().empty())
            std::fprintf(stderr, "     %s\n", harmless(error.hint()).c_str());
        return ako::exit_start_up;
    } catch (const std::bad_alloc&) {
        std::fprintf(
            stderr,
            "ako: the system gives no more memory\n"
            "     `ako check` shows what a cluster file needs; data sets are read whole\n");
        return ako::exit_start_up;
    } catch (const std::exception& error) {
        // A disk that fails: nothing here could go on.
        std::fprintf(stderr, "ako: %s\n", error.what());
        return ako::exit_start_up;
    }
}
