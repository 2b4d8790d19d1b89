// See ask_status.h.
#include "src/observe/ask_status.h"

#include <fmt/format.h>
#include <httplib.h>

#include "src/observe/status_json.h"

namespace ako {

Result<Observed> ask_status(const std::string& host, unsigned port) {
    httplib::Client client(host, static_cast<int>(port));
    client.set_connection_timeout(1);
    client.set_read_timeout(2);
    const auto where = fmt::format("{}:{}", host, port);
    const httplib::Result answer = client.Get("/status.json");
    if (!answer)
        return fail(Error::Kind::io, where + ": " + httplib::to_string(answer.error()));
    if (answer->status == 503)
        return fail(Error::Kind::io, where + ": the peer has only just begun; ask again");
    std::optional<Observed> observed;
    if (answer->status == 200) observed = parse_status(answer->body);
    if (!observed) return fail(Error::Kind::io, where + ": what answers there is no peer of Ako");
    return *observed;
}

}  // namespace ako
