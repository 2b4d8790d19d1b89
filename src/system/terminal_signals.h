// The signals of a terminal as something to read: it has another size (SIGWINCH), somebody pressed
// Ctrl-Z (SIGTSTP). By handlers, and not blocked for a signalfd: a thread of a library that blocks
// nothing would take Ctrl-Z and stop the process. One at a time, made and read by one thread. After
// it the signals are handled as before.
#pragma once

namespace ako {

class TerminalSignals {
  public:
    /// Without something to read them by, they stay as they are.
    TerminalSignals();
    ~TerminalSignals();
    TerminalSignals(const TerminalSignals&) = delete;
    TerminalSignals& operator=(const TerminalSignals&) = delete;

    /// What to watch; -1: nothing comes.
    int fd() const { return fd_; }
    struct Taken {
        bool resized = false;
        bool suspend = false;
    };
    /// What has come since the last call.
    Taken take() const;

  private:
    int fd_ = -1;
};

}  // namespace ako
