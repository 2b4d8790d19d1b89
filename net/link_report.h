// What reports say of a link: what it has carried, its path, how often one end refused the other
// and why there is no session.
//
// Thread: the network thread writes; counters() is for any. Lifetime: that of its link.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "ako/threads.h"
#include "ako/transport.h"
#include "net/link_meter.h"

namespace ako {

class LinkReport {
  public:
    /// Its sessions count there.
    LinkMeter& meter() { return meter_; }

    void session_up();
    void session_down(const std::string& why);
    /// Why there is no session.
    void set_error(const std::string& why);
    void count_copy_aside() { copies_aside_.fetch_add(1, std::memory_order_relaxed); }
    /// One end has refused the other by this field of its Hello, or a frame of it.
    void count_reject(const std::string& field);
    /// How the newest dial ended: refused because another process is live under this peer's name,
    /// `where`; or otherwise, with nothing.
    void set_name_taken(const std::string& where);
    /// The figures of the session that stands; those of all sessions before are added.
    void set_path(const PathFigures& path);

    /// Any thread.
    LinkCounters counters() const;

  private:
    LinkMeter meter_;
    std::atomic<std::uint64_t> sessions_{0};
    std::atomic<std::uint64_t> copies_aside_{0};
    std::atomic<bool> up_{false};
    mutable Mutex mutex_;
    PathFigures path_ AKO_GUARDED_BY(mutex_);
    /// As it was when the newest session came up.
    PathFigures path_before_ AKO_GUARDED_BY(mutex_);
    std::string last_error_ AKO_GUARDED_BY(mutex_);
    std::map<std::string, std::uint64_t> rejects_ AKO_GUARDED_BY(mutex_);
    std::string name_taken_by_ AKO_GUARDED_BY(mutex_);
};

}  // namespace ako
