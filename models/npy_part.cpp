#include "models/npy_part.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "ako/error.h"
#include "models/npz.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::pair<std::string, std::string>>;

bool exists(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

/// In the order of their names, so that complaints are the same everywhere.
std::vector<std::string> archives_in(const std::string& folder) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == ".npz") found.push_back(it->path().string());
    std::sort(found.begin(), found.end());
    return found;
}

std::string listed(const std::vector<NpzMember>& members) {
    constexpr std::size_t shown_max = 8;
    std::string text;
    for (std::size_t k = 0; k < std::min(members.size(), shown_max); ++k)
        text += (k == 0 ? "" : ", ") + members[k].name;
    return members.size() > shown_max ? text + ", ..." : text;
}

/// The first pair of `names` that the archive has both of.
NpyPart arrays_in(const std::string& archive, const Names& names, const std::string& remedy) {
    const std::vector<NpzMember> members = read_npz_directory(archive);
    const auto has = [&members](const std::string& name) {
        return std::any_of(members.begin(), members.end(),
                           [&name](const NpzMember& member) { return member.name == name; });
    };
    std::string expected;
    for (const auto& [images, labels] : names) {
        if (has(images) && has(labels)) return {{archive, images}, {archive, labels}};
        if (!expected.empty()) expected += ", or ";
        expected.append(images).append(" and ").append(labels);
    }
    throw StartupError(archive + ": expected the arrays " + expected + ", found " + listed(members),
                       remedy);
}

}  // namespace

NpyPart find_npy_part(const std::string& folder, bool train) {
    const std::string kind = train ? "train" : "test";
    const std::string plain = (fs::path(folder) / (kind + "_images.npy")).string();
    const std::string plain_labels = (fs::path(folder) / (kind + "_labels.npy")).string();
    const std::string archive = (fs::path(folder) / (kind + ".npz")).string();
    const Names of_both = {{kind + "_images", kind + "_labels"}, {"x_" + kind, "y_" + kind}};
    if (exists(plain) && exists(archive))
        throw StartupError(
            plain + ": there is " + kind + ".npz beside it, and only one of them can be meant",
            "leave one of them in data.path");
    if (exists(plain) || exists(plain_labels)) return {plain, plain_labels};
    if (exists(archive)) {
        Names names = {{"images", "labels"}, {"x", "y"}};
        names.insert(names.end(), of_both.begin(), of_both.end());
        return arrays_in(archive, names,
                         "numpy.savez(\"" + kind + ".npz\", images=images, labels=labels)");
    }
    const std::vector<std::string> archives = archives_in(folder);
    if (archives.size() == 1)
        return arrays_in(archives.front(), of_both,
                         "numpy.savez(\"data.npz\", x_train=..., y_train=..., x_test=..., "
                         "y_test=...), or one archive for each part, train.npz and test.npz");
    if (archives.size() > 1)
        throw StartupError(folder + ": has " + fs::path(archives[0]).filename().string() + " and " +
                               fs::path(archives[1]).filename().string() + ", and no " + kind +
                               "_images.npy or " + kind + ".npz",
                           "call the archives of the parts train.npz and test.npz");
    return {plain, plain_labels};  // whose reader says that it is not there
}

}  // namespace ako
