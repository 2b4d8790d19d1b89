#include "src/screen/terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "src/system/interrupts.h"
#include "src/system/taken_signals.h"

namespace ako {

namespace {

// Control sequences of ECMA-48 and xterm. Lines are not wrapped: a terminal that has become
// narrower since its size was asked must not scroll.
constexpr std::string_view screen_on = "\033[?1049h\033[?25l\033[?7l\033[2J";
// Cleared before it is left: some terminals mix both screens if their size has changed meanwhile.
constexpr std::string_view screen_off = "\033[2J\033[?7h\033[?25h\033[?1049l";

/// The signals by which a process dies of itself, and Ctrl-\\. When the terminal goes away there is
/// nothing to put back.
constinit TakenSignals deadly(std::array{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT});

// What a signal handler needs to put the terminal back: a process has one terminal, and a handler
// has no argument. It may run on any thread, so whoever takes the flag is the one that puts back.
// keys_before is written before keys_changed says that it counts.
std::atomic<bool> entered = false;
std::atomic<bool> keys_changed = false;
static_assert(std::atomic<bool>::is_always_lock_free, "for signal handlers");
termios keys_before;

/// Everything here may be called by a signal handler.
void write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;  // a terminal that is gone
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool takes_text() {
    pollfd room{STDOUT_FILENO, POLLOUT, 0};
    return poll(&room, 1, 0) == 1;
}

/// Once all that was drawn is shown.
void restore() {
    if (!entered.exchange(false)) return;
    write_all(screen_off);
    if (keys_changed.exchange(false)) tcsetattr(STDIN_FILENO, TCSADRAIN, &keys_before);
}

/// For the end of the process, which no terminal may hold up.
void restore_at_once() {
    if (!entered.exchange(false)) return;
    if (takes_text()) write_all(screen_off);
    if (keys_changed.exchange(false)) tcsetattr(STDIN_FILENO, TCSANOW, &keys_before);
}

void on_death(int number) {
    restore_at_once();
    deadly.hand_over(number);  // a program's own goes on with it
    ::raise(number);
}

/// Empty if it is not set. Nobody here changes the environment.
std::string_view variable(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): see above
    return value == nullptr ? "" : value;
}

bool in_foreground() { return tcgetpgrp(STDOUT_FILENO) == getpgrp(); }

/// By the first of the variables that decides (POSIX, "Environment Variables"). The locale itself
/// need not be installed for a terminal to show its letters.
bool utf8_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value(variable(name));
        if (value.empty()) continue;
        std::transform(value.begin(), value.end(), value.begin(),
                       [](unsigned char letter) { return std::tolower(letter); });
        return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

Key letter_key(char letter) {
    switch (letter) {
        case 'l':
        case 'L':
            return Key::l;
        case 'h':
        case 'H':
        case '?':
            return Key::h;
        case 'q':
        case 'Q':
            return Key::q;
        case 'k':
            return Key::up;
        case 'j':
            return Key::down;
        default:
            return Key::other;
    }
}

Key arrow_key(char letter) {
    switch (letter) {
        case 'A':
            return Key::up;
        case 'B':
            return Key::down;
        case 'C':
            return Key::right;
        case 'D':
            return Key::left;
        default:
            return Key::other;
    }
}

}  // namespace

bool Terminal::usable() {
    const std::string_view kind = variable("TERM");
    return isatty(STDOUT_FILENO) == 1 && in_foreground() && !kind.empty() && kind != "dumb";
}

bool Terminal::enter() {
    if (entered) return true;
    if (!in_foreground()) return false;
    deadly.take(on_death, 0);
    before_sudden_end(restore_at_once);
    entered = true;
    if (keys_fd() >= 0 && tcgetattr(STDIN_FILENO, &keys_before) == 0) {
        termios keys = keys_before;
        keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        keys.c_cc[VMIN] = 0;  // a read never waits
        keys.c_cc[VTIME] = 0;
        keys_changed = true;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
    }
    write_all(screen_on);
    return true;
}

void Terminal::leave() {
    restore();  // unless a signal has, which a program of its own may have survived
    before_sudden_end(nullptr);
    deadly.give_back();
}

ScreenStyle Terminal::style() {
    ScreenStyle style;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        style.columns = size.ws_col;
        style.rows = size.ws_row;
    }
    style.unicode = utf8_locale();
    style.colours = variable("NO_COLOR").empty();
    return style;
}

void Terminal::draw(const std::vector<std::string>& lines) const {
    // One that takes nothing now, as after Ctrl-S, shows a later screen.
    if (!entered || !takes_text()) return;
    // In one piece and over what is there, so that nothing flickers. The rest of a line is cleared
    // before it is written: after a line of all columns the last one would be cleared.
    std::string text = "\033[H";
    for (std::size_t k = 0; k < lines.size(); ++k)
        text += (k == 0 ? "\033[K" : "\n\033[K") + lines[k];
    write_all(text + "\033[J");
}

int Terminal::keys_fd() const {
    // In the background a read of the terminal would stop the process.
    const bool ours = entered && in_foreground() && isatty(STDIN_FILENO) == 1;
    return ours ? STDIN_FILENO : -1;
}

std::vector<Key> Terminal::take_keys() const {
    std::vector<Key> keys;
    std::array<char, 256> buffer;
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count <= 0) return keys;
    std::string_view text(buffer.data(), static_cast<std::size_t>(count));
    while (!text.empty()) {
        const bool arrow =
            text.size() >= 3 && text[0] == '\033' && (text[1] == '[' || text[1] == 'O');
        keys.push_back(arrow ? arrow_key(text[2]) : letter_key(text[0]));
        text.remove_prefix(arrow ? 3 : 1);
    }
    return keys;
}

}  // namespace ako
