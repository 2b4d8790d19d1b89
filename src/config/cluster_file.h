// The cluster file: read strictly, written as resolved, digested. Any thread.
#pragma once

#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/config/config_value.h"

namespace ako {

/// Reads and checks a cluster file and the `--set` overrides ("key=value"). Every complaint is a
/// StartupError "file:line:column: key: expected ..., found ...", with a hint where there is one.
/// Paths become absolute, with the variables in them expanded (path_variables.h): `data.path` and
/// `cluster_key_file` are relative to the file, `output` (and anything given by `--set`) to the
/// working folder. The key file is not read.
Settings read_cluster_file(const std::string& file, const std::vector<std::string>& overrides);

/// The same for text that is already in memory; `file` names it in complaints.
Settings read_cluster_text(const std::string& text, const std::string& file,
                           const std::vector<std::string>& overrides);

/// The same for a tree, which may be part of another file: `file` is what relative paths start
/// from.
Settings read_cluster_tree(ConfigValue tree, const std::string& file,
                           const std::vector<std::string>& overrides);

/// Does the tree of a file leave the mode to Ako, `exchange.mode: auto`? Such a file is not read
/// before one has been chosen: an override says it.
bool leaves_mode_open(ConfigValue tree, const std::vector<std::string>& overrides);

/// Every key with its value as YAML; reads back as equal settings (but for `file`).
std::string write_cluster_text(const Settings& settings);

/// Canonical text of what all peers must share, for Hello's training digest: the model, the
/// sharding, the training, the rule, the time-outs by which peers judge each other and the peers'
/// names in order; where all wait for each other, also how often they keep checkpoints. Not in it:
/// addresses, limits of rates, how long the start waits, threads, memory, folders and where the key
/// lies, which one peer may set for itself.
std::string training_digest_text(const Settings& settings);
/// The same for what a checkpoint is of: without how often one is kept.
std::string checkpoint_digest_text(const Settings& settings);

/// The same text with the default of every key, for the mode of these settings.
std::string default_checkpoint_text(const Settings& settings);

/// In the order of the file.
std::vector<std::string> peer_names(const Settings& settings);
/// The peer that `--peer name` means. Throws StartupError.
PeerIndex peer_by_name(const Settings& settings, const std::string& name);

}  // namespace ako
