#include "net/transport_core.h"

#include <fmt/format.h>

#include <algorithm>

#include "ako/assert.h"
#include "ako/printable.h"
#include "net/exposure.h"
#include "net/socket_options.h"

namespace ako {
namespace {

using std::chrono::milliseconds;

/// Half of what TransportHost::poll is promised, so that a busy machine keeps the promise too.
constexpr Time tick_period = milliseconds(10);

/// A tick that is late by more than this was not on the processor: the time counts as nobody's
/// silence. Less is told from silence by the length of the life time-out.
constexpr Time late_tick = milliseconds(50);

/// Connections that others have opened and that have no link yet: every peer may have one, as many
/// refused ones may wait for the end of the stream, and as many again may be of strangers. For one
/// more the oldest is closed. Own dials are not among them: there is at most one for each link.
constexpr std::size_t strangers_max = 4 * peers_max;

Address checked_address(const std::string& text, const std::string& name) {
    auto address = parse_address(text);
    if (!address)
        throw StartupError(fmt::format("peer {}: {}", name, address.error().what),
                           "write it as host:port, for example 10.0.0.7:7001");
    return std::move(*address);
}

}  // namespace

TransportCore::TransportCore(TransportSettings settings, const Clock& clock)
    : settings_(std::move(settings)),
      clock_(clock),
      egress_(io_, clock, settings_.egress_mbit_max),
      context_{clock, egress_, milliseconds(settings_.life_timeout_ms), nullptr, nullptr},
      tick_timer_(io_) {
    AKO_ASSERT(settings_.peers.size() <= peers_max && settings_.self < settings_.peers.size(),
               std::to_string(settings_.self) + " of " + std::to_string(settings_.peers.size()));
    context_.log = [this](const std::string& line) {
        if (settings_.log) settings_.log(line);
    };
    context_.detail = [this](const std::string& line) {
        if (settings_.detail) settings_.detail(line);
    };
    terms_.own = settings_.hello;
    terms_.key = settings_.key;
    terms_.self = settings_.self;
    for (const TransportPeer& peer : settings_.peers) terms_.peer_names.push_back(peer.name);
    terms_.own.peer_name = terms_.peer_names[settings_.self];
    for (const std::string& name : terms_.peer_names)
        if (name.size() > text_bytes_max)
            throw StartupError("the name of a peer is too long", name);
    if (terms_.own.run_name.size() > text_bytes_max)
        throw StartupError("the name of the run is too long", terms_.own.run_name);

    for (PeerIndex peer = 0; peer < settings_.peers.size(); ++peer) {
        const TransportPeer& other = settings_.peers[peer];
        links_.push_back(peer == settings_.self
                             ? nullptr
                             : std::make_unique<Link>(peer, other.name, other.link_mbit, context_,
                                                      make_dialer(peer)));
        if (peer != settings_.self) set_peer_address(peer, other.address);
    }
}

TransportCore::~TransportCore() { stop(Time{0}); }

std::unique_ptr<Dialer> TransportCore::make_dialer(PeerIndex peer) {
    Dialer::Events events;
    events.connected = [this, peer](asio::ip::tcp::socket socket) {
        shake_hands(std::move(socket), peer);
    };
    events.failed = [this, peer](const std::string& why) {
        links_[peer]->report().set_name_taken("");
        links_[peer]->note(why);
    };
    return std::make_unique<Dialer>(io_, settings_.connect_timeout, settings_.self > peer,
                                    settings_.hello.process_id + peer, std::move(events));
}

void TransportCore::set_peer_address(PeerIndex peer, const std::string& address) {
    AKO_ASSERT(!thread_.joinable(), "addresses are fixed once the transport has started");
    links_.at(peer)->own_dial().dialer().set_address(
        checked_address(address, settings_.peers[peer].name));
}

void TransportCore::bind() {
    if (acceptor_) return;
    const TransportPeer& self = settings_.peers[settings_.self];
    const std::string& listen = self.listen.empty() ? self.address : self.listen;
    if (settings_.key.none())
        require_no_exposure(self.name, self.address, listen, Names::looked_up);
    acceptor_ = std::make_unique<Acceptor>(io_, checked_address(listen, self.name));
}

void TransportCore::start(TransportHost& host) {
    AKO_ASSERT(context_.host == nullptr, "start() is called once");
    bind();
    context_.host = &host;
    thread_ = std::thread([this] { run(); });
}

void TransportCore::run() {
    network_thread_ = std::this_thread::get_id();
    ticked_at_ = clock_.now();
    // What is still thrown here (no memory) has no handler that could make it good, and must not
    // leave the thread.
    try {
        acceptor_->begin(
            [this](asio::ip::tcp::socket socket) { shake_hands(std::move(socket), std::nullopt); });
        for (const auto& link : links_)
            if (link) link->own_dial().dialer().begin(clock_.now());
        tick();
        io_.run();
    } catch (const std::exception& exception) {
        AKO_BUG(exception.what());
    }
}

void TransportCore::tick() {
    const Time now = clock_.now();
    const Time late = now - ticked_at_ - tick_period;
    ticked_at_ = now;
    const Time excuse = late > late_tick ? late : Time{0};
    for (std::size_t i = 0; i < handshakes_.size(); ++i) handshakes_[i]->tick(now, excuse);
    forget_ended_handshakes();
    if (const auto summary = stranger_lines_.summary(now)) context_.log(*summary);
    for (const auto& link : links_)
        if (link) link->tick(now, excuse);
    poll();

    const auto up = [](const auto& link) { return link && link->up(); };
    if (context_.stopping &&
        (now >= drain_until_ || std::none_of(links_.begin(), links_.end(), up)))
        return finish_stop();
    tick_timer_.expires_after(tick_period);
    tick_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) tick();
    });
}

void TransportCore::poll() { context_.host->poll(clock_.now()); }

void TransportCore::notify() {
    if (notified_.exchange(true)) return;
    asio::post(io_, [this] {
        notified_ = false;
        poll();
    });
}

void TransportCore::stop(Time drain_until) {
    if (!thread_.joinable()) return;
    AKO_ASSERT(std::this_thread::get_id() != network_thread_, "a thread cannot join itself");
    asio::post(io_, [this, drain_until] { begin_stop(drain_until); });
    thread_.join();
}

void TransportCore::begin_stop(Time drain_until) {
    context_.stopping = true;
    drain_until_ = drain_until;
    acceptor_->close();
    for (const auto& handshake : handshakes_)
        if (!handshake->over()) handshake->drop();
    for (const auto& link : links_)
        if (link) link->drain();
}

void TransportCore::finish_stop() {
    for (const auto& link : links_)
        if (link) link->end("this peer has stopped");
    io_.stop();
}

std::vector<LinkCounters> TransportCore::counters() const {
    std::vector<LinkCounters> counters;
    for (const auto& link : links_) counters.push_back(link ? link->counters() : LinkCounters{});
    return counters;
}

Link& TransportCore::link(PeerIndex peer) {
    AKO_ASSERT(std::this_thread::get_id() == network_thread_, "not on the network thread");
    AKO_ASSERT(peer < links_.size() && links_[peer], "no link to peer " + std::to_string(peer));
    return *links_[peer];
}

void TransportCore::forget_ended_handshakes() {
    std::erase_if(handshakes_, [](const auto& handshake) { return handshake->over(); });
}

void TransportCore::shake_hands(asio::ip::tcp::socket socket, std::optional<PeerIndex> dialled) {
    forget_ended_handshakes();
    if (!dialled) make_room_for_stranger();
    asio::error_code gone;
    const auto remote = socket.remote_endpoint(gone);
    const Address* address = dialled ? &links_[*dialled]->own_dial().dialer().address() : nullptr;
    auto session = std::make_shared<Session>(
        std::move(socket), gone ? "a connection that is gone" : remote_text(remote, address),
        clock_);
    const Time deadline = clock_.now() + milliseconds(settings_.handshake_timeout_ms);
    auto handshake =
        std::make_shared<Handshake>(*this, terms_, std::move(session), dialled, deadline);
    handshakes_.push_back(handshake);
    if (dialled) links_[*dialled]->own_dial().expect(handshake, clock_.now());
    handshake->begin();
}

// An honest peer says Hello at once, so the one that has been silent longest is the least loss.
void TransportCore::make_room_for_stranger() {
    const auto of_others = [](const auto& handshake) { return !handshake->dialled(); };
    if (static_cast<std::size_t>(std::count_if(handshakes_.begin(), handshakes_.end(), of_others)) <
        strangers_max)
        return;
    auto oldest = std::find_if(handshakes_.begin(), handshakes_.end(),
                               [](const auto& handshake) { return handshake->silent(); });
    if (oldest == handshakes_.end())
        oldest = std::find_if(handshakes_.begin(), handshakes_.end(), of_others);
    if (const auto peer = (*oldest)->peer()) links_[*peer]->own_dial().let_go(**oldest);
    (*oldest)->drop();
    handshakes_.erase(oldest);
    log_stranger("too many connections without a Hello; the oldest was closed", true);
}

// Both sides of a pair dial. If two sessions cross, the one that the lower index dialled
// stands; the lower index sees to it, by closing the other. One that the other end has confirmed
// stands there, so an own dial that has not come as far gives way to it.
bool TransportCore::loses_crossing(const Handshake& handshake) const {
    Link& link = *links_[*handshake.peer()];
    if (handshake.dialled() || link.peer() < settings_.self) return false;
    if (link.own_dial().may_cross(clock_.now()) && !handshake.confirmed()) return true;
    return link.up() && link.dialled_here() && !link.quiet();
}

void TransportCore::log_stranger(const std::string& why, bool refused) {
    if (stranger_lines_.allows(clock_.now())) (refused ? context_.log : context_.detail)(why);
}

HandshakeHost::Decision TransportCore::refusal(Reject reject) {
    for (std::string* text : {&reject.field, &reject.expected, &reject.got})
        *text = printable(std::string_view(*text).substr(0, text_bytes_max));
    return {Decision::Kind::refuse, std::move(reject)};
}

HandshakeHost::Decision TransportCore::judge(Handshake& handshake) {
    Link& link = *links_[*handshake.peer()];
    const Hello& hello = handshake.hello();
    if (context_.stopping) return {Decision::Kind::drop, {}};
    // Two processes that claim one name: the one that is here stays until it has been silent for
    // the life time-out; a restarted peer is let in then.
    if (link.up() && link.hello().process_id != hello.process_id)
        return refusal({live_process_field, link.remote(), "another process"});
    if (loses_crossing(handshake)) return {Decision::Kind::drop, {}};
    if (auto reject = context_.host->admit(link.peer(), hello)) return refusal(std::move(*reject));
    return {};
}

void TransportCore::answered(Handshake& handshake) {
    Link& link = *links_[*handshake.peer()];
    if (!link.up()) link.own_dial().hold_back(handshake, clock_.now());
}

void TransportCore::stands(Handshake& handshake) { links_[*handshake.peer()]->adopt(handshake); }

void TransportCore::failed(Handshake& handshake, const std::string& why, bool refused) {
    if (context_.stopping) return;
    if (!handshake.peer()) return log_stranger(why, refused);
    Link& link = *links_[*handshake.peer()];
    // Without a field nobody has refused who can be believed.
    const bool believed = refused && !handshake.refused_field().empty();
    if (believed) link.report().count_reject(handshake.refused_field());
    if (handshake.dialled()) {
        link.own_dial().forget_pending();
        link.report().set_name_taken(handshake.name_taken_by());
        if (!handshake.name_taken_by().empty())
            link.own_dial().dialer().try_again_soon(clock_.now());
        else if (believed)
            link.own_dial().dialer().back_off_long(clock_.now());
        else
            link.own_dial().dialer().back_off(clock_.now());
        return link.note(why, refused);
    }
    // The one that dialled may have only said that it is this peer, and something new each time.
    link.own_dial().let_go(handshake);
    if (link.has_noted(why) || stranger_lines_.allows(clock_.now())) link.note(why, refused);
}

}  // namespace ako
