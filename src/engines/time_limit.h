// A time limit as users of Slurm write it, and of all engines here: "90" (minutes), "2:00:00",
// "1-12:00:00". Pure; any thread.
#pragma once

#include <optional>
#include <string>

namespace ako {

/// Seconds; nothing for an empty text. Throws StartupError for what is no time.
std::optional<unsigned long> time_limit_s(const std::string& text);

}  // namespace ako
