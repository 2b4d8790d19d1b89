#include "src/results/disk_reserve.h"

#include <fmt/format.h>

namespace ako {

Result<void> keep_reserve(FileLayer& files, const std::string& folder, std::uint64_t bytes,
                          std::uint64_t reserve) {
    const auto room = files.room_in(folder);
    if (!room || *room >= bytes + reserve) return {};
    constexpr double mega = 1e6;
    return fail(
        Error::Kind::io,
        fmt::format("the disk has room for {:.1f} MB, and the model and the results at the "
                    "end need {:.1f}",
                    static_cast<double>(*room) / mega, static_cast<double>(reserve) / mega));
}

}  // namespace ako
