// See refusal.h. One overload per message; each names the field that is wrong and its value.
#include "src/rows/refusal.h"

#include "ako/payload.h"
#include "src/exchange/incarnation.h"
#include "src/rows/coded_blocks.h"
#include "src/rows/initial_values.h"

namespace ako {
namespace {

using Complaint = std::optional<std::string>;

std::string text(BlockRun run) {
    return std::to_string(run.count) + " blocks from " + std::to_string(run.first);
}

std::string text(RowIndex row) { return std::to_string(row.place()); }

/// What the run is: the context every check needs.
struct HeaderChecker {
    PeerIndex from;
    std::size_t peer_count;
    const Blocks& blocks;
    const RunBounds& bounds;
    std::size_t payload_bytes;

    bool there(RowIndex row) const { return row.place() < peer_count; }
    bool there_or_initial(RowIndex row) const { return there(row) || row == initial_row; }
    bool inside(BlockRun run) const {
        return run.count >= 1 && run.first < blocks.count() &&
               run.count <= blocks.count() - run.first;
    }

    Complaint operator()(const Partial& partial) const {
        if (!there_or_initial(partial.origin)) {
            return "Partial.origin " + text(partial.origin) + " is no peer of the file";
        }
        if (partial.origin == initial_row && partial.version != InitialValues::version)
            return "Partial.version of initial parameters, which have no other than {1, 1}";
        if (!partial.relayed && partial.origin != row_of(from)) {
            return "Partial.origin is another peer, but it is not marked as relayed";
        }
        if (!blocks.valid(partial.run)) {
            return "Partial.run " + text(partial.run) + " is outside the " +
                   std::to_string(blocks.count()) + " blocks of the model";
        }
        const std::size_t bytes = payload_bytes_of(blocks.range(partial.run).count);
        if (partial.coded && partial.origin == initial_row)
            return "Partial.coded of initial parameters, which travel as float32";
        const std::size_t elements = blocks.range(partial.run).count;
        const bool fits = partial.coded
                              ? payload_bytes < bytes &&
                                    payload_bytes >= coded_bytes_min(elements, partial.run.count)
                              : payload_bytes == bytes;
        if (!fits) {
            return "Partial with " + std::to_string(payload_bytes) + " bytes of payload for " +
                   std::to_string(bytes) + " bytes of blocks";
        }
        if (partial.checksums.size() != partial.run.count) {
            return "Partial.checksums has " + std::to_string(partial.checksums.size()) +
                   " entries for " + text(partial.run);
        }
        return check(partial.version, "Partial.version");
    }

    Complaint operator()(const Status& status) const {
        if (status.standing.progress.size() != peer_count || status.rows.size() != peer_count) {
            return "Status of " + std::to_string(status.standing.progress.size()) + " peers and " +
                   std::to_string(status.rows.size()) + " rows in a cluster of " +
                   std::to_string(peer_count);
        }
        if (auto complaint = bounds.refuse(status)) return complaint;
        if (auto complaint = check(status.waits)) return complaint;
        for (const RowHeld& row : status.rows) {
            if (auto complaint = check(row.lowest, "Status.rows.lowest")) return complaint;
            if (auto complaint = check(row.highest, "Status.rows.highest")) return complaint;
        }
        if (auto complaint = check_or_none(status.vote.accepted, "Status.accepted"))
            return complaint;
        return check_or_none(status.vote.decided, "Status.decided");
    }

    Complaint operator()(const Want& want) const {
        if (!there_or_initial(want.row)) return "Want.row " + text(want.row) + " is no row";
        if (want.row == initial_row && !want.exact)
            return "Want.exact is missing for initial parameters, which have one version";
        std::size_t sum = 0;
        for (const Want::Run& run : want.runs) {
            if (!inside(run.blocks))
                return "Want.runs: " + text(run.blocks) + " is outside the model";
            if (auto complaint = check(run.version, "Want.runs")) return complaint;
            sum += run.blocks.count;
        }
        if (sum > blocks.count()) return "Want.runs ask for more blocks than the model has";
        return std::nullopt;
    }

    Complaint operator()(const Lack& lack) const {
        if (!there_or_initial(lack.row)) return "Lack.row " + text(lack.row) + " is no row";
        std::size_t sum = 0;
        for (const BlockRun& run : lack.runs) {
            if (!inside(run)) return "Lack.runs: " + text(run) + " is outside the model";
            sum += run.count;
        }
        if (sum > blocks.count()) return "Lack.runs name more blocks than the model has";
        return std::nullopt;
    }

    Complaint operator()(const CutRow& row) const {
        if (!there(row.row)) return "CutRow.row " + text(row.row) + " is no row";
        if (auto complaint = check(row.runs, "CutRow.runs")) return complaint;
        return check(row.cut, "CutRow.cut");
    }
    Complaint operator()(const Versions& versions) const {
        if (!there(versions.row)) return "Versions.row " + text(versions.row) + " is no row";
        return check(versions.runs, "Versions.runs");
    }
    Complaint operator()(const WantVersions&) const { return std::nullopt; }

    Complaint operator()(const WantCut& want) const { return check(want.cut, "WantCut.cut"); }
    Complaint operator()(const Prepare& m) const { return check_own(m.ballot, "Prepare.ballot"); }
    Complaint operator()(const Promise& m) const {
        if (auto complaint = check(m.ballot, "Promise.ballot")) return complaint;
        if (auto complaint = check_or_none(m.accepted_ballot, "Promise.accepted_ballot")) {
            return complaint;
        }
        if (!m.votes.empty() && m.votes.size() != peer_count) {
            return "Promise.votes of " + std::to_string(m.votes.size()) +
                   " peers in a cluster of " + std::to_string(peer_count);
        }
        for (PeerIndex peer = 0; peer < m.votes.size(); ++peer) {
            if (auto complaint = check_or_none(m.votes[peer], "Promise.votes")) return complaint;
            if (m.votes[peer].none() || m.votes[peer].proposer == peer) continue;
            return "Promise.votes has one of peer " + std::to_string(m.votes[peer].proposer) +
                   " in the place of peer " + std::to_string(peer);
        }
        return check_or_none(m.accepted_cut, "Promise.accepted_cut");
    }
    Complaint operator()(const Accept& m) const {
        if (auto complaint = check_own(m.ballot, "Accept.ballot")) return complaint;
        return check(m.cut, "Accept.cut");
    }
    Complaint operator()(const Accepted& m) const {
        if (auto complaint = check(m.ballot, "Accepted.ballot")) return complaint;
        return check(m.cut, "Accepted.cut");
    }
    Complaint operator()(const Bye& bye) const {
        return bounds.refuse(bye.final_round, "Bye.final_round");
    }
    Complaint operator()(const Hello&) const { return "a second Hello in one session"; }
    Complaint operator()(const Reject&) const { return "a Reject after the session stood"; }
    Complaint operator()(const Chunk&) const {
        return "a Chunk, which only other modes than ako send";
    }
    Complaint operator()(const Membership&) const {
        return "a Membership, which only an elastic ring sends";
    }
    Complaint operator()(const Probe&) const {
        return "a Probe, which peers send before a run, to measure links";
    }
    Complaint operator()(const MemberState&) const {
        return "a MemberState, which only an elastic ring sends";
    }

    /// Made by a process, or the zero row that everybody starts with.
    Complaint check(const Waits& waits) const {
        if (waits.number > Waits::number_max || waits.rounds_max > Waits::bound_max)
            return "Status.waits " + std::to_string(waits.number) + ", " +
                   std::to_string(waits.rounds_max) + " is beyond what any run comes to";
        if (peer_count < peers_max && waits.left_out >> peer_count != 0)
            return "Status.waits.left_out names a peer beyond the " + std::to_string(peer_count) +
                   " of the cluster";
        if (!waits.starts.empty() && waits.starts.size() != peer_count)
            return "Status.waits.starts has " + std::to_string(waits.starts.size()) +
                   " entries for " + std::to_string(peer_count) + " peers";
        for (const Round start : waits.starts)
            if (auto complaint = bounds.refuse(start, "Status.waits.starts")) return complaint;
        return std::nullopt;
    }
    Complaint check(const Version& version, const char* field) const {
        const bool zero = version.round == 0 && version.incarnation == 0;
        const bool made = version.round != 0 && process_of(version.incarnation) != 0;
        if (zero || made) return bounds.refuse(version.round, field);
        return std::string(field) + " {" + std::to_string(version.incarnation) + ", " +
               std::to_string(version.round) + "} is of no process that made a round";
    }
    /// The runs must cover all blocks of a row.
    Complaint check(const std::vector<VersionRun>& runs, const char* field) const {
        std::size_t sum = 0;
        for (const VersionRun& run : runs) {
            if (run.count == 0) return std::string(field) + " has a run of no block";
            if (auto complaint = check(run.version, field)) return complaint;
            sum += run.count;
        }
        if (sum == blocks.count()) return std::nullopt;
        return std::string(field) + " cover " + std::to_string(sum) + " of " +
               std::to_string(blocks.count()) + " blocks";
    }
    /// The ballot must be one of the sender's own.
    Complaint check_own(Ballot ballot, const char* field) const {
        if (auto complaint = check(ballot, field)) return complaint;
        if (ballot.proposer == from) return std::nullopt;
        return std::string(field) + " is one of peer " + std::to_string(ballot.proposer);
    }
    Complaint check_or_none(Ballot ballot, const char* field) const {
        return ballot.none() ? std::nullopt : check(ballot, field);
    }
    Complaint check(Ballot ballot, const char* field) const {
        if (!ballot.none() && ballot.proposer < peer_count) return std::nullopt;
        return std::string(field) + " {" + std::to_string(ballot.number) + ", " +
               std::to_string(ballot.proposer) + "} is no ballot of this cluster";
    }
};

}  // namespace

std::optional<std::string> refusal(const Header& header, std::size_t payload_bytes, PeerIndex from,
                                   std::size_t peer_count, const Blocks& blocks,
                                   const RunBounds& bounds) {
    if (payload_bytes != 0 && !std::holds_alternative<Partial>(header)) {
        return std::string(header_name(header)) + " with " + std::to_string(payload_bytes) +
               " bytes of payload; only a Partial has one";
    }
    return std::visit(HeaderChecker{from, peer_count, blocks, bounds, payload_bytes}, header);
}

}  // namespace ako
