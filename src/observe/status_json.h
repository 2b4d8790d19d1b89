// A peer's status as `/status.json` and `/events` give it, and `ako status` reads it back:
//
//   {"run": "mnist", "peer": "a", "mode": "ako", "model": "lenet", "version": "..", "commit": "..",
//    "peers": [{"name": "a", "host": "10.0.0.1", "port": 9470, "role": "worker"}, ..],
//    "memory": {purpose: bytes}, "standings": {word: words}, "age": 0.4, "line": {..}}
//
// `peers` are all of the file, in its order, and where each is observed; `memory` is what the peer
// was expected to need, `standings` what the words of src/results/peer_standing.h mean to people,
// `line` the newest line of metrics-<peer>.jsonl (src/results/metrics_line.h), and `age` the
// seconds since it was written: of one whose rounds take long, or that hangs, some. Pure; any
// thread.
#pragma once

#include <optional>
#include <string>

#include "src/observe/observed.h"

namespace ako {

/// One line, without the line break.
std::string status_text(const Observed& observed);
/// nullopt if the text is no such status.
std::optional<Observed> parse_status(const std::string& text);

}  // namespace ako
