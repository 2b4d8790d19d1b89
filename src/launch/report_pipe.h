// The pipe from a peer to its `ako launch`: lines of JSON, first of metrics, at the end the result.
// A launch that is stopped must not stop its peers with it: metrics that find no room are left out;
// the result waits a while. Compute thread only.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace ako {

class ReportPipe {
  public:
    /// Takes the descriptor over; -1: nobody listens, and every line is left out.
    explicit ReportPipe(int fd);
    ~ReportPipe();
    ReportPipe(const ReportPipe&) = delete;
    ReportPipe& operator=(const ReportPipe&) = delete;

    /// `line` has its end. Left out while there is no room; never waits.
    void offer(std::string_view line);
    /// Waits until it is taken, for at most so long.
    void send(std::string_view line, std::chrono::milliseconds patience);

    /// Only in a child that fork has made, of which nothing else is used.
    void close_in_child() const;

  private:
    void write_rest();

    const int fd_;
    std::string rest_;  ///< of a line that has begun
};

}  // namespace ako
