// See lies.h. A choice of the bytes says which field of a header is changed; to walk through the
// fields is to count them.
#include "tests/fuzz/lies.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "ako/payload.h"
#include "src/numbers/checksum.h"

namespace ako::test {
namespace {

constexpr std::size_t fields_max = 64;
constexpr std::size_t lies_max = 4;

}  // namespace

// ---- frames

Frame Lies::made_up() {
    const std::size_t kind = bytes_.below(std::variant_size_v<Header>);
    Frame frame = seen_[kind] ? *seen_[kind] : plausible(kind);
    change(frame);
    return frame;
}

void Lies::change(Frame& frame) {
    for (std::size_t lies = bytes_.below(lies_max); lies > 0; --lies) {
        chosen_ = bytes_.below(fields_max);
        field_ = 0;
        std::visit([this](auto& header) { header.fields(header, *this); }, frame.header);
    }
    fit(frame);
    fit_payload(frame);
}

void Lies::fit(Frame& frame) {
    if (bytes_.below(8) == 0) return;
    if (auto* partial = std::get_if<Partial>(&frame.header))
        partial->relayed = partial->origin != row_of(liar_);
    else if (auto* prepare = std::get_if<Prepare>(&frame.header))
        prepare->ballot.proposer = liar_;
    else if (auto* accept = std::get_if<Accept>(&frame.header))
        accept->ballot.proposer = liar_;
}

Frame Lies::plausible(std::size_t kind) {
    const auto row = RowIndex::at(bytes_.below(peer_count_));
    const Ballot ballot{1, owner_of(row), owner_of(row) + 1};
    const Version version{owner_of(row) + 1, 1};
    Frame frame;
    switch (kind) {
        case 0:
            frame.header = Hello{};
            break;
        case 1:
            frame.header = Reject{"protocol", "10", "9"};
            break;
        case 2:
            frame.header = Partial{row, version, {0, 1}, Time{1}, false, {0}, Time{1}, false};
            break;
        case 3: {
            Status status;
            status.standing.progress.resize(peer_count_);
            status.rows.resize(peer_count_);
            frame.header = std::move(status);
            break;
        }
        case 4:
            frame.header = Want{row, false, {{{0, blocks_.count()}, {}}}};
            break;
        case 5:
            frame.header = WantCut{ballot};
            break;
        case 6:
            frame.header = CutRow{ballot, row, {{blocks_.count(), version}}};
            break;
        case 7:
            frame.header = Prepare{ballot};
            break;
        case 8:
            frame.header = Promise{ballot, {}, {}};
            break;
        case 9:
            frame.header = Accept{ballot, ballot};
            break;
        case 10:
            frame.header = Accepted{ballot, ballot};
            break;
        case 11:
            frame.header = Bye{1};
            break;
        case 12:
            frame.header = Chunk{.kind = static_cast<ChunkKind>(bytes_.below(8)), .sync = 1};
            break;
        case 13:
            frame.header = Lack{row, {{0, blocks_.count()}}};
            break;
        case 14:
            frame.header = WantVersions{};
            break;
        case 15:
            frame.header = Versions{row, {{blocks_.count(), version}}};
            break;
        case 16:
            frame.header = Membership{.hears = (PeerSet{1} << peer_count_) - 1, .wants_in = true};
            break;
        default: {
            Tally tally;
            tally.samples.resize(peer_count_);
            frame.header = MemberState{1, tally, tally};
        }
    }
    return frame;
}

// ---- payloads

void Lies::fit_payload(Frame& frame) {
    if (auto* partial = std::get_if<Partial>(&frame.header)) {
        const bool fits = bytes_.below(8) != 0;
        if (fits && blocks_.valid(partial->run)) {
            if (!partial->coded)
                frame.payload.resize(payload_bytes_of(blocks_.range(partial->run).count));
            partial->checksums.resize(partial->run.count);
        }
        lie_about_values(frame.payload);
        if (bytes_.below(4) != 0) seal(*partial, frame.payload);
    } else if (std::holds_alternative<Chunk>(frame.header)) {
        if (bytes_.below(4) == 0) frame.payload.resize(payload_bytes_of(bytes_.below(32)));
        lie_about_values(frame.payload);
    } else {
        frame.payload.clear();
    }
}

void Lies::lie_about_values(std::vector<std::byte>& payload) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    constexpr float values[] = {std::numeric_limits<float>::quiet_NaN(),
                                infinite,
                                -infinite,
                                1e38F,
                                16'777'216.0F,
                                1e-40F,
                                -0.0F,
                                1.0F};
    if (payload.size() < sizeof(float) || bytes_.below(4) != 0) return;
    const float value = values[bytes_.below(std::size(values))];
    const std::size_t element = bytes_.below(payload.size() / sizeof(float));
    std::memcpy(payload.data() + element * sizeof value, &value, sizeof value);
}

// As the owner of the row would have.
void Lies::seal(Partial& partial, const std::vector<std::byte>& payload) {
    if (partial.coded || !blocks_.valid(partial.run)) return;
    const std::size_t before = blocks_.range(partial.run).first;
    for (std::size_t k = 0; k < partial.checksums.size() && k < partial.run.count; ++k) {
        const Range range = blocks_.range(partial.run.first + static_cast<BlockIndex>(k));
        const std::size_t first = payload_bytes_of(range.first - before);
        const std::size_t bytes = payload_bytes_of(range.count);
        if (first + bytes > payload.size()) return;
        partial.checksums[k] = crc32c(std::span(payload).subspan(first, bytes));
    }
}

// ---- fields

template <std::unsigned_integral Number>
void Lies::field(Number& value) {
    if (!chosen()) return;
    constexpr auto most = std::numeric_limits<Number>::max();
    const auto honest = static_cast<std::uint64_t>(value);
    const std::uint64_t lies[] = {0,
                                  1,
                                  honest + 1,
                                  honest - 1,
                                  honest * 2,
                                  most,
                                  most / 2,
                                  most / 2 + 1,
                                  peer_count_,
                                  blocks_.count(),
                                  blocks_.element_count(),
                                  bytes_.byte(),
                                  bytes_.word()};
    value = static_cast<Number>(lies[bytes_.below(std::size(lies))]);
}

void Lies::field(Time& value) {
    auto nanoseconds = static_cast<std::uint64_t>(value.count());
    field(nanoseconds);
    value = Time{static_cast<Time::rep>(nanoseconds)};
}

template <std::floating_point Float>
void Lies::field(Float& value) {
    constexpr Float most = std::numeric_limits<float>::max();
    const Float lies[] = {0, 1, -value, most, -most, Float{1e-40F}};
    if (chosen()) value = lies[bytes_.below(std::size(lies))];
}

void Lies::field(Digest& value) {
    if (chosen()) ++value[0];
}

void Lies::field(RowIndex& value) {
    if (!chosen()) return;
    const std::size_t choice = bytes_.below(peer_count_ + 2);
    value = choice == peer_count_ ? initial_row : RowIndex::at(choice);
}

template <class Item>
void Lies::field(std::optional<Item>& value) {
    if (chosen()) {
        if (value)
            value.reset();
        else
            value.emplace();
    } else if (value) {
        field(*value);
    }
}

template <class List>
void Lies::list(List& values) {
    if (chosen()) {
        switch (bytes_.below(4)) {
            case 0:
                return values.clear();
            case 1:
                if (values.size() > 0) values.resize(values.size() - 1);
                return;
            default:
                return values.resize(values.size() + 1);
        }
    }
    if (values.size() == 0) return;
    auto entry = values.begin();
    // No choice of the bytes unless the field may be one of this entry.
    if (field_ + 8 > chosen_ && field_ <= chosen_) std::advance(entry, bytes_.below(values.size()));
    field(const_cast<std::remove_cvref_t<decltype(*entry)>&>(*entry));
}

}  // namespace ako::test
