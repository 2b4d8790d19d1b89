// A user saw: two live peers that held the cluster key and were connected to each other ended with
// exit 2 after 5 s, "another process runs as peer a", because a stranger at the address of an
// absent peer answered their greetings with a refusal that it had recorded elsewhere. Since then a
// refusal carries a proof of the key, over the nonce of whom it refuses; one without is shown, and
// is a failed connection and nothing else.
#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "net/hello_check.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::refusal_of_a_stranger {

namespace {

using test::FakePeer;
using test::make_settings;
using test::RawListener;
using test::RawPeer;

const ClusterKey key("the key of these tests");
const ClusterKey other_key("the key of somebody else");

/// A refusal that names another live process, with a mac of this key over this nonce.
Reject refusal(const ClusterKey& by, const Digest& nonce, const std::string& name = "p1") {
    Reject reject{live_process_field, "10.9.8.7:7701", "another process"};
    reject.mac = by.mac(reject, name, nonce);
    return reject;
}

/// What peer a, which holds the key, knows of the link to b after this answer to its greeting.
LinkCounters after(const std::function<Reject(const Digest& nonce)>& answer,
                   const std::string& logged) {
    RawListener stranger;  // at the address of b
    TransportSettings settings = make_settings(0);
    settings.key = key;
    FakePeer a(settings);
    a.transport().set_peer_address(1, stranger.address());
    a.start();
    const auto dial = stranger.accept();
    REQUIRE(dial->connected());
    const auto greeting = dial->read_hello();
    REQUIRE(greeting.has_value());
    REQUIRE(dial->send(Header{answer(greeting->key_proof->nonce)}));
    CHECK(a.wait([&] { return a.logged(logged); }));
    return a.transport().counters()[1];
}

TEST_CASE(
    "a refusal is believed from who proves that it holds the cluster key, and from no other") {
    const std::string unproved = "does not prove that it is this peer";
    const auto no_proof = [](const Digest&) {
        return Reject{live_process_field, "10.9.8.7:7701", "another process"};
    };
    const auto recorded = [](const Digest&) { return refusal(key, ClusterKey::make_nonce()); };
    const auto of_another = [](const Digest& nonce) { return refusal(other_key, nonce); };
    const auto changed = [](const Digest& nonce) {
        Reject reject = refusal(key, nonce);
        reject.expected = "10.9.8.8:7701";
        return reject;
    };
    const auto by_another = [](const Digest& nonce) { return refusal(key, nonce, "p0"); };
    const std::vector<std::function<Reject(const Digest&)>> answers = {
        no_proof, recorded, of_another, changed, by_another};
    for (const auto& answer : answers) {
        const LinkCounters link = after(answer, unproved);
        CHECK(link.name_taken_by.empty());
        CHECK(link.rejects.empty());
    }
    const LinkCounters link =
        after([](const Digest& nonce) { return refusal(key, nonce); }, "10.9.8.7:7701");
    CHECK(link.name_taken_by == "10.9.8.7:7701");
    CHECK(link.rejects.count(live_process_field) == 1);
}

// A stranger could have had it signed by another peer, by which it had itself refused.
TEST_CASE("who does not hold the key gets no proof of a refusal") {
    TransportSettings settings = make_settings(1);
    settings.key = key;
    FakePeer b(settings);
    b.start();
    for (const std::uint32_t protocol : {protocol_version, 999U}) {
        RawPeer stranger(b.transport().port());
        Hello hello = make_settings(0).hello;
        hello.protocol = protocol;
        hello.to_peer_name = "p1";
        hello.key_proof = KeyProof{ClusterKey::make_nonce(), {}};  // a nonce that it has heard
        REQUIRE(stranger.send(Header{hello}));
        const auto answer = stranger.read_frame();
        REQUIRE(answer);
        REQUIRE(std::holds_alternative<Reject>(*answer));
        CHECK_FALSE(std::get<Reject>(*answer).mac);
    }
}

}  // namespace
}  // namespace ako::refusal_of_a_stranger
