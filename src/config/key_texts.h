// The keys of a cluster file as people read of them (`ako keys`), from the table of keys. Made
// once; any thread.
#pragma once

#include <string>
#include <vector>

#include "ako/mode_table.h"

namespace ako {

struct KeyText {
    std::string path;                ///< "training.epochs", "peers.*.name"
    std::string meaning;             ///< some words, or some sentences
    std::string expected;            ///< "a number above 0 and at most 100"
    std::string standard;            ///< the value if it is left out, or "required"
    std::string applies_with;        ///< "model.name: synthetic"; empty: always
    std::vector<std::string> modes;  ///< those that heed it; empty: all
    /// With a mode: the values that it has a form of, and why ("1: it exchanges gradients, ...").
    std::vector<std::string> limits;

    /// Does any form of the mode of this word heed it?
    bool heeded_by(const std::string& word) const;
};

/// Every known key, in the order of the file.
const std::vector<KeyText>& key_texts();

/// Those of a group ("training", "training.schedule") or the one of this name; all for "". With a
/// mode: those that it heeds, with its defaults and limits. Throws a StartupError if there are
/// none.
std::vector<KeyText> key_texts_of(const std::string& group, const ModeEntry* mode = nullptr);

}  // namespace ako
