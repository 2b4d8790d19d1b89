// Signals that one handler has for a while: the program that we are a part of has its own back
// afterwards, and where it took one meanwhile, keeps that. Taken, again where some were handed over
// meanwhile, and given back by one thread; `hand_over` may be called by the handler.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

namespace ako {

template <std::size_t count>
class TakenSignals {
  public:
    explicit constexpr TakenSignals(std::array<int, count> numbers) : numbers_(numbers) {}

    void take(void (*handler)(int), int flags) {
        handler_ = handler;
        struct sigaction action {};
        action.sa_handler = handler;
        sigemptyset(&action.sa_mask);
        action.sa_flags = flags;
        for (std::size_t k = 0; k < count; ++k) {
            struct sigaction now {};
            sigaction(numbers_[k], &action, &now);
            if (now.sa_handler != handler) before_[k] = now;  // else it is there already
        }
    }

    /// What was taken; but for those that the program has taken since.
    void give_back() {
        if (handler_ == nullptr) return;
        for (std::size_t k = 0; k < count; ++k) {
            struct sigaction now {};
            sigaction(numbers_[k], nullptr, &now);
            if (now.sa_handler == handler_) sigaction(numbers_[k], &before_[k], nullptr);
        }
    }

    /// Puts back whoever had this one before, for a handler that goes on by raising it again.
    void hand_over(int number) const {
        for (std::size_t k = 0; k < count; ++k)
            if (numbers_[k] == number) sigaction(number, &before_[k], nullptr);
    }

  private:
    std::array<int, count> numbers_;
    void (*handler_)(int) = nullptr;
    std::array<struct sigaction, count> before_{};  ///< of each of `numbers_`
};

}  // namespace ako
