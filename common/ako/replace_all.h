// Every place of one text in another, replaced. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ako {

/// `from` is not empty. What is put in is not looked into again.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

}  // namespace ako
