#include "net/connector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "ako/assert.h"

namespace ako {
namespace {

std::string host_text(const asio::ip::tcp::endpoint& endpoint) {
    asio::error_code error;
    return endpoint.address().to_string(error);
}

}  // namespace

bool is_absent(const asio::error_code& error) {
    // By number: Asio's own category maps few of them to the conditions of std.
    return error.category() == asio::error::get_system_category() &&
           (error.value() == EAFNOSUPPORT || error.value() == EADDRNOTAVAIL ||
            error.value() == ENETUNREACH);
}

std::vector<asio::ip::tcp::endpoint> families_in_turn(
    const std::vector<asio::ip::tcp::endpoint>& endpoints) {
    std::vector<asio::ip::tcp::endpoint> first, second, result;
    for (const auto& endpoint : endpoints)
        (endpoint.protocol() == endpoints.front().protocol() ? first : second).push_back(endpoint);
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
        if (i < first.size()) result.push_back(first[i]);
        if (i < second.size()) result.push_back(second[i]);
    }
    return result;
}

Connector::Connector(asio::io_context& io, Address address, std::vector<Endpoint> endpoints,
                     Time timeout, Events events)
    : address_(std::move(address)), timeout_(timeout), events_(std::move(events)) {
    AKO_ASSERT(!endpoints.empty(), address_text(address_));
    endpoints = families_in_turn(endpoints);
    if (endpoints.size() > endpoints_max)
        endpoints.erase(endpoints.begin() + endpoints_max, endpoints.end());
    tries_.reserve(endpoints.size());  // handlers point into it
    for (Endpoint& endpoint : endpoints) tries_.emplace_back(io, std::move(endpoint));
}

void Connector::tick(Time now, Time excuse) {
    const auto self = shared_from_this();  // whoever is told of the end lets go of this
    now_ = now;
    next_at_ += excuse;
    for (Try& one : tries_) {
        if (over_ || one.state != Try::State::connecting) continue;
        one.deadline += excuse;
        if (now < one.deadline) continue;
        const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(timeout_);
        give_up(one, Try::State::failed, fmt::format("no answer within {} ms", limit.count()));
    }
    if (!over_ && now_ >= next_at_) try_next();
}

void Connector::cancel() { end(); }

void Connector::end() {
    over_ = true;
    asio::error_code ignored;
    for (Try& one : tries_) one.socket.close(ignored);
}

void Connector::try_next() {
    const auto next = std::find_if(tries_.begin(), tries_.end(),
                                   [](const Try& one) { return one.state == Try::State::waiting; });
    if (next == tries_.end()) return;
    next->state = Try::State::connecting;
    next->deadline = now_ + timeout_;
    next_at_ = now_ + next_after;
    next->socket.async_connect(
        next->endpoint, [self = shared_from_this(), &one = *next](const asio::error_code& error) {
            if (!self->over_ && one.state == Try::State::connecting) self->finish(one, error);
        });
}

void Connector::finish(Try& one, const asio::error_code& error) {
    // A port of this machine on which nobody listens can be given to the dialling socket itself,
    // and TCP then connects it to itself.
    asio::error_code ignored;
    const bool to_itself =
        !error && one.socket.local_endpoint(ignored) == one.socket.remote_endpoint(ignored);
    if (to_itself || error == asio::error::connection_refused)
        return give_up(one, Try::State::refused, "connection refused");
    if (error)
        return give_up(one, is_absent(error) ? Try::State::absent : Try::State::failed,
                       error.message());
    asio::ip::tcp::socket socket = std::move(one.socket);
    end();
    events_.connected(std::move(socket));
}

void Connector::give_up(Try& one, Try::State state, std::string why) {
    one.state = state;
    one.why = std::move(why);
    asio::error_code ignored;
    one.socket.close(ignored);
    const auto in_play = [](const Try& other) {
        return other.state == Try::State::waiting || other.state == Try::State::connecting;
    };
    if (std::any_of(tries_.begin(), tries_.end(), in_play)) return try_next();
    end();
    events_.failed(result());
}

// In the order of the addresses: a name server that turns its answers round would otherwise make
// the same complaint a new one every time.
std::string Connector::result() const {
    std::vector<const Try*> tries;
    for (const Try& one : tries_) tries.push_back(&one);
    std::sort(tries.begin(), tries.end(),
              [](const Try* a, const Try* b) { return a->endpoint < b->endpoint; });

    std::vector<std::string> all, refusing, others;
    bool failed = false;
    for (const Try* one : tries) {
        const std::string host = host_text(one->endpoint);
        all.push_back(fmt::format("{}: {}", host, one->why));
        if (one->state == Try::State::refused)
            refusing.push_back(host);
        else
            others.push_back(all.back());
        failed = failed || one->state == Try::State::failed;
    }
    if (!refusing.empty() && !failed)
        return fmt::format("nobody listens on {}: connection refused{}{}",
                           address_text(address_, fmt::format("{}", fmt::join(refusing, ", "))),
                           others.empty() ? "" : "; ", fmt::join(others, "; "));
    if (tries.size() == 1)
        return fmt::format("cannot connect to {}: {}",
                           address_text(address_, host_text(tries.front()->endpoint)),
                           tries.front()->why);
    return fmt::format("cannot connect to {}: {}", address_text(address_), fmt::join(all, "; "));
}

}  // namespace ako
