// Fuzz target: a peer that has the right key and Hello, and lies from then on. Three peers have
// their real exchanges; what one of them says is changed, dropped, repeated and added to, as the
// input has it, in frames that the codec takes. The others may end their run, but they end it: none
// crashes or waits for ever, takes more and more memory, or, in the mode `ako`, holds what another
// honest peer never made.
#include <sanitizer/allocator_interface.h>

#include <optional>

#include "ako/assert.h"
#include "net/codec.h"
#include "net/frame_prefix.h"
#include "tests/fuzz/fuzz_plans.h"
#include "tests/fuzz/honest_rows.h"
#include "tests/fuzz/lies.h"
#include "tests/fuzz/small_cluster.h"

namespace {

using namespace ako;
using namespace ako::test;

constexpr Time tick = std::chrono::milliseconds(5);
/// Once the liar has said everything: so many short ticks, and then long ones, below the life
/// time-out, for longer than any wait: StalenessBound::patience_max, for three peers in turn.
constexpr unsigned ticks_short = 80;
constexpr unsigned ticks_max = 10'000;
constexpr Time tick_long = std::chrono::milliseconds(100);

/// What three members keep when all their mailboxes are full of frames without lists, and slack.
constexpr std::size_t memory_max = 3 * Mailbox::frames_max * sizeof(Arrival) + (8U << 20);

class LiedTo {
  public:
    LiedTo(const std::uint8_t* data, std::size_t size)
        : bytes_(data, size),
          plan_(plans()[bytes_.below(plans().size())]),
          count_(plan_.settings.peer_count()),
          liar_(static_cast<PeerIndex>(bytes_.below(count_))),
          lies_(bytes_, liar_, count_,
                Blocks(plan_.parameter_count, plan_.settings.block_elements)),
          rows_(count_, liar_),
          cluster_(
              plan_, liar_, [this](PeerIndex, Frame honest) { return says(std::move(honest)); },
              [this](PeerIndex from, PeerIndex to, const Frame& frame) {
                  if (to == liar_) lies_.saw(frame);
                  rows_.heard(from, to, frame);
              }) {}

    void run() {
        const std::size_t before = __sanitizer_get_current_allocated_bytes();
        unsigned ticks = 0;
        for (unsigned after = 0; !cluster_.honest_are_over(); ++ticks) {
            AKO_ASSERT(after < ticks_max, "a peer hangs:" + who_hangs());
            Time takes = after < ticks_short ? tick : tick_long;
            if (bytes_.spent())
                ++after;
            else
                takes = act();
            cluster_.tick(takes);
            if (plan_.settings.exchange.mode == Mode::ako) rows_.check(cluster_);
            AKO_ASSERT(__sanitizer_get_current_allocated_bytes() < before + memory_max,
                       "memory grows");
        }
        if (!honest_) return;
        for (PeerIndex peer = 0; peer < count_; ++peer)
            AKO_ASSERT(cluster_[peer].report() && cluster_[peer].report()->identical,
                       "nobody lied, and yet: " + cluster_[peer].why());
    }

  private:
    static const std::vector<Plan>& plans() {
        static const std::vector<Plan> all = fuzz_plans();
        return all;
    }
    std::string who_hangs() {
        std::string text;
        for (PeerIndex one = 0; one < count_; ++one)
            if (one != liar_ && !cluster_[one].over())
                text += " " + std::to_string(one) + " after round " +
                        std::to_string(cluster_[one].exchange().standing().round);
        return text;
    }
    PeerIndex peer() { return static_cast<PeerIndex>(bytes_.below(count_)); }

    /// What the codec makes of it; nothing if it refuses it.
    static std::optional<Frame> sent(Frame frame) {
        const auto head = encode_frame_head(frame.header, frame.payload.size());
        auto header = decode_header(std::span(head).subspan(frame_prefix_bytes));
        if (!header) return std::nullopt;
        return Frame{*std::move(header), std::move(frame.payload)};
    }
    void add(std::vector<Frame>& said, Frame frame) {
        if (auto one = sent(std::move(frame))) said.push_back(*std::move(one));
    }

    std::vector<Frame> says(Frame frame) {
        lies_.saw(frame);
        const unsigned choice = bytes_.byte();
        if (choice < 144) return {std::move(frame)};
        honest_ = false;
        std::vector<Frame> said;
        if (choice < 216) {
            lies_.change(frame);
            add(said, std::move(frame));
        } else if (choice < 240) {
            add(said, lies_.made_up());
            if (choice < 232) said.push_back(std::move(frame));
        } else if (choice < 252) {
            lies_.change(frame);
            for (std::size_t times = bytes_.below(64); times > 0; --times) add(said, frame);
        }  // else nothing
        return said;
    }

    /// What happens before the next tick, and how long that takes.
    Time act() {
        const unsigned choice = bytes_.byte();
        if (choice < 128) return tick;
        honest_ = false;
        switch (choice % 16) {
            case 0:
                cluster_.reset(peer());
                break;
            case 1:
                cluster_.take_another_process();
                cluster_.reset(peer());
                break;
            case 2:
            case 3:
            case 4:
                cluster_.hold_payload(peer(), peer());
                break;
            case 5:
                cluster_.stand_still(peer(), bytes_.byte());
                break;
            case 6:
                cluster_.stop_reading(peer(), liar_, bytes_.byte());
                break;
            case 7:
                return std::chrono::milliseconds(20) * bytes_.byte();
            case 8:
                if (bytes_.below(4) == 0) cluster_.go();
                break;
            default:
                for (std::size_t times = bytes_.below(4); times > 0; --times)
                    if (auto frame = sent(lies_.made_up())) cluster_.say(peer(), *std::move(frame));
        }
        return tick;
    }

    FuzzBytes bytes_;
    const Plan& plan_;
    const std::size_t count_;
    const PeerIndex liar_;
    Lies lies_;
    HonestRows rows_;
    bool honest_ = true;
    SmallCluster cluster_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    LiedTo(data, size).run();
    return 0;
}
