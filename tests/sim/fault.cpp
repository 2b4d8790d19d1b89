// See fault.h. A text is `kind [who] [@[trigger+]ms] [for ms] [*amount]`, faults parted by `;`; who
// is `2`, `0,3`, `0,3>1` or, for whoever pulled the trigger, nothing.
#include "tests/sim/fault.h"

#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace ako::sim {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(FaultKind::count)> kind_words = {
    "kill",  "vanish", "restart",  "reboot",  "second", "late",  "hang",    "pause", "suspend",
    "drift", "hurry",  "leave",    "explode", "cut",    "dark",  "silence", "stop",  "target",
    "loss",  "flip",   "infinite", "header",  "slow",   "rates", "pool"};

constexpr std::array<const char*, static_cast<std::size_t>(Trigger::count)> trigger_words = {
    "begin", "join", "claim", "stop", "accept", "decide", "adopt"};

constexpr double nanoseconds_per_ms = 1e6;

/// All digits that count, and no more.
std::string text_of(double number) {
    std::array<char, 400> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::fixed);
    return {digits.data(), end.ptr};
}

std::string ms_text(Time time) {
    return text_of(static_cast<double>(time.count()) / nanoseconds_per_ms);
}

std::string set_text(PeerSet peers) {
    std::string text;
    for (PeerIndex peer = 0; peer < peers_max; ++peer) {
        if ((peers & peer_bit(peer)) == 0) continue;
        text += (text.empty() ? "" : ",") + std::to_string(peer);
    }
    return text;
}

std::string who_text(const Fault& fault) {
    std::string text = fault.peer ? std::to_string(*fault.peer) : set_text(fault.side);
    if (fault.others != 0) text += ">" + set_text(fault.others);
    return text.empty() ? "" : " " + text;
}

[[noreturn]] void not_understood(std::string_view part) {
    throw std::invalid_argument("not understood: '" + std::string(part) + "'");
}

double number_of(const std::string& text) {
    std::size_t used = 0;
    double number = 0;
    try {
        number = std::stod(text, &used);
    } catch (const std::exception&) {
        not_understood(text);
    }
    if (used != text.size() || !std::isfinite(number)) not_understood(text);
    return number;
}

Time time_of(const std::string& text) {
    return Time(std::llround(number_of(text) * nanoseconds_per_ms));
}

template <class Enum, std::size_t count>
Enum word_of(const std::array<const char*, count>& words, const std::string& text) {
    for (std::size_t k = 0; k < count; ++k) {
        if (text == words[k]) return static_cast<Enum>(k);
    }
    not_understood(text);
}

PeerSet set_of(const std::string& text) {
    PeerSet peers = 0;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const double number = number_of(part);
        if (number < 0 || number >= static_cast<double>(peers_max) || number != std::floor(number))
            not_understood(part);
        peers |= peer_bit(static_cast<PeerIndex>(number));
    }
    return peers;
}

bool is_of_a_side(FaultKind kind) {
    return kind == FaultKind::cut || kind == FaultKind::dark || kind == FaultKind::silence ||
           kind == FaultKind::slow;
}

void take_who(Fault& fault, const std::string& text) {
    const std::size_t arrow = text.find('>');
    const PeerSet side = set_of(text.substr(0, arrow));
    if (arrow != std::string::npos) fault.others = set_of(text.substr(arrow + 1));
    if (is_of_a_side(fault.kind)) {
        fault.side = side;
    } else {
        if (side == 0 || (side & (side - 1)) != 0 || fault.others != 0) not_understood(text);
        PeerIndex peer = 0;
        while (peer_bit(peer) != side) ++peer;
        fault.peer = peer;
    }
}

void take_moment(Fault& fault, const std::string& text) {
    const std::size_t plus = text.find('+');
    const bool has_word = !text.empty() && text[0] >= 'a' && text[0] <= 'z';
    if (has_word) fault.trigger = word_of<Trigger>(trigger_words, text.substr(0, plus));
    if (!has_word) fault.at = time_of(text);
    if (has_word && plus != std::string::npos) fault.at = time_of(text.substr(plus + 1));
}

Fault parse(const std::string& text) {
    std::istringstream words(text);
    std::string word;
    words >> word;
    Fault fault;
    fault.kind = word_of<FaultKind>(kind_words, word);
    while (words >> word) {
        if (word[0] == '@') {
            take_moment(fault, word.substr(1));
        } else if (word == "for") {
            if (!(words >> word)) not_understood(text);
            fault.lasts = time_of(word);
        } else if (word[0] == '*') {
            fault.amount = number_of(word.substr(1));
        } else {
            take_who(fault, word);
        }
    }
    return fault;
}

}  // namespace

const char* word(FaultKind kind) { return kind_words[static_cast<std::size_t>(kind)]; }

bool is_lasting(FaultKind kind) {
    switch (kind) {
        case FaultKind::loss:
        case FaultKind::flip:
        case FaultKind::infinite:
        case FaultKind::header:
        case FaultKind::slow:
        case FaultKind::rates:
        case FaultKind::pool:
        case FaultKind::hurry:
            return true;
        default:
            return false;
    }
}

bool has_length(FaultKind kind) {
    switch (kind) {
        case FaultKind::restart:
        case FaultKind::reboot:
        case FaultKind::hang:
        case FaultKind::pause:
        case FaultKind::suspend:
        case FaultKind::cut:
        case FaultKind::dark:
        case FaultKind::silence:
            return true;
        default:
            return false;
    }
}

std::string text(const Fault& fault) {
    std::string text = word(fault.kind) + who_text(fault);
    if (fault.trigger != Trigger::begin) {
        text += std::string(" @") + trigger_words[static_cast<std::size_t>(fault.trigger)];
        if (fault.at != Time{0}) text += "+" + ms_text(fault.at);
    } else if (!is_lasting(fault.kind)) {
        text += " @" + ms_text(fault.at);
    }
    if (has_length(fault.kind)) text += " for " + ms_text(fault.lasts);
    if (fault.amount != 0) text += " *" + text_of(fault.amount);
    return text;
}

std::string text(const Schedule& schedule) {
    std::string sum;
    for (const Fault& fault : schedule) sum += (sum.empty() ? "" : "; ") + text(fault);
    return sum;
}

Schedule parse_schedule(std::string_view text) {
    Schedule schedule;
    std::istringstream parts{std::string(text)};
    for (std::string part; std::getline(parts, part, ';');) {
        if (part.find_first_not_of(' ') != std::string::npos) schedule.push_back(parse(part));
    }
    return schedule;
}

}  // namespace ako::sim
