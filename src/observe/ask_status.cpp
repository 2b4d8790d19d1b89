// See ask_status.h.
#include "src/observe/ask_status.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <future>

#include "ako/mode_table.h"
#include "src/diagnosis/find_bottleneck.h"
#include "src/observe/status_json.h"

namespace ako {
namespace {

/// What an honest peer answers is far shorter, and there within one read.
constexpr std::size_t answer_bytes_max = std::size_t{1024} * 1024;
constexpr std::chrono::seconds answer_time_max{3};

struct Answer {
    int status = 0;  ///< 0: none
    std::string body;
    std::string error;
};

/// The library bounds each read; this, the whole.
Answer ask(const std::string& host, unsigned port, const char* path) {
    httplib::Client client(host, static_cast<int>(port));
    client.set_connection_timeout(1);
    client.set_read_timeout(2);
    const auto until = std::chrono::steady_clock::now() + answer_time_max;
    Answer answer;
    const httplib::Result result = client.Get(
        path,
        [&answer](const httplib::Response& response) {
            answer.status = response.status;
            return true;
        },
        [&](const char* data, std::size_t size) {
            answer.body.append(data, size);
            return answer.body.size() <= answer_bytes_max &&
                   std::chrono::steady_clock::now() < until;
        });
    if (result) return answer;
    return {0, "", httplib::to_string(result.error())};
}

StatusAnswer ask_peer(const ObservedPeer& peer, const std::string& through) {
    std::vector<std::string> hosts = {peer.host};
    if (!through.empty() && through != peer.host) hosts.insert(hosts.begin(), through);
    StatusAnswer answer;
    for (const std::string& host : hosts) {
        const auto observed = ask_status(host, peer.port);
        if (observed && observed->run.peer == peer.name) return {*observed, ""};
        if (!answer.why_not.empty()) answer.why_not += "; ";
        answer.why_not += observed ? fmt::format("{}:{}: peer {} answers there", host, peer.port,
                                                 observed->run.peer)
                                   : observed.error().what;
    }
    return answer;
}

}  // namespace

Result<Observed> ask_status(const std::string& host, unsigned port) {
    const auto where = fmt::format("{}:{}", host, port);
    const Answer answer = ask(host, port, "/status.json");
    if (answer.status == 0) return fail(Error::Kind::io, where + ": " + answer.error);
    if (answer.status == 503)
        return fail(Error::Kind::io, where + ": the peer has only just begun; ask again");
    if (answer.status == 421)
        return fail(Error::Kind::io, where +
                                         ": the peer is observed on loopback; ask it by "
                                         "127.0.0.1 or localhost");
    std::optional<Observed> observed;
    if (answer.status == 200) observed = parse_status(answer.body);
    if (!observed) return fail(Error::Kind::io, where + ": what answers there is no peer of Ako");
    return *observed;
}

std::vector<StatusAnswer> ask_all(const std::vector<ObservedPeer>& peers,
                                  const std::string& through) {
    std::vector<std::future<StatusAnswer>> asked;
    asked.reserve(peers.size());
    for (const ObservedPeer& peer : peers)
        asked.push_back(
            std::async(std::launch::async, [peer, through] { return ask_peer(peer, through); }));
    std::vector<StatusAnswer> answers;
    answers.reserve(asked.size());
    for (auto& each : asked) answers.push_back(each.get());
    return answers;
}

Bottleneck bottleneck_of(const ObservedRun& run, const std::vector<StatusAnswer>& answers) {
    std::vector<SeenPeer> seen;
    for (std::size_t k = 0; k < answers.size(); ++k)
        if (answers[k].observed)
            seen.push_back(
                {run.peers[k].name, run.peers[k].serves_only, &answers[k].observed->line});
    const ModeEntry* const mode = entry_named(run.mode);
    return find_bottleneck(seen, mode == nullptr || mode->waits);
}

Result<std::string> ask_health(const std::string& host, unsigned port) {
    const auto where = fmt::format("{}:{}", host, port);
    const Answer answer = ask(host, port, "/health");
    if (answer.status == 0) return fail(Error::Kind::io, where + ": " + answer.error);
    if (answer.status != 200 && answer.status != 503)
        return fail(Error::Kind::io, where + ": what answers there is no peer of Ako");
    std::string words = answer.body.substr(0, answer.body.find('\n'));
    if (answer.status == 503) return fail(Error::Kind::io, where + ": " + words);
    return words;
}

}  // namespace ako
