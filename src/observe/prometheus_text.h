// A peer's figures in the text format that Prometheus scrapes (exposition format 0.0.4). Names by
// its conventions: base units, `_total` for what only grows, `_ratio` for shares of 1, `_info` for
// words; the label `peer` is the other end of a link. Pure; any thread.
#pragma once

#include <string>

#include "src/observe/observed.h"

namespace ako {

inline constexpr const char* prometheus_content_type = "text/plain; version=0.0.4; charset=utf-8";

std::string prometheus_text(const Observed& observed);

}  // namespace ako
