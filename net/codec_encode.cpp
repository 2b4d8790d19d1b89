#include <cstring>

#include "ako/assert.h"
#include "ako/payload.h"
#include "net/codec.h"
#include "net/frame_prefix.h"
#include "net/wire.h"
#include "src/numbers/checksum.h"

namespace ako {
namespace {

/// First segment of the message builder, in words: 1 KiB holds all but the long lists, and a header
/// in one segment needs the shortest segment table.
constexpr unsigned first_segment_words = 128;

capnp::Text::Reader text(const std::string& value, std::size_t bytes_max = text_bytes_max) {
    AKO_ASSERT(value.size() <= bytes_max, "a text of " + std::to_string(value.size()));
    return {value.c_str(), value.size()};
}

capnp::Data::Reader data(const Digest& digest) { return {digest.data(), digest.size()}; }

unsigned list_size(std::size_t count, std::size_t limit) {
    AKO_ASSERT(count <= limit, std::to_string(count) + " entries, limit " + std::to_string(limit));
    return static_cast<unsigned>(count);
}

void put(wire::Ballot::Builder out, const Ballot& ballot) {
    out.setNumber(ballot.number);
    out.setProposer(ballot.proposer);
    out.setProcess(ballot.process);
}

void put(wire::Header::Builder header, const Hello& hello) {
    auto out = header.initHello();
    out.setProtocol(hello.protocol);
    out.setProcessId(hello.process_id);
    out.setRunName(text(hello.run_name));
    out.setTrainingDigest(data(hello.training_digest));
    out.setLayoutDigest(data(hello.layout_digest));
    out.setInitialDigest(data(hello.initial_digest));
    out.setPeerName(text(hello.peer_name));
    out.setToPeerName(text(hello.to_peer_name));
    if (hello.key_proof) {
        auto proof = out.initKeyProof();
        proof.setNonce(data(hello.key_proof->nonce));
        proof.setMac(data(hello.key_proof->mac));
    }
    if (!hello.settings_text.empty())
        out.setSettingsText(text(hello.settings_text, settings_text_bytes_max));
}

void put(wire::Header::Builder header, const Reject& reject) {
    auto out = header.initReject();
    out.setField(text(reject.field));
    out.setExpected(text(reject.expected));
    out.setGot(text(reject.got));
}

void put(wire::Header::Builder header, const Partial& partial) {
    auto out = header.initPartial();
    out.setOrigin(partial.origin.place());
    out.setIncarnation(partial.version.incarnation);
    out.setRound(partial.version.round);
    out.setFirstBlock(partial.run.first);
    out.setBlockCount(partial.run.count);
    out.setSealedAt(partial.sealed_at.count());
    out.setRelayed(partial.relayed);
    const unsigned count = list_size(partial.checksums.size(), checksums_max);
    auto checksums = out.initChecksums(count);
    for (unsigned i = 0; i < count; ++i) checksums.set(i, partial.checksums[i]);
    out.setBoundAt(partial.bound_at.count());
    out.setCoded(partial.coded);
}

void put(wire::Covered::Builder out, const Covered& covered) {
    out.setPass(covered.pass);
    const unsigned words = list_size(covered.done.size(), covered_words_max);
    auto done = out.initDone(words);
    for (unsigned i = 0; i < words; ++i) done.set(i, covered.done[i]);
    const unsigned next_words = list_size(covered.done_next.size(), covered_words_max);
    auto done_next = out.initDoneNext(next_words);
    for (unsigned i = 0; i < next_words; ++i) done_next.set(i, covered.done_next[i]);
    out.setInHand(covered.in_hand.has_value());
    if (covered.in_hand) {
        out.setHandPass(covered.in_hand->pass);
        out.setHandPlace(covered.in_hand->place);
    }
    out.setItems(covered.items);
}

void put(wire::Header::Builder header, const Status& status) {
    auto out = header.initStatus();
    out.setSentAt(status.sent_at.count());
    out.setEchoSentAt(status.echo_sent_at.count());
    out.setEchoHeld(status.echo_held.count());
    out.setLossKnown(status.loss.has_value());
    out.setLoss(status.loss.value_or(0));
    out.setStop(static_cast<wire::StopReason>(status.stop));
    out.setReached(status.reached);
    const unsigned progress_count = list_size(status.progress.size(), peers_max);
    auto progress = out.initProgress(progress_count);
    for (unsigned i = 0; i < progress_count; ++i) {
        progress[i].setRound(status.progress[i].round);
        progress[i].setSamples(status.progress[i].samples);
    }
    const unsigned row_count = list_size(status.rows.size(), peers_max);
    auto rows = out.initRows(row_count);
    for (unsigned i = 0; i < row_count; ++i) {
        const RowHeld& row = status.rows[RowIndex::at(i)];
        rows[i].setLowestIncarnation(row.lowest.incarnation);
        rows[i].setLowestRound(row.lowest.round);
        rows[i].setHighestIncarnation(row.highest.incarnation);
        rows[i].setHighestRound(row.highest.round);
        rows[i].setMapChecksum(row.map_checksum);
    }
    if (status.final_round) out.getFinalRound().setRound(*status.final_round);
    put(out.initAccepted(), status.accepted);
    put(out.initDecided(), status.decided);
    if (status.digest) out.setDigest(data(*status.digest));
    if (status.verdict) {
        auto verdict = out.initVerdict();
        verdict.setProgress(status.verdict->progress);
        verdict.setAccuracy(status.verdict->accuracy);
        verdict.setLoss(status.verdict->loss.value_or(0));
        verdict.setLossKnown(status.verdict->loss.has_value());
    }
    out.setCutBlocks(status.cut_blocks);
    out.setAsked(status.asked);
    out.setJoining(status.joining);
    out.setHasVote(status.has_vote);
    out.setMayHaveVoted(status.may_have_voted);
    out.setLeaving(status.leaving);
    if (status.covered) put(out.initCovered(), *status.covered);
    out.setProcessId(status.process_id);
    const unsigned checkpoint_count = list_size(status.checkpoints.size(), checkpoints_told_max);
    auto checkpoints = out.initCheckpoints(checkpoint_count);
    for (unsigned i = 0; i < checkpoint_count; ++i) {
        checkpoints[i].setStart(status.checkpoints[i].start);
        checkpoints[i].setRound(status.checkpoints[i].round);
    }
    out.setResuming(status.resuming);
    out.setRunId(status.run_id);
    if (status.initial) out.setInitial(data(*status.initial));
    out.setBatchDoublings(status.batch_doublings);
}

void put(wire::Header::Builder header, const Want& want) {
    auto out = header.initWant();
    out.setRow(want.row.place());
    out.setExact(want.exact);
    const unsigned count = list_size(want.runs.size(), version_runs_max);
    auto runs = out.initRuns(count);
    for (unsigned i = 0; i < count; ++i) {
        const Want::Run& run = want.runs[i];
        runs[i].setFirstBlock(run.blocks.first);
        runs[i].setBlockCount(run.blocks.count);
        runs[i].setIncarnation(run.version.incarnation);
        runs[i].setRound(run.version.round);
    }
}

void put(wire::Header::Builder header, const Lack& lack) {
    auto out = header.initLack();
    out.setRow(lack.row.place());
    const unsigned count = list_size(lack.runs.size(), version_runs_max);
    auto runs = out.initRuns(count);
    for (unsigned i = 0; i < count; ++i) {
        runs[i].setFirstBlock(lack.runs[i].first);
        runs[i].setBlockCount(lack.runs[i].count);
    }
}

void put(wire::Header::Builder header, const WantCut& want) {
    put(header.initWantCut().initCut(), want.cut);
}

void put(capnp::List<wire::VersionRun>::Builder out, const std::vector<VersionRun>& runs) {
    for (unsigned i = 0; i < out.size(); ++i) {
        out[i].setBlockCount(runs[i].count);
        out[i].setIncarnation(runs[i].version.incarnation);
        out[i].setRound(runs[i].version.round);
    }
}

void put(wire::Header::Builder header, const CutRow& row) {
    auto out = header.initCutRow();
    put(out.initCut(), row.cut);
    out.setRow(row.row.place());
    put(out.initRuns(list_size(row.runs.size(), version_runs_max)), row.runs);
}

void put(wire::Header::Builder header, const WantVersions&) { header.initWantVersions(); }

void put(wire::Header::Builder header, const Versions& versions) {
    auto out = header.initVersions();
    out.setRow(versions.row.place());
    put(out.initRuns(list_size(versions.runs.size(), version_runs_max)), versions.runs);
}

void put(wire::Header::Builder header, const Prepare& prepare) {
    auto out = header.initPrepare();
    put(out.initBallot(), prepare.ballot);
    out.setRegains(prepare.regains);
}

void put(wire::Header::Builder header, const Promise& promise) {
    auto out = header.initPromise();
    put(out.initBallot(), promise.ballot);
    put(out.initAcceptedBallot(), promise.accepted_ballot);
    put(out.initAcceptedCut(), promise.accepted_cut);
    out.setHasVote(promise.has_vote);
    const unsigned count = list_size(promise.votes.size(), peers_max);
    auto votes = out.initVotes(count);
    for (unsigned i = 0; i < count; ++i) put(votes[i], promise.votes[i]);
}

void put(wire::Header::Builder header, const Accept& accept) {
    auto out = header.initAccept();
    put(out.initBallot(), accept.ballot);
    put(out.initCut(), accept.cut);
}

void put(wire::Header::Builder header, const Accepted& accepted) {
    auto out = header.initAccepted();
    put(out.initBallot(), accepted.ballot);
    put(out.initCut(), accepted.cut);
}

void put(wire::Header::Builder header, const Bye& bye) {
    auto out = header.initBye();
    out.setFinalRound(bye.final_round);
    out.setGone(bye.gone ? *bye.gone + 1 : 0);
    out.setLeaves(bye.leaves);
}

void put(wire::Header::Builder header, const Chunk& chunk) {
    auto out = header.initChunk();
    out.setKind(static_cast<wire::ChunkKind>(chunk.kind));
    out.setStop(static_cast<wire::StopReason>(chunk.wish.stop));
    out.setBatchDoublings(chunk.wish.doublings);
    out.setWorkers(chunk.workers);
    out.setSync(chunk.sync);
    out.setFirst(chunk.first);
    out.setRoundsTotal(chunk.rounds_total);
    out.setChecksum(chunk.checksum);
    out.setEpoch(chunk.epoch);
    out.setContributors(chunk.contributors);
    const PeerCounts& learners = chunk.wish.learners;
    std::size_t said = learners.size();
    while (said > 0 && learners[said - 1] == 0) --said;
    if (said > 0) out.setLearners({learners.data(), said});
}

void put(capnp::List<std::uint64_t>::Builder out, const std::vector<std::uint64_t>& values) {
    for (unsigned i = 0; i < out.size(); ++i) out.set(i, values[i]);
}

void put(wire::Header::Builder header, const Membership& said) {
    auto out = header.initMembership();
    const auto peers = [](const std::vector<std::uint64_t>& list) {
        return list_size(list.size(), peers_max);
    };
    out.setEpoch(said.epoch.number);
    put(out.initProcesses(peers(said.epoch.processes)), said.epoch.processes);
    put(out.initPromised(), said.promised);
    put(out.initAcceptedBallot(), said.accepted_ballot);
    put(out.initAccepted(peers(said.accepted)), said.accepted);
    put(out.initAsks(), said.asks);
    put(out.initProposed(peers(said.proposed)), said.proposed);
    out.setHears(said.hears);
    out.setBroken(said.broken);
    out.setWantsIn(said.wants_in);
    out.setBegun(said.holding.begun);
    auto sums = out.initSums(list_size(said.holding.sums.size(), sync_runs_max));
    for (unsigned i = 0; i < sums.size(); ++i) {
        sums[i].setBuckets(said.holding.sums[i].buckets);
        sums[i].setSync(said.holding.sums[i].sync);
    }
    out.setLate(said.holding.late);
    out.setReady(said.ready);
    out.setWhole(said.whole);
    out.setTaken(said.taken);
}

void put(wire::Tally::Builder out, const Tally& tally) {
    out.setSync(tally.sync);
    out.setContributors(tally.contributors);
    out.setStop(static_cast<wire::StopReason>(tally.stop));
    out.setProgress(tally.progress);
    put(out.initSamples(list_size(tally.samples.size(), peers_max)), tally.samples);
}

void put(wire::Header::Builder header, const MemberState& state) {
    auto out = header.initMemberState();
    out.setEpoch(state.epoch);
    put(out.initBefore(), state.before);
    put(out.initNow(), state.now);
    out.setDigest(data(state.digest));
}

}  // namespace

std::vector<std::byte> encode_frame_head(const Header& header, std::size_t payload_bytes) {
    capnp::MallocMessageBuilder message(first_segment_words);
    auto root = message.initRoot<wire::Header>();
    std::visit([&](const auto& value) { put(root, value); }, header);
    const auto words = capnp::messageToFlatArray(message);
    const auto bytes = words.asBytes();
    AKO_ASSERT(bytes.size() <= header_bytes_max, std::to_string(bytes.size()));
    AKO_ASSERT(payload_bytes <= payload_bytes_limit && elements_in(payload_bytes),
               std::to_string(payload_bytes) + " bytes of payload");

    std::vector<std::byte> head(frame_prefix_bytes + bytes.size());
    std::memcpy(head.data() + frame_prefix_bytes, bytes.begin(), bytes.size());
    const auto header_bytes = std::span<const std::byte>(head).subspan(frame_prefix_bytes);
    const auto prefix = encode_prefix({bytes.size(), payload_bytes, crc32c(header_bytes)});
    std::memcpy(head.data(), prefix.data(), prefix.size());
    return head;
}

}  // namespace ako
