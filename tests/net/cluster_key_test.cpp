// The cluster key: who holds it is let in, and nobody else, whatever he has overheard or changes.
#include "net/cluster_key.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "src/numbers/checksum.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::cluster_key_test {

namespace {

using test::FakePeer;
using test::make_settings;
using test::Pair;
using test::RawListener;
using test::RawPeer;
using Step = ClusterKey::Step;

const ClusterKey key("the key of these tests");
const ClusterKey other_key("the key of somebody else");
const char* const has_another = "it has another cluster key, or what it said was changed";
const char* const they_have_none = "it has no cluster key, this peer has one: give it the same";
const char* const we_have_none = "it has a cluster key, this peer has none: give this peer";

TransportSettings with_key(PeerIndex self, const ClusterKey& its_key) {
    TransportSettings settings = make_settings(self);
    settings.key = its_key;
    return settings;
}

/// The Hello of `from` to the other of two peers, with a nonce and without a mac.
Hello hello_of(PeerIndex from) {
    Hello hello = make_settings(from).hello;
    hello.to_peer_name = "p" + std::to_string(1 - from);
    hello.key_proof = KeyProof{ClusterKey::make_nonce(), {}};
    return hello;
}

Hello greeting_of(PeerIndex from, const ClusterKey& its_key = key) {
    Hello hello = hello_of(from);
    hello.key_proof->mac = its_key.mac(Step::greeting, hello, nullptr);
    return hello;
}

Hello confirmed(Hello hello, const Hello& answer, const ClusterKey& its_key = key) {
    hello.key_proof->mac = its_key.mac(Step::confirmation, hello, &answer);
    return hello;
}

/// The next frame is a Reject for the key, and then the stream ends.
bool refused_for_the_key(RawPeer& raw) {
    const auto header = raw.read_frame();
    if (!header || !std::holds_alternative<Reject>(*header)) return false;
    std::byte rest;
    return std::get<Reject>(*header).field == "cluster_key" && !raw.read({&rest, 1});
}

/// A change of each field that is not the key's.
const std::vector<std::function<void(Hello&)>>& changes() {
    static const std::vector<std::function<void(Hello&)>> all = {
        [](Hello& hello) { hello.run_name += "!"; },
        [](Hello& hello) { hello.training_digest[31] ^= 1; },
        [](Hello& hello) { hello.layout_digest[0] ^= 1; },
        [](Hello& hello) { hello.initial_digest[16] ^= 1; },
        [](Hello& hello) { hello.peer_name += "0"; },
        [](Hello& hello) { hello.to_peer_name += "0"; },
        [](Hello& hello) { hello.process_id ^= 1; },
        [](Hello& hello) { hello.key_proof->nonce[7] ^= 1; },
    };
    return all;
}

TEST_CASE("a mac depends on the key, the step and every field of both Hellos") {
    const Hello dialler = hello_of(1);
    const Hello listener = hello_of(0);
    std::set<Digest> macs = {
        key.mac(Step::greeting, dialler, nullptr), key.mac(Step::answer, dialler, &listener),
        key.mac(Step::confirmation, dialler, &listener), key.mac(Step::answer, listener, &dialler),
        other_key.mac(Step::answer, dialler, &listener)};
    CHECK(macs.size() == 5);
    std::size_t count = macs.size();
    auto all = changes();
    all.push_back([](Hello& hello) { hello.protocol += 1; });
    // Where one text ends and the next begins is said, too.
    all.push_back([](Hello& hello) {
        hello.to_peer_name.insert(0, 1, hello.peer_name.back());
        hello.peer_name.pop_back();
    });
    for (const auto& change : all) {
        Hello changed = dialler;
        change(changed);
        macs.insert(key.mac(Step::answer, changed, &listener));
        changed = listener;
        change(changed);
        macs.insert(key.mac(Step::answer, dialler, &changed));
        count += 2;
    }
    CHECK(macs.size() == count);
    const Digest right = key.mac(Step::answer, dialler, &listener);
    CHECK(key.proves(right, Step::answer, dialler, &listener));
    CHECK_FALSE(key.proves(right, Step::confirmation, dialler, &listener));
    CHECK_FALSE(other_key.proves(right, Step::answer, dialler, &listener));
    for (std::size_t i = 0; i < right.size(); ++i) {
        Digest wrong = right;
        wrong[i] ^= 0x80;
        CHECK_FALSE(key.proves(wrong, Step::answer, dialler, &listener));
    }
    CHECK(ClusterKey().none());
    CHECK(ClusterKey::make_nonce() != ClusterKey::make_nonce());
}

TEST_CASE("two peers of one key stand and exchange frames") {
    const auto payload = test::pattern(4096);
    Pair pair(with_key(0, key), with_key(1, key));
    REQUIRE(pair.up());
    pair.a.send(1, Partial{}, payload);
    pair.b.send(0, Partial{}, payload);
    CHECK(pair.a.wait([&] { return pair.a.received.size() == 1; }));
    CHECK(pair.b.wait([&] { return pair.b.received.size() == 1; }));
    CHECK(pair.b.seen().received[0].payload == payload);
}

TEST_CASE("another key, and a key on one side only, are refused and both sides say why") {
    struct Case {
        ClusterKey a, b;
        const char* a_says;
        const char* b_says;
    };
    const std::vector<Case> cases = {{key, other_key, has_another, has_another},
                                     {key, {}, they_have_none, we_have_none},
                                     {{}, key, we_have_none, they_have_none}};
    for (const Case& one : cases)
        for (const bool a_dials : {true, false}) {
            CAPTURE(one.a_says);
            CAPTURE(a_dials);
            Pair pair(with_key(0, one.a), with_key(1, one.b));
            if (a_dials)
                pair.b.transport().set_peer_address(0, "127.0.0.1:1");
            else
                pair.a.transport().set_peer_address(1, "127.0.0.1:1");
            pair.a.start();
            pair.b.start();
            const std::string dialled = a_dials ? pair.b.address() : pair.a.address();
            const std::string refused = " refuses this peer: ";
            const std::string refuses = "127.0.0.1 refused: ";
            const std::string a_line =
                "p1: " + (a_dials ? dialled + refused : refuses) + one.a_says;
            const std::string b_line =
                "p0: " + (a_dials ? refuses : dialled + refused) + one.b_says;
            CHECK(pair.a.wait([&] { return pair.a.logged(a_line); }));
            CHECK(pair.b.wait([&] { return pair.b.logged(b_line); }));
            CHECK(pair.a.seen().ups.empty());
            CHECK(pair.b.seen().ups.empty());
            for (const char* secret : {"the key of these tests", "the key of somebody else"}) {
                CHECK_FALSE(pair.a.logged(secret));
                CHECK_FALSE(pair.b.logged(secret));
            }
        }
}

TEST_CASE("a stranger without the key learns nothing but that there is one") {
    FakePeer a(with_key(0, key));
    a.start();
    // Even where other fields are wrong, the key is what is complained about.
    std::vector<Hello> strangers = {greeting_of(1, other_key), greeting_of(1)};
    strangers[1].run_name = "guessed";
    strangers.push_back(make_settings(1).hello);
    for (const Hello& stranger : strangers) {
        RawPeer raw(a.transport().port());
        REQUIRE(raw.send(Header{stranger}));
        CHECK(refused_for_the_key(raw));
    }
    CHECK(a.seen().ups.empty());
}

TEST_CASE("a session that was overheard cannot be said again") {
    FakePeer a(with_key(0, key));
    a.start();
    RawPeer honest(a.transport().port());
    const Hello greeting = greeting_of(1);
    REQUIRE(honest.send(Header{greeting}));
    const auto answer = honest.read_hello();
    REQUIRE(answer.has_value());
    CHECK(key.proves(answer->key_proof->mac, Step::answer, greeting, &*answer));
    const Hello confirmation = confirmed(greeting, *answer);
    REQUIRE(honest.send(Header{confirmation}));
    REQUIRE(a.wait([&] { return a.ups[1] == 1; }));
    honest.close();
    REQUIRE(a.wait([&] { return a.downs.size() == 1; }));

    RawPeer replay(a.transport().port());
    REQUIRE(replay.send(Header{greeting}));
    const auto fresh = replay.read_hello();
    REQUIRE(fresh.has_value());
    CHECK(fresh->key_proof->nonce != answer->key_proof->nonce);
    REQUIRE(replay.send(Header{confirmation}));
    CHECK(refused_for_the_key(replay));
    CHECK(a.logged(has_another));
    CHECK(a.seen().ups[1] == 1);
}

TEST_CASE("no proof serves in another place, and nothing comes before the proof") {
    FakePeer a(with_key(0, key));
    a.start();
    const auto listen = [&](const std::function<Header(const Hello&, const Hello&)>& last) {
        RawPeer raw(a.transport().port());
        const Hello greeting = greeting_of(1);
        REQUIRE(raw.send(Header{greeting}));
        const auto answer = raw.read_hello();
        REQUIRE(answer.has_value());
        REQUIRE(raw.send(last(greeting, *answer)));
        return refused_for_the_key(raw);
    };
    CHECK(listen([](const Hello& greeting, const Hello&) { return greeting; }));
    CHECK(listen([](Hello greeting, const Hello& answer) {  // the listener's own proof, sent back
        greeting.key_proof->mac = answer.key_proof->mac;
        return greeting;
    }));
    CHECK(listen([](const Hello& greeting, const Hello& answer) {
        return confirmed(greeting, answer, other_key);
    }));
    // These are ended without a word: no Hello, or another one than the first.
    CHECK_FALSE(listen([](Hello greeting, const Hello&) {
        greeting.key_proof.reset();
        return greeting;
    }));
    CHECK_FALSE(listen([](Hello greeting, const Hello& answer) {
        greeting.process_id = 4242;
        return confirmed(greeting, answer);
    }));
    CHECK_FALSE(listen([](const Hello&, const Hello& answer) { return answer; }));
    CHECK_FALSE(listen([](const Hello&, const Hello&) { return Partial{}; }));
    CHECK_FALSE(listen([](const Hello&, const Hello&) { return Bye{3}; }));
    CHECK(a.seen().ups.empty());
    CHECK(a.seen().received.empty());
}

TEST_CASE("a listener without the key cannot answer, not even with the dialler's own words") {
    RawListener listener;
    FakePeer a(with_key(0, key));
    a.transport().set_peer_address(1, listener.address());
    a.start();
    std::optional<Hello> old_greeting;
    std::optional<Hello> old_answer;
    const std::vector<std::function<Hello(const Hello&)>> answers = {
        [](const Hello& greeting) {  // honest, but for a field changed after the proof
            Hello answer = hello_of(1);
            answer.key_proof->mac = key.mac(Step::answer, greeting, &answer);
            answer.process_id ^= 1;
            return answer;
        },
        [&](const Hello&) {  // an answer that was right for the greeting before
            return *old_answer;
        },
        [](const Hello& greeting) { return greeting; },  // reflected
        [](const Hello& greeting) {                      // reflected under the right name
            Hello answer = hello_of(1);
            answer.key_proof = greeting.key_proof;
            return answer;
        },
        [](const Hello& greeting) {
            Hello answer = hello_of(1);
            answer.key_proof->mac = other_key.mac(Step::answer, greeting, &answer);
            return answer;
        },
        [](const Hello&) { return greeting_of(1); },
    };
    for (const auto& make_answer : answers) {
        const auto raw = listener.accept();
        REQUIRE(raw->connected());
        const auto greeting = raw->read_hello();
        REQUIRE(greeting.has_value());
        CHECK(key.proves(greeting->key_proof->mac, Step::greeting, *greeting, nullptr));
        if (old_greeting) CHECK(old_greeting->key_proof->nonce != greeting->key_proof->nonce);
        REQUIRE(raw->send(Header{make_answer(*greeting)}));
        CHECK(refused_for_the_key(*raw));
        old_greeting = greeting;
        old_answer = hello_of(1);
        old_answer->key_proof->mac = key.mac(Step::answer, *greeting, &*old_answer);
    }
    CHECK(a.wait([&] { return a.logged(listener.address() + " refused: " + has_another); }));
    CHECK(a.seen().ups.empty());
}

TEST_CASE("a man in the middle can pass a Hello on but not change it") {
    RawListener middle;
    FakePeer a(with_key(0, key));
    FakePeer b(with_key(1, key));
    a.transport().set_peer_address(1, middle.address());
    a.start();
    b.start();
    for (const auto& change : changes()) {
        const auto from_a = middle.accept();
        auto greeting = from_a->read_hello();
        REQUIRE(greeting.has_value());
        change(*greeting);
        RawPeer to_b(b.transport().port());
        REQUIRE(to_b.send(Header{*greeting}));
        CHECK(refused_for_the_key(to_b));
        from_a->reset();
    }
    CHECK(b.logged(has_another));
    CHECK(a.seen().ups.empty());
    CHECK(b.seen().ups.empty());
}

TEST_CASE("garbage at each step ends the connection and nothing else") {
    FakePeer a(with_key(0, key));
    a.start();
    for (unsigned seed = 0; seed < 20; ++seed) {
        auto garbage = test::pattern(400, seed);
        if (seed % 2 == 1) {  // with a prefix that promises a header
            const auto header = std::span(garbage).subspan(frame_prefix_bytes, 360);
            const auto prefix = encode_prefix({360, 0, crc32c(header)});
            std::copy(prefix.begin(), prefix.end(), garbage.begin());
        }
        std::byte end;
        RawPeer first(a.transport().port());
        REQUIRE(first.send(garbage));
        CHECK_FALSE(first.read({&end, 1}));
        RawPeer third(a.transport().port());
        REQUIRE(third.send(Header{greeting_of(1)}));
        REQUIRE(third.read_hello().has_value());
        REQUIRE(third.send(garbage));
        CHECK_FALSE(third.read({&end, 1}));
    }
    CHECK(a.seen().ups.empty());

    RawListener listener;
    FakePeer dialler(with_key(0, key));
    dialler.transport().set_peer_address(1, listener.address());
    dialler.start();
    const auto second = listener.accept();
    REQUIRE(second->read_hello().has_value());
    REQUIRE(second->send(test::pattern(400)));
    std::byte end;
    CHECK_FALSE(second->read({&end, 1}));
    CHECK(dialler.seen().ups.empty());

    RawPeer honest(a.transport().port());
    const Hello greeting = greeting_of(1);
    REQUIRE(honest.send(Header{greeting}));
    const auto answer = honest.read_hello();
    REQUIRE(answer.has_value());
    REQUIRE(honest.send(Header{confirmed(greeting, *answer)}));
    CHECK(a.wait([&] { return a.ups[1] == 1; }));
}

}  // namespace
}  // namespace ako::cluster_key_test
