// What the simulator throws when a promise is broken.
#pragma once

#include <stdexcept>
#include <string>

namespace ako::sim {

/// An invariant does not hold. The text begins with its name ("I1" to "I8"), if it has one.
class Violation : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An exchange did not take the gradient that it was given.
class RefusedGradient : public Violation {
  public:
    explicit RefusedGradient(const std::string& why)
        : Violation("a gradient was refused: " + why) {}
};

}  // namespace ako::sim
