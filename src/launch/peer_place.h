// The place of a peer: the command by which `ako launch --in COMMAND` starts its process, so that
// it runs in a network namespace, in a control group, on a core of its own. The command must become
// what follows it (env, nsenter, taskset, deploy/testbed exec do): launch's signals go to it, and
// so does the end of launch. A value; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ako {

class PeerPlace {
  public:
    /// `command` is cut into words at its spaces; nothing is quoted or substituted but, in every
    /// word, `{number}` and `{name}`. Empty: no command. Throws StartupError if its first word is
    /// not a program that can be started here.
    explicit PeerPlace(const std::string& command);

    /// Is there no command?
    bool here() const { return words_.empty(); }
    /// The words for the peer in this place of the cluster file, from 0.
    std::vector<std::string> words(std::size_t index, const std::string& name) const;

  private:
    std::vector<std::string> words_;
};

}  // namespace ako
