// One peer of a small cluster: see small_cluster.h. Its parameters are pulled towards its own place
// and all ones together, so that every gradient is of about the same size.
#include <cmath>
#include <utility>

#include "ako/mode_table.h"
#include "src/modes/bucket_mode.h"
#include "src/modes/elastic_mode.h"
#include "src/modes/make_exchange.h"
#include "tests/fuzz/small_cluster.h"

namespace ako::test {
namespace {

/// Small, so that a small model has several.
constexpr std::size_t bucket_bytes_min = 16;
constexpr std::size_t bucket_bytes_split = 32;

std::vector<float> initial_of(const Plan& plan, PeerIndex self) {
    return std::vector<float>(plan.parameter_count,
                              plan.same_initial ? 0.5F : static_cast<float>(self));
}

std::unique_ptr<Halves> small_halves(const Plan& plan, const std::vector<float>& initial,
                                     const ModeSettings& settings, Mailbox& mailbox,
                                     Transport& transport, const Clock& clock) {
    const ExchangeSettings& exchange = settings.exchange;
    Buckets buckets(settings.layers, plan.parameter_count, bucket_bytes_min, bucket_bytes_split);
    if (entry_of(exchange).is_elastic())
        return std::make_unique<ElasticMode>(settings, std::move(buckets), initial, mailbox,
                                             transport, clock);
    if (exchange.mode == Mode::ako)
        return make_halves(settings, initial, mailbox, transport, clock);
    return std::make_unique<BucketMode>(settings, std::move(buckets), initial, mailbox, transport);
}

}  // namespace

FuzzedMember::FuzzedMember(SmallCluster& cluster, const Plan& plan, PeerIndex self)
    : cluster_(cluster),
      gives_updates_(plan.gives_updates),
      initial_(initial_of(plan, self)),
      settings_(settings_of(plan, self)),
      wires_(cluster, self),
      exchange_(
          settings_, payload_bytes_max(settings_, plan.parameter_count),
          [&](const ModeSettings& settings, Mailbox& mailbox, Transport& over, const Clock& clock) {
              auto made = small_halves(plan, initial_, settings, mailbox, over, clock);
              mailbox_ = &mailbox;
              halves_ = made.get();
              return made;
          },
          wires_, cluster.clock_, interrupts_),
      gradient_(plan.parameter_count),
      parameters_(settings_.role(self) == Role::worker ? plan.parameter_count : 0) {}

ModeSettings FuzzedMember::settings_of(const Plan& plan, PeerIndex self) {
    ModeSettings settings = plan.settings;
    settings.self = self;
    settings.process_id = self + 1;
    settings.log = [](const std::string&) {};
    settings.waits = [this](const std::vector<PeerIndex>&) {
        cluster_.pass_while_waiting(settings_.self);
        mailbox_->wake();  // the time has passed
    };
    if (plan.portions > 0) {
        const Coverage::Sizes sizes{2 * plan.portions, plan.portions, 64};
        coverage_ = std::make_unique<Coverage>(self, settings.peer_count(), sizes);
        settings.coverage = coverage_.get();
    }
    return settings;
}

void FuzzedMember::step() {
    if (state_ == State::begins) begin();
    if (state_ == State::awaits && exchange_.await({0, gradient_.size()}, Use::read, at_once)) {
        make_gradient();
        state_ = State::gives;
    }
    if (state_ == State::gives) give();
    if (state_ == State::finishes) finish();
}

void FuzzedMember::begin() {
    const std::optional<Next> next = exchange_.begin_round(at_once);
    if (!next) return;
    samples_ = next->samples;
    state_ = next->kind == Next::Kind::train    ? State::awaits
             : next->kind == Next::Kind::finish ? State::finishes
                                                : State::over;
    if (state_ != State::over) return;
    why_ = next->why;
    exchange_.close();
}

void FuzzedMember::make_gradient() {
    const std::span<const float> replica = exchange_.replica();
    for (std::size_t k = 0; k < gradient_.size(); ++k) {
        const auto place = static_cast<float>(self() + k % 3);
        const float pull = replica[k] - place;
        gradient_[k] = std::tanh(pull) * (gives_updates_ ? -0.05F : 1.0F);
    }
    if (!coverage_) return;
    const PortionSource::Taken taken = coverage_->take();
    coverage_->given(taken.portion, 2, true);
}

void FuzzedMember::give() {
    const Range all{0, gradient_.size()};
    Learned learned = Gradient{gradient_};
    if (gives_updates_) {
        learned = Update{gradient_};
    } else {
        if (!exchange_.await(all, Use::give, at_once)) return;
        exchange_.gradient_ready(all, gradient_);
    }
    const Result<void> ended = exchange_.end_round(learned, {samples_, 0.5F});
    state_ = ended ? State::begins : State::over;
    if (ended) return;
    why_ = ended.error().what;
    exchange_.close();
}

void FuzzedMember::finish() {
    if (!exchange_.finish(at_once)) return;
    exchange_.close();
    report_ = exchange_.report(parameters_);
    state_ = State::over;
}

}  // namespace ako::test
