// The program: says on standard error why it could not start, and nothing else of its own.
#include <cstdio>
#include <exception>
#include <string>

#include "ako/error.h"
#include "src/commands/command_line.h"
#include "src/commands/interrupts.h"

int main(int count, char** words) {
    try {
        return ako::run_command_line(count, words);
    } catch (const ako::StartupError& error) {
        std::fprintf(stderr, "ako: %s\n", error.what());
        if (!error.hint().empty()) std::fprintf(stderr, "     %s\n", error.hint().c_str());
        return ako::exit_start_up;
    } catch (const std::exception& error) {
        // Memory that runs out, a disk that fails: nothing here could go on.
        std::fprintf(stderr, "ako: %s\n", error.what());
        return ako::exit_start_up;
    }
}
