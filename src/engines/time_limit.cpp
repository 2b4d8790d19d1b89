// See time_limit.h.
#include "src/engines/time_limit.h"

#include <charconv>
#include <string_view>
#include <vector>

#include "ako/error.h"

namespace ako {
namespace {

[[noreturn]] void refuse_limit(const std::string& text) {
    throw StartupError("--time: " + text + " is no time",
                       "minutes (90), hours:minutes:seconds (2:00:00) or "
                       "days-hours:minutes:seconds (1-12:00:00)");
}

unsigned long number_in(std::string_view part, const std::string& text) {
    unsigned long number = 0;
    const char* const end = part.data() + part.size();
    const auto [stopped, error] = std::from_chars(part.data(), end, number);
    constexpr unsigned long most = 1'000'000;  // minutes of two years
    if (error != std::errc() || stopped != end || number > most) refuse_limit(text);
    return number;
}

std::vector<unsigned long> numbers_in(std::string_view rest, const std::string& text) {
    std::vector<unsigned long> numbers;
    while (true) {
        const std::size_t colon = rest.find(':');
        numbers.push_back(number_in(rest.substr(0, colon), text));
        if (colon == std::string_view::npos) return numbers;
        rest.remove_prefix(colon + 1);
    }
}

}  // namespace

std::optional<unsigned long> time_limit_s(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const std::size_t dash = text.find('-');
    const bool has_days = dash != std::string::npos;
    const std::string_view rest = std::string_view(text).substr(has_days ? dash + 1 : 0);
    std::vector<unsigned long> parts = numbers_in(rest, text);
    if (parts.size() > 3) refuse_limit(text);
    // Behind days come hours; else a number alone is minutes, and two are minutes and seconds.
    if (!has_days && parts.size() < 3) parts.insert(parts.begin(), 0);
    parts.resize(3, 0);
    const unsigned long days =
        has_days ? number_in(std::string_view(text).substr(0, dash), text) : 0;
    return ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
}

}  // namespace ako
