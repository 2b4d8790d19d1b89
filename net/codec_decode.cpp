#include <fmt/format.h>
#include <kj/exception.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ako/printable.h"
#include "net/codec.h"
#include "net/frame_prefix.h"
#include "net/wire.h"

namespace ako {
namespace {

/// Deepest nesting of pointers: Header, message, list, struct, and as much again to spare.
constexpr int nesting_limit = 8;

/// Of one header; Hello has most.
constexpr std::size_t pointers_max = 16;

/// What is wrong with a value; thrown here and caught by decode_header, so that reading a message
/// is a list of fields and not a list of checks.
struct Refused {
    std::string what;
};

[[noreturn]] void refuse(std::string what) { throw Refused{std::move(what)}; }

/// `fits`: may all of its letters be in it?
template <class Fits>
std::string text_that(const Fits& fits, capnp::Text::Reader value, std::size_t bytes_max,
                      const char* field) {
    if (value.size() > bytes_max) refuse(fmt::format("{} of {} bytes", field, value.size()));
    std::string result(value.begin(), value.size());
    if (!fits(result))
        refuse(
            fmt::format("{} with what a terminal would obey, or bytes that are not UTF-8", field));
    return result;
}

std::string text(capnp::Text::Reader value, const char* field) {
    const auto fits = [](const std::string& line) { return is_printable(line); };
    return text_that(fits, value, text_bytes_max, field);
}

/// As `text`, of several lines.
std::string lines(capnp::Text::Reader value, std::size_t bytes_max, const char* field) {
    const auto fits = [](const std::string& all) { return printable_lines(all) == all; };
    return text_that(fits, value, bytes_max, field);
}

Digest digest(capnp::Data::Reader value, const char* field) {
    Digest result;
    if (value.size() != result.size())
        refuse(fmt::format("{} of {} bytes, expected {}", field, value.size(), result.size()));
    std::copy(value.begin(), value.end(), result.begin());
    return result;
}

PeerIndex peer(std::uint32_t value, const char* field) {
    if (value >= peers_max) refuse(fmt::format("{} is {}, limit {}", field, value, peers_max));
    return value;
}

/// A peer's row, or `initial_row`.
RowIndex row(std::uint32_t value, const char* field) {
    return value == initial_row.place() ? initial_row : row_of(peer(value, field));
}

Time time(std::int64_t value, const char* field) {
    if (value < 0 || value > time_max.count())
        refuse(fmt::format("{} is {} ns, no moment", field, value));
    return Time{value};
}

float finite(float value, const char* field) {
    if (!std::isfinite(value)) refuse(fmt::format("{} is not finite", field));
    return value;
}

template <class Float>
Float share(Float value, const char* field) {
    if (!(value >= 0 && value <= 1)) refuse(fmt::format("{} is {}, not in 0 .. 1", field, value));
    return value;
}

template <class List>
List limited(List list, std::size_t limit, const char* field) {
    if (list.size() > limit)
        refuse(fmt::format("{} has {} entries, limit {}", field, list.size(), limit));
    return list;
}

Ballot get(wire::Ballot::Reader in, const char* field) {
    return {in.getNumber(), peer(in.getProposer(), field), in.getProcess()};
}

StopReason stop_reason(wire::StopReason value) {
    switch (value) {
        case wire::StopReason::NONE:
            return StopReason::none;
        case wire::StopReason::BUDGET_SPENT:
            return StopReason::budget_spent;
        case wire::StopReason::TARGET_REACHED:
            return StopReason::target_reached;
        case wire::StopReason::REQUESTED:
            return StopReason::requested;
    }
    refuse(fmt::format("stop is {}, no known reason", static_cast<unsigned>(value)));
}

Header get(wire::Hello::Reader in) {
    Hello hello;
    hello.protocol = in.getProtocol();
    hello.process_id = in.getProcessId();
    // Another protocol may fill the rest differently; it is refused by its number, not by these.
    if (hello.protocol != protocol_version) return hello;
    hello.run_name = text(in.getRunName(), "run_name");
    hello.training_digest = digest(in.getTrainingDigest(), "training_digest");
    hello.layout_digest = digest(in.getLayoutDigest(), "layout_digest");
    hello.initial_digest = digest(in.getInitialDigest(), "initial_digest");
    hello.peer_name = text(in.getPeerName(), "peer_name");
    hello.to_peer_name = text(in.getToPeerName(), "to_peer_name");
    if (in.hasKeyProof()) {
        const auto proof = in.getKeyProof();
        hello.key_proof = KeyProof{digest(proof.getNonce(), "key_proof.nonce"),
                                   digest(proof.getMac(), "key_proof.mac")};
    }
    hello.settings_text = lines(in.getSettingsText(), settings_text_bytes_max, "settings_text");
    return hello;
}

Header get(wire::Reject::Reader in) {
    return Reject{text(in.getField(), "field"), text(in.getExpected(), "expected"),
                  text(in.getGot(), "got")};
}

Header get(wire::Partial::Reader in) {
    Partial partial;
    partial.origin = row(in.getOrigin(), "origin");
    partial.version = {in.getIncarnation(), in.getRound()};
    partial.run = {in.getFirstBlock(), in.getBlockCount()};
    partial.sealed_at = time(in.getSealedAt(), "sealed_at");
    partial.relayed = in.getRelayed();
    const auto checksums = limited(in.getChecksums(), checksums_max, "checksums");
    partial.checksums.reserve(checksums.size());
    for (const std::uint32_t checksum : checksums) partial.checksums.push_back(checksum);
    partial.bound_at = time(in.getBoundAt(), "bound_at");
    partial.coded = in.getCoded();
    return partial;
}

Verdict get(wire::Verdict::Reader in) {
    Verdict verdict{share(in.getProgress(), "verdict.progress"),
                    share(in.getAccuracy(), "verdict.accuracy"),
                    finite(in.getLoss(), "verdict.loss")};
    if (!in.getLossKnown()) verdict.loss.reset();
    return verdict;
}

Covered get(wire::Covered::Reader in) {
    Covered covered;
    covered.pass = in.getPass();
    const auto done = limited(in.getDone(), covered_words_max, "done");
    for (const std::uint64_t word : done) covered.done.push_back(word);
    const auto done_next = limited(in.getDoneNext(), covered_words_max, "done_next");
    for (const std::uint64_t word : done_next) covered.done_next.push_back(word);
    if (in.getInHand()) covered.in_hand = Portion{in.getHandPass(), in.getHandPlace()};
    covered.items = in.getItems();
    return covered;
}

Header get(wire::Status::Reader in) {
    Status status;
    status.sent_at = time(in.getSentAt(), "sent_at");
    status.echo_sent_at = time(in.getEchoSentAt(), "echo_sent_at");
    status.echo_held = time(in.getEchoHeld(), "echo_held");
    const float loss = finite(in.getLoss(), "loss");
    if (in.getLossKnown()) status.loss = loss;
    status.stop = stop_reason(in.getStop());
    status.reached = in.getReached();
    for (const auto progress : limited(in.getProgress(), peers_max, "progress"))
        status.progress.push_back({progress.getRound(), progress.getSamples()});
    for (const auto row : limited(in.getRows(), peers_max, "rows"))
        status.rows.push_back({{row.getLowestIncarnation(), row.getLowestRound()},
                               {row.getHighestIncarnation(), row.getHighestRound()},
                               row.getMapChecksum()});
    const auto final_round = in.getFinalRound();
    switch (final_round.which()) {
        case wire::Status::FinalRound::NONE:
            break;
        case wire::Status::FinalRound::ROUND:
            status.final_round = final_round.getRound();
            break;
        default:
            refuse("final_round is of no known kind");
    }
    status.accepted = get(in.getAccepted(), "accepted");
    status.decided = get(in.getDecided(), "decided");
    const auto sum = in.getDigest();
    if (sum.size() > 0) status.digest = digest(sum, "digest");
    if (in.hasVerdict()) status.verdict = get(in.getVerdict());
    status.cut_blocks = in.getCutBlocks();
    status.asked = in.getAsked();
    status.joining = in.getJoining();
    status.has_vote = in.getHasVote();
    status.may_have_voted = in.getMayHaveVoted();
    status.leaving = in.getLeaving();
    if (in.hasCovered()) status.covered = get(in.getCovered());
    status.process_id = in.getProcessId();
    for (const auto it : limited(in.getCheckpoints(), checkpoints_told_max, "checkpoints"))
        status.checkpoints.push_back({it.getStart(), it.getRound()});
    status.resuming = in.getResuming();
    status.run_id = in.getRunId();
    const auto initial = in.getInitial();
    if (initial.size() > 0) status.initial = digest(initial, "initial");
    status.batch_doublings = in.getBatchDoublings();
    return status;
}

Header get(wire::Want::Reader in) {
    Want want;
    want.row = row(in.getRow(), "row");
    want.exact = in.getExact();
    const auto runs = limited(in.getRuns(), version_runs_max, "runs");
    want.runs.reserve(runs.size());
    for (const auto run : runs)
        want.runs.push_back(
            {{run.getFirstBlock(), run.getBlockCount()}, {run.getIncarnation(), run.getRound()}});
    return want;
}

Header get(wire::Lack::Reader in) {
    Lack lack;
    lack.row = row(in.getRow(), "row");
    const auto runs = limited(in.getRuns(), version_runs_max, "runs");
    lack.runs.reserve(runs.size());
    for (const auto run : runs) lack.runs.push_back({run.getFirstBlock(), run.getBlockCount()});
    return lack;
}

std::vector<VersionRun> version_runs(capnp::List<wire::VersionRun>::Reader in) {
    std::vector<VersionRun> runs;
    runs.reserve(limited(in, version_runs_max, "runs").size());
    for (const auto run : in)
        runs.push_back({run.getBlockCount(), {run.getIncarnation(), run.getRound()}});
    return runs;
}

Header get(wire::CutRow::Reader in) {
    return CutRow{get(in.getCut(), "cut"), row_of(peer(in.getRow(), "row")),
                  version_runs(in.getRuns())};
}

Header get(wire::Versions::Reader in) {
    return Versions{row_of(peer(in.getRow(), "row")), version_runs(in.getRuns())};
}

Header get(wire::Prepare::Reader in) {
    return Prepare{get(in.getBallot(), "ballot"), in.getRegains()};
}

Header get(wire::Promise::Reader in) {
    Promise promise{get(in.getBallot(), "ballot"), get(in.getAcceptedBallot(), "accepted_ballot"),
                    get(in.getAcceptedCut(), "accepted_cut"), in.getHasVote()};
    for (const auto vote : limited(in.getVotes(), peers_max, "votes"))
        promise.votes.push_back(get(vote, "votes"));
    return promise;
}

ChunkKind chunk_kind(wire::ChunkKind value) {
    switch (value) {
        case wire::ChunkKind::REDUCED:
            return ChunkKind::reduced;
        case wire::ChunkKind::GATHERED:
            return ChunkKind::gathered;
        case wire::ChunkKind::PUSHED:
            return ChunkKind::pushed;
        case wire::ChunkKind::PULLED:
            return ChunkKind::pulled;
        case wire::ChunkKind::FINAL:
            return ChunkKind::final;
        case wire::ChunkKind::RESTORED:
            return ChunkKind::restored;
        case wire::ChunkKind::PARAMETERS:
            return ChunkKind::parameters;
        case wire::ChunkKind::VELOCITY:
            return ChunkKind::velocity;
    }
    refuse(fmt::format("kind is {}, no known chunk", static_cast<unsigned>(value)));
}

PeerCounts peer_counts(capnp::Data::Reader value, const char* field) {
    PeerCounts counts{};
    if (value.size() > counts.size())
        refuse(fmt::format("{} of {} peers, at most {}", field, value.size(), counts.size()));
    std::copy(value.begin(), value.end(), counts.begin());
    return counts;
}

Header get(wire::Chunk::Reader in) {
    return Chunk{chunk_kind(in.getKind()),
                 {stop_reason(in.getStop()), in.getBatchDoublings(),
                  peer_counts(in.getLearners(), "learners")},
                 in.getWorkers(),
                 in.getSync(),
                 in.getFirst(),
                 in.getRoundsTotal(),
                 in.getChecksum(),
                 in.getEpoch(),
                 in.getContributors()};
}

std::vector<std::uint64_t> each_peer(capnp::List<std::uint64_t>::Reader in, const char* field) {
    std::vector<std::uint64_t> values;
    values.reserve(limited(in, peers_max, field).size());
    for (const std::uint64_t value : in) values.push_back(value);
    return values;
}

Header get(wire::Membership::Reader in) {
    Membership said;
    said.epoch = {in.getEpoch(), each_peer(in.getProcesses(), "processes")};
    said.promised = get(in.getPromised(), "promised");
    said.accepted_ballot = get(in.getAcceptedBallot(), "accepted_ballot");
    said.accepted = each_peer(in.getAccepted(), "accepted");
    said.asks = get(in.getAsks(), "asks");
    said.proposed = each_peer(in.getProposed(), "proposed");
    said.hears = in.getHears();
    said.broken = in.getBroken();
    said.wants_in = in.getWantsIn();
    said.holding.begun = in.getBegun();
    const auto sums = limited(in.getSums(), sync_runs_max, "sums");
    said.holding.sums.reserve(sums.size());
    for (const auto run : sums) said.holding.sums.push_back({run.getBuckets(), run.getSync()});
    said.holding.late = in.getLate();
    said.ready = in.getReady();
    said.whole = in.getWhole();
    said.taken = in.getTaken();
    return said;
}

Tally get(wire::Tally::Reader in) {
    return {in.getSync(), in.getContributors(), stop_reason(in.getStop()),
            share(in.getProgress(), "progress"), each_peer(in.getSamples(), "samples")};
}

Header get(wire::MemberState::Reader in) {
    return MemberState{in.getEpoch(), get(in.getBefore()), get(in.getNow()),
                       digest(in.getDigest(), "digest")};
}

Header get(wire::Bye::Reader in) {
    Bye bye{in.getFinalRound()};
    if (in.getGone() != 0) bye.gone = peer(in.getGone() - 1, "gone");
    bye.leaves = in.getLeaves();
    return bye;
}

Header get(wire::Header::Reader in) {
    switch (in.which()) {
        case wire::Header::HELLO:
            return get(in.getHello());
        case wire::Header::REJECT:
            return get(in.getReject());
        case wire::Header::PARTIAL:
            return get(in.getPartial());
        case wire::Header::STATUS:
            return get(in.getStatus());
        case wire::Header::WANT:
            return get(in.getWant());
        case wire::Header::LACK:
            return get(in.getLack());
        case wire::Header::WANT_VERSIONS:
            return WantVersions{};
        case wire::Header::VERSIONS:
            return get(in.getVersions());
        case wire::Header::WANT_CUT:
            return WantCut{get(in.getWantCut().getCut(), "cut")};
        case wire::Header::CUT_ROW:
            return get(in.getCutRow());
        case wire::Header::PREPARE:
            return get(in.getPrepare());
        case wire::Header::PROMISE:
            return get(in.getPromise());
        case wire::Header::ACCEPT: {
            const auto accept = in.getAccept();
            return Accept{get(accept.getBallot(), "ballot"), get(accept.getCut(), "cut")};
        }
        case wire::Header::ACCEPTED: {
            const auto accepted = in.getAccepted();
            return Accepted{get(accepted.getBallot(), "ballot"), get(accepted.getCut(), "cut")};
        }
        case wire::Header::BYE:
            return get(in.getBye());
        case wire::Header::CHUNK:
            return get(in.getChunk());
        case wire::Header::MEMBERSHIP:
            return get(in.getMembership());
        case wire::Header::MEMBER_STATE:
            return get(in.getMemberState());
    }
    refuse(fmt::format("message {} is not known", static_cast<unsigned>(in.which())));
}

Result<Header> malformed(const std::string& what) {
    return fail(Error::Kind::wire, "malformed header: " + what);
}

}  // namespace

Result<Header> decode_header(std::span<const std::byte> bytes) {
    if (bytes.size() > header_bytes_max || bytes.size() % sizeof(capnp::word) != 0)
        return malformed(fmt::format("{} bytes", bytes.size()));
    try {
        // Cap'n Proto reads words; the bytes may lie anywhere.
        auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
        if (!bytes.empty()) std::memcpy(words.asBytes().begin(), bytes.data(), bytes.size());
        capnp::ReaderOptions options;
        // Every field is read once, so an honest message never visits more than its own size, and a
        // word more for a pointer into another segment; one whose pointers share their targets to
        // look larger than it is runs into this.
        options.traversalLimitInWords = words.size() + pointers_max;
        options.nestingLimit = nesting_limit;
        capnp::FlatArrayMessageReader message(words, options);
        return get(message.getRoot<wire::Header>());
    } catch (const Refused& refused) {
        return malformed(refused.what);
    } catch (const kj::Exception& exception) {
        return malformed(exception.getDescription().cStr());
    } catch (const std::exception& exception) {
        return malformed(exception.what());
    }
}

}  // namespace ako
