// The rate of a network: what each machine's link carries, Mbit/s. Values; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ako {

struct Rate {
    /// One for all machines, or one per machine; nullopt: not limited.
    std::vector<std::optional<double>> mbit{std::nullopt};

    bool even() const { return mbit.size() == 1; }
    /// The slowest link; what rates are sorted and drawn by. Not limited: infinity.
    double lowest() const;
    std::optional<double> of(std::size_t machine) const { return mbit[even() ? 0 : machine]; }
    /// "50 Mbit/s", "10/50/50 Mbit/s", "no limit".
    std::string text() const;
    /// The same for names of files: "50", "10-50-50", "none".
    std::string short_text() const;

    bool operator==(const Rate&) const = default;
};

}  // namespace ako
