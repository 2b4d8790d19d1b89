// The words that start a peer's process: the command of `ako launch --in COMMAND`, so that it runs
// in a network namespace, in a control group, on a core of its own, or on another machine; and the
// program of `ako launch FILE -- PROGRAM`. In every word `{number}` and `{name}` stand for the
// peer; nothing else is quoted or substituted. A value; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ako {

class PeerWords {
  public:
    /// `command` is cut into words at its spaces, and must become what follows it, as env, nsenter,
    /// taskset and deploy/testbed exec do: launch's signals go to it, and so does the end of
    /// launch. Empty: none. Throws StartupError if its first word is not a program that can be
    /// started here.
    static PeerWords of_command(const std::string& command);
    /// Likewise, in words already. `anywhere`: another command starts it, elsewhere.
    static PeerWords of_program(std::vector<std::string> words, bool anywhere);
    /// What starts the peers of a run each on its machine, for which `{machine}` stands.
    static PeerWords of_machines(std::vector<std::string> words, std::vector<std::string> machines);

    /// From now on the peer in this place is on that machine.
    void move(std::size_t index, const std::string& machine) { machines_.at(index) = machine; }

    bool none() const { return words_.empty(); }
    /// The words for the peer in this place of the cluster file, from 0.
    std::vector<std::string> of(std::size_t index, const std::string& name) const;

  private:
    explicit PeerWords(std::vector<std::string> words, std::vector<std::string> machines = {})
        : words_(std::move(words)), machines_(std::move(machines)) {}

    std::vector<std::string> words_;
    std::vector<std::string> machines_;  ///< of the peers in the order of the file; or none
};

}  // namespace ako
