#include "net/handshake.h"

#include <fmt/format.h>

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
    if (dialled_) session_->send_first(own_hello());
}

void Handshake::drop() {
    stage_ = Stage::over;
    session_->drop();
}

void Handshake::tick(Time now) {
    if (over() || now < deadline_) return;
    const bool was_pending = pending();
    drop();
    if (was_pending)
        host_.failed(*this, fmt::format("no Hello from {} in time", session_->remote()), false);
}

Hello Handshake::own_hello() const {
    Hello hello = terms_.own;
    hello.to_peer_name = terms_.peer_names[*peer_];
    return hello;
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
    const std::string why = fmt::format("{} refuses this peer: {}", session_->remote(),
                                        reject_text(std::get<Reject>(header)));
    drop();
    host_.failed(*this, why, true);
}

void Handshake::take_hello(const Hello& hello) {
    if (stage_ == Stage::confirmation) {
        if (hello != hello_) return session_->end("the second Hello differs from the first");
        stage_ = Stage::over;
        return host_.stands(*this);
    }
    hello_ = hello;
    if (const auto reject = check_hello(hello, terms_, dialled_)) return refuse_with(*reject);
    peer_ = find_peer(terms_, hello.peer_name);
    const HandshakeHost::Verdict verdict = host_.identified(*this);
    if (verdict.kind == HandshakeHost::Verdict::Kind::drop) return drop();
    if (verdict.kind == HandshakeHost::Verdict::Kind::refuse) return refuse_with(verdict.reject);
    session_->send_first(own_hello());
    if (!dialled_) {
        stage_ = Stage::confirmation;
        return;
    }
    stage_ = Stage::over;
    host_.stands(*this);
}

void Handshake::refuse_with(const Reject& reject) {
    stage_ = Stage::refused;
    if (!peer_) peer_ = find_peer(terms_, hello_.peer_name);
    if (peer_ == terms_.self) peer_.reset();
    session_->send_first(reject);
    session_->drain(true);
    host_.failed(*this, fmt::format("{} refused: {}", session_->remote(), reject_text(reject)),
                 true);
}

void Handshake::ended(Session&, const std::string& why) {
    const bool was_pending = pending();
    stage_ = Stage::over;
    if (was_pending)
        host_.failed(*this, fmt::format("{}: handshake failed: {}", session_->remote(), why),
                     false);
}

}  // namespace ako
