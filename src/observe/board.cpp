// See board.h.
#include "src/observe/board.h"

#include <utility>

namespace ako {

void Board::post(Observed observed) {
    auto posted = std::make_shared<const Observed>(std::move(observed));
    {
        const std::lock_guard lock(mutex_);
        history_.add(posted->line);
        newest_ = {newest_.number + 1, std::move(posted), std::chrono::steady_clock::now()};
    }
    changed_.notify_all();
}

Board::Post Board::newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
}

RunHistory Board::history() const {
    const std::lock_guard lock(mutex_);
    return history_;
}

Board::Post Board::wait_newer(std::uint64_t number, std::chrono::milliseconds patience) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return closed_ || newest_.number > number; });
    return newest_;
}

void Board::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

bool Board::closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

}  // namespace ako
