// A template: a text file of this folder's `templates`, built into the program, in which @name@
// stands for a value. Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ako {

/// The text with its values. A line that has an empty one is left out; every name in the text must
/// have a value, and every value a name.
std::string filled(std::string_view text, const std::map<std::string, std::string>& values);

// The files, as the build embeds them.
std::string_view slurm_template();
std::string_view swarm_template();
std::string_view kubernetes_template();
std::string_view kubernetes_base_template();
std::string_view kubernetes_overlay_template();

}  // namespace ako
