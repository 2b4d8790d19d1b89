// A folder of a test, gone again with its contents at the end of the scope.
#pragma once

#include <string>

#include "src/system/scratch_folder.h"

namespace ako::test {

class TemporaryFolder {
  public:
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    ScratchFolder folder_{"test"};
    std::string path_ = folder_.path().string();
};

}  // namespace ako::test
