// The terminal as a screen: while it is entered, its contents are put aside, keys come at once and
// unseen, and whole screens are drawn. What was there comes back when it is left, and also when
// this process dies of a signal (but SIGKILL) or of a second interrupt. Ctrl-C and Ctrl-Z go on
// being signals. One at a time, one thread.
#pragma once

#include <string>
#include <vector>

#include "src/screen/run_screen.h"

namespace ako {

enum class Key { other, up, down, left, right, l, h, q };

class Terminal {
  public:
    /// Standard output is a terminal that can be drawn on, and this process is in its foreground.
    static bool usable();

    Terminal() { enter(); }
    ~Terminal() { leave(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// False, and nothing done, if this process is in the background now.
    bool enter();
    void leave();

    /// As it is now: its size; colours unless NO_COLOR is set; Unicode if the locale is UTF-8.
    static ScreenStyle style();
    /// Draws the whole screen; nothing while it is left, or while the terminal takes nothing.
    void draw(const std::vector<std::string>& lines) const;

    /// What to watch for keys; -1 if standard input is no terminal.
    int keys_fd() const;
    /// The keys pressed since the last call.
    std::vector<Key> take_keys() const;
};

}  // namespace ako
