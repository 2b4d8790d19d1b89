// A file of lines, one per write, that holds only whole ones. While its disk has no room lines are
// lost, which is said once; as soon as there is room again it goes on, behind its last whole line.
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ako {

class LineFile {
  public:
    using Say = std::function<void(const std::string&)>;

    /// `goes_on`: behind what is there, less a line that was not written to its end, as by a
    /// process that was killed; else the file begins anew. `what` is the name of the lines in what
    /// is said. Throws StartupError where it cannot be written, or read to go on.
    LineFile(std::string path, bool goes_on, std::string what, Say say);
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;
    ~LineFile();

    /// The line, without its end. It has gone to the system, or is lost, when this returns.
    void write(const std::string& line);
    /// Has it no line yet, of this process or of an earlier one?
    bool empty() const { return empty_; }

  private:
    /// Takes out what stands behind the last whole line; where that is refused, the next line
    /// begins with an end of line, so that a reader meets one that is none.
    void drop_half();

    const std::string path_;
    const std::string what_;
    const Say say_;
    int fd_ = -1;
    std::uint64_t whole_bytes_ = 0;  ///< where the last whole line ends
    bool empty_ = true;
    bool half_stays_ = false;
    std::uint64_t lost_ = 0;  ///< lines since the last one that was written
};

}  // namespace ako
