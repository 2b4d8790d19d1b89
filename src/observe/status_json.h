// A peer's status as `/status.json` and `/events` give it, and `ako status` reads it back:
//
//   {"run": "mnist", "peer": "a", "mode": "ako", "model": "lenet", "version": "..", "commit": "..",
//    "peers": [{"name": "a", "host": "10.0.0.1", "port": 9470, "role": "worker"}, ..],
//    "line": {..}}
//
// `peers` are all of the file, in its order, and where each is observed; `line` is the newest line
// of metrics-<peer>.jsonl (src/results/metrics_line.h). Pure; any thread.
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
