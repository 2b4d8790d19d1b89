#include "net/handshake.h"

#include <fmt/format.h>

#include "net/codec.h"

namespace ako {

Handshake::Handshake(HandshakeHost& host, const HelloTerms& terms, std::shared_ptr<Session> session,
                     std::optional<PeerIndex> dialled, Time deadline)
    : host_(host),
      terms_(terms),
      session_(std::move(session)),
      dialled_(dialled),
      deadline_(deadline),
      peer_(dialled) {}

void Handshake::begin() {
    session_->begin(*this);
    if (!dialled_) return;
    make_own_hello();
    say_hello(ClusterKey::Step::greeting);
}

void Handshake::drop() {
    stage_ = Stage::over;
    session_->drop();
}

void Handshake::tick(Time now, Time excuse) {
    deadline_ += excuse;
    if (over() || now < deadline_) return;
    const bool was_pending = pending();
    drop();
    if (was_pending)
        host_.failed(*this, fmt::format("no Hello from {} in time", session_->remote()), false);
}

void Handshake::make_own_hello() {
    own_ = terms_.own;
    own_.to_peer_name = terms_.peer_names[*peer_];
    if (!terms_.key.none()) own_.key_proof = KeyProof{ClusterKey::make_nonce(), {}};
}

void Handshake::say_hello(ClusterKey::Step step) {
    const Hello& dialler = dialled_ ? own_ : hello_;
    const Hello* listener = dialled_ ? &hello_ : &own_;
    if (step == ClusterKey::Step::greeting) listener = nullptr;
    if (own_.key_proof) own_.key_proof->mac = terms_.key.mac(step, dialler, listener);
    session_->send_first(own_);
}

std::optional<std::string> Handshake::refuse(Session&, const Header& header, std::size_t bytes) {
    if (bytes == 0 &&
        (std::holds_alternative<Hello>(header) || std::holds_alternative<Reject>(header)))
        return std::nullopt;
    return fmt::format("expected Hello, got {} with {} bytes", header_name(header), bytes);
}

std::optional<Destination> Handshake::reserve(Session&, const Header&, std::size_t) {
    return Destination{};
}

void Handshake::arrived(Session&, Header header, Destination, Time) {
    if (const Hello* hello = std::get_if<Hello>(&header)) return take_hello(*hello);
    const Reject& reject = std::get<Reject>(header);
    const bool believed = terms_.key.none() || (own_.key_proof && peer_ &&
                                                terms_.key.proves(reject, terms_.peer_names[*peer_],
                                                                  own_.key_proof->nonce));
    // Anybody who listens at the address of a peer can say anything: it is shown, and that is all.
    if (believed) refused_field_ = reject.field;
    if (believed && reject.field == live_process_field) name_taken_by_ = reject.expected;
    const std::string why = fmt::format(
        "{} refuses this peer: {}{}", session_->remote(), reject_text(reject, false, other()),
        believed ? "" : " (it does not prove that it is this peer, and holds the cluster key)");
    drop();
    host_.failed(*this, why, true);
}

void Handshake::take_hello(const Hello& hello) {
    if (stage_ == Stage::confirmation) return take_confirmation(hello);
    hello_ = hello;
    if (const auto reject = check_first(hello)) return refuse_with(*reject);
    peer_ = find_peer(terms_, hello.peer_name);
    if (!passes_judgement()) return;
    if (!dialled_) {
        make_own_hello();
        say_hello(ClusterKey::Step::answer);
        stage_ = Stage::confirmation;
        return host_.answered(*this);
    }
    say_hello(ClusterKey::Step::confirmation);
    stage_ = Stage::over;
    host_.stands(*this);
}

// The first Hello of the other end: a greeting, or the answer to ours.
std::optional<Reject> Handshake::check_first(const Hello& hello) const {
    if (auto reject = check_protocol(hello, terms_)) return reject;
    if (auto reject = dialled_
                          ? check_key(hello, terms_, ClusterKey::Step::answer, own_, &hello)
                          : check_key(hello, terms_, ClusterKey::Step::greeting, hello, nullptr))
        return reject;
    return check_hello(hello, terms_, dialled_);
}

void Handshake::take_confirmation(const Hello& hello) {
    Hello same = hello_;
    if (same.key_proof && hello.key_proof) same.key_proof->mac = hello.key_proof->mac;
    if (hello != same) return session_->end("the second Hello differs from the first");
    if (const auto reject = check_key(hello, terms_, ClusterKey::Step::confirmation, hello, &own_))
        return refuse_with(*reject);
    confirmed_ = true;
    if (!passes_judgement()) return;
    stage_ = Stage::over;
    host_.stands(*this);
}

bool Handshake::passes_judgement() {
    const HandshakeHost::Decision decision = host_.judge(*this);
    if (decision.kind == HandshakeHost::Decision::Kind::drop) drop();
    if (decision.kind == HandshakeHost::Decision::Kind::refuse) refuse_with(decision.reject);
    return decision.kind == HandshakeHost::Decision::Kind::go_on;
}

void Handshake::refuse_with(const Reject& reject) {
    stage_ = Stage::refused;
    refused_field_ = reject.field;
    if (!peer_) peer_ = find_peer(terms_, hello_.peer_name);
    if (peer_ == terms_.self) peer_.reset();
    Reject proved = reject;
    // What is refused for these has not proved that it holds the key, and gets no proof for it.
    const bool stranger = reject.field == key_field || reject.field == protocol_field;
    if (!terms_.key.none() && !stranger)
        proved.mac = terms_.key.mac(reject, terms_.own.peer_name, hello_.key_proof->nonce);
    // A peer that reads no Reject of ours refuses this one by the number in a Hello.
    Hello number;
    number.protocol = terms_.own.protocol;
    const bool older = reject.field == protocol_field && hello_.protocol <= older_protocol;
    session_->send_first(older ? Header{number} : Header{proved});
    session_->drain(true);
    host_.failed(
        *this,
        fmt::format("{} refused: {}", session_->remote(), reject_text(reject, true, other())),
        true);
}

std::string Handshake::other() const { return peer_ ? "at " + terms_.peer_names[*peer_] : "there"; }

void Handshake::ended(Session&, const std::string& why) {
    const bool was_pending = pending();
    stage_ = Stage::over;
    if (was_pending)
        host_.failed(*this, fmt::format("{}: handshake failed: {}", session_->remote(), why),
                     false);
}

}  // namespace ako
