// Signals as something to read: SIGINT, SIGTERM, SIGCHLD, SIGHUP unless it is ignored (as under
// nohup), and for who draws on one those of a terminal. From then on they are blocked. Signals are
// a thing of which a process has only one, so there is one such queue at most. One thread.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ako/error.h"
#include "src/system/interrupts.h"

namespace ako {

class SignalQueue {
  public:
    /// `live`: those of a terminal, too. Throws StartupError.
    explicit SignalQueue(bool live) {
        sigset_t signals;
        sigemptyset(&signals);
        for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, number);
        if (!hangups_ignored()) sigaddset(&signals, SIGHUP);
        if (live) {
            for (const int number : {SIGWINCH, SIGTSTP}) sigaddset(&signals, number);
        }
        pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        // A reader that is gone, or a file that must not grow, is no reason to die.
        ::signal(SIGPIPE, SIG_IGN);
        ::signal(SIGXFSZ, SIG_IGN);
        fd_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
        if (fd_ < 0) throw StartupError("signalfd is refused by the system");
    }
    ~SignalQueue() { close(fd_); }
    SignalQueue(const SignalQueue&) = delete;
    SignalQueue& operator=(const SignalQueue&) = delete;

    int fd() const { return fd_; }
    struct Taken {
        int interrupts = 0;       ///< requests to end
        bool terminated = false;  ///< one of them was SIGTERM
        bool hung_up = false;     ///< the terminal is gone; a shell and the system may both say so
        bool resized = false;
        bool suspend = false;
    };
    Taken take() const {
        Taken taken;
        signalfd_siginfo info{};
        while (read(fd_, &info, sizeof info) == sizeof info) {
            taken.interrupts += info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM ? 1 : 0;
            taken.terminated |= info.ssi_signo == SIGTERM;
            taken.hung_up |= info.ssi_signo == SIGHUP;
            taken.resized |= info.ssi_signo == SIGWINCH;
            taken.suspend |= info.ssi_signo == SIGTSTP;
        }
        return taken;
    }

  private:
    int fd_ = -1;
};

}  // namespace ako
