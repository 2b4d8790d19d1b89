#include "models/images.h"

#include "ako/error.h"

namespace ako {

void check_label(const std::string& path, std::size_t item, std::int64_t label,
                 std::size_t class_count) {
    if (label >= 0 && label < static_cast<std::int64_t>(class_count)) return;
    throw StartupError(path + ": label " + std::to_string(label) + " of item " +
                           std::to_string(item) + ": expected 0 to " +
                           std::to_string(class_count - 1) + ", one for each of the network's " +
                           std::to_string(class_count) + " outputs",
                       "count labels from 0, and give the last layer an output for every class; if "
                       "that is so, the file is damaged");
}

}  // namespace ako
