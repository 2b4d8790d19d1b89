// A cluster file with every key, each with its meaning and range in a comment: what
// experiments/example.yaml is, from the table of keys. Pure.
#pragma once

#include <string>

namespace ako {

/// The whole file, lines of at most 100 columns.
std::string example_file();

}  // namespace ako
