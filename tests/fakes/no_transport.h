// A transport that carries nothing, for tests that play the network themselves.
#pragma once

#include <vector>

#include "ako/transport.h"

namespace ako::test {

class NoTransport : public Transport {
  public:
    void start(TransportHost&) override {}
    void notify() override {}
    void wake(PeerIndex) override {}
    void resume(PeerIndex) override {}
    void copy_aside(PeerIndex) override {}
    std::vector<LinkCounters> counters() const override { return links; }
    void stop(Time) override {}

    std::vector<LinkCounters> links;  ///< [peer], as the test says
};

}  // namespace ako::test
