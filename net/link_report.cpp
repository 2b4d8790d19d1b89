#include "net/link_report.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "ako/printable.h"

namespace ako {
namespace {

/// Fields of a Hello are fewer, and their names shorter.
constexpr std::size_t reject_names_max = 16;
constexpr std::size_t reject_name_max = 32;

}  // namespace

void LinkReport::session_up() {
    sessions_.fetch_add(1, std::memory_order_relaxed);
    up_ = true;
    const MutexLock lock(mutex_);
    path_before_ = path_;
    name_taken_by_.clear();
}

void LinkReport::session_down(const std::string& why) {
    up_ = false;
    set_error(why);
}

void LinkReport::set_error(const std::string& why) {
    const MutexLock lock(mutex_);
    last_error_ = why;
}

// What the other end calls a field is its own choice: so many are told apart.
void LinkReport::count_reject(const std::string& field) {
    const MutexLock lock(mutex_);
    const std::string name = printable(std::string_view(field).substr(0, reject_name_max));
    const bool room = rejects_.size() < reject_names_max || rejects_.contains(name);
    ++rejects_[room ? name : "other"];
}

void LinkReport::set_name_taken(const std::string& where) {
    const MutexLock lock(mutex_);
    name_taken_by_ = where;
}

void LinkReport::set_path(const PathFigures& path) {
    const MutexLock lock(mutex_);
    path_ = path;
    path_.retransmits += path_before_.retransmits;
    path_.reader_seconds += path_before_.reader_seconds;
}

LinkCounters LinkReport::counters() const {
    LinkCounters counters;
    counters.egress_bytes = meter_.egress_bytes.load(std::memory_order_relaxed);
    counters.ingress_bytes = meter_.ingress_bytes.load(std::memory_order_relaxed);
    counters.sessions = sessions_.load(std::memory_order_relaxed);
    counters.copies_aside = copies_aside_.load(std::memory_order_relaxed);
    counters.up = up_;
    const MutexLock lock(mutex_);
    counters.path = path_;
    const Time waited{meter_.waited.load(std::memory_order_relaxed)};
    counters.full_seconds = std::max(0.0, seconds_of(waited) - path_.reader_seconds);
    counters.last_error = last_error_;
    counters.rejects = rejects_;
    counters.name_taken_by = name_taken_by_;
    return counters;
}

}  // namespace ako
