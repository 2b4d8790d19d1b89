// What the cells run on: shaped links between namespaces (deploy/testbed), which needs root, or
// this machine's loopback with every peer pacing itself. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/compare/cell.h"
#include "src/system/lock_file.h"

namespace ako {

/// In the text of a network that gives every machine its share of the processors.
inline constexpr const char* share_words = " of a core per machine";

class CellNetwork {
  public:
    virtual ~CellNetwork() = default;

    /// For people, in the report.
    virtual std::string text() const = 0;
    /// Tells results on this kind of network from those on another; never to be reworded, or all
    /// cells would be run again.
    virtual std::string key() const = 0;
    /// Before cells with so many machines at this rate, once for all that follow one another.
    /// Returns what each machine can send when all send to all, Mbit/s; empty: not known. Throws
    /// StartupError.
    virtual std::vector<double> prepare(std::size_t machines, const Rate& rate) = 0;
    /// What `--set` would be given for the peers and the rate. A cell of one machine alone may run
    /// on whatever has been prepared; it takes the machine with the largest processor share.
    virtual std::vector<std::string> overrides(const Cell& cell) const = 0;
    /// What follows `ako launch FILE`.
    virtual std::vector<std::string> launch_words(const Cell& cell) const = 0;
};

/// Every peer on 127.0.0.1, with `exchange.egress_mbit_max`. `why` says why it is not the testbed.
std::unique_ptr<CellNetwork> make_paced_network(const std::string& why);

/// `script` is deploy/testbed. Namespaces are removed when it goes, if it has made any. `lock`
/// keeps other comparisons from a testbed of the same name; none where nothing is prepared, only
/// looked up.
std::unique_ptr<CellNetwork> make_testbed_network(const std::string& script,
                                                  const TestbedPlan& plan,
                                                  std::unique_ptr<LockFile> lock);

/// What the plan asks for; with `auto` the testbed where it can be made. `script` is empty if there
/// is none. Throws StartupError where it must be the testbed, or a rate of the plan needs it, or
/// another comparison uses the testbed of this name.
std::unique_ptr<CellNetwork> choose_network(const Plan& plan, const std::string& script);

/// deploy/testbed of the repository that this program, or the plan, lies in; empty if there is
/// none.
std::string find_testbed_script(const Plan& plan);

/// The file that is locked while a comparison uses the testbed of this name: to make one anew ends
/// all processes in it.
std::string testbed_lock_file(const std::string& name);

}  // namespace ako
