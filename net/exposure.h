// May a peer do without a cluster key where it announces itself and listens? Without one it takes
// whoever knows the run's settings for a peer, so only where no stranger can reach it.
// Any thread.
#pragma once

#include <string>

namespace ako {

/// Whether to ask for the addresses of names, and so to wait as long as the system's resolver does.
enum class Names { looked_up, left_alone };

/// Throws a StartupError that says what to do if peer `name` announces `address` or listens on
/// `listen` (host:port; empty: as `address`) outside loopback and private networks. To listen on
/// all addresses of a machine (0.0.0.0) is as good as what is announced: containers do. A name is
/// judged by what this machine knows of it; one that is not known (yet), or left alone, passes.
void require_no_exposure(const std::string& name, const std::string& address,
                         const std::string& listen, Names names);

}  // namespace ako
