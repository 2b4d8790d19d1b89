// The web server of a peer that is observed: GET alone, of what lies on the board.
//
//   /             the page (page.html), which needs nothing from elsewhere
//   /metrics      the text format of Prometheus (prometheus_text.h)
//   /status.json  the newest status (status_json.h)
//   /events       the same, each as it comes, as server-sent events
//   /history.json  curves and events since the run began, bounded (run_history.h)
//   /bottleneck.json  what limits the cluster (cluster_watch.h): {"label", "evidence", "remedy"}
//   /health       200 or 503, and why in a line (health.h)
//
// It has threads of its own, which see the board and nothing else: a slow or hostile client costs
// the training nothing. One reads all headers, under a deadline (request_reader.h), and answers
// /health itself, whatever the others are at. The others are limited in number and by a queue; of
// event streams there are fewer, so that they leave some for /metrics.
//
// A page of one peer joins the statuses of the others, so those of the run, and no other page, may
// read this one (Access-Control-Allow-Origin); on loopback only by its names there. Made and
// destroyed on one thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "src/observe/board.h"
#include "src/observe/cluster_watch.h"

namespace httplib {
struct Request;
class Response;
}  // namespace httplib

namespace ako {

class LimitedServer;

class HttpServer {
  public:
    static constexpr std::size_t threads = 12;
    static constexpr std::size_t waiting_max = 16;
    static constexpr int streams_max = 8;

    /// Serves at this address from now on. `board` outlives it. Throws StartupError: the address is
    /// taken, or none of this machine.
    HttpServer(const std::string& host, unsigned port, Board& board);
    /// Ends all streams; returns when the last answer is out, or has timed out.
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    unsigned port() const { return port_; }

  private:
    void set_limits();
    void set_routes();
    void refuse_other_names();
    void stream(httplib::Response& response);
    void allow_origin(const httplib::Request& request, httplib::Response& response) const;

    Board& board_;
    ClusterWatch cluster_;
    unsigned port_ = 0;
    std::atomic<int> streams_ = 0;
    std::unique_ptr<LimitedServer> server_;
    std::atomic<bool> ended_ = false;
    std::thread thread_;
};

}  // namespace ako
