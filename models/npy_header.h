// What an .npy file says of its array before the elements come (NumPy's NEP 1). See npy.h. Values
// and functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/byte_source.h"

namespace ako {

struct NpyHeader {
    std::string type;               ///< as written: "<f4"
    char kind = 0;                  ///< 'b', 'i', 'u' or 'f'
    std::size_t element_bytes = 0;  ///< of one element; of 'f' 2, 4 or 8 are known to readers
    bool big_endian = false;
    bool fortran = false;  ///< the first index runs fastest
    std::vector<std::size_t> shape;
    std::uint64_t element_count = 0;
    std::uint64_t data_bytes = 0;

    /// "[60000, 28, 28]".
    std::string shape_text() const;
    /// NumPy's name of the type, for people: "float64", "int16".
    std::string type_name() const;
};

/// Takes the header off the source, which must have just as many bytes more as it says. Throws
/// StartupError that begins with `name`: no .npy file, damaged, no numbers, too large.
NpyHeader read_npy_header(ByteSource& source, const std::string& name);

/// Throws StartupError "name: what".
[[noreturn]] void refuse_array(const std::string& name, const std::string& what,
                               const std::string& remedy);

}  // namespace ako
