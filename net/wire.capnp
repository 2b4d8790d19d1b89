# The headers of frames on the wire. A frame is a prefix of 20 bytes (net/frame_prefix.h), then one
# Header in the stream framing of Cap'n Proto, then the payload: raw float32 values, little-endian,
# unless a Partial says that it is coded.
# net/codec translates between these messages and the structs of include/ako/frame.h, whose
# docstrings hold the details. A change that an older peer would misread raises `protocol_version`
# there.
@0xb2c7d2f1a9e84c31;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("ako::wire");

struct Header {
  union {
    hello @0 :Hello;
    reject @1 :Reject;
    partial @2 :Partial;
    status @3 :Status;
    want @4 :Want;
    wantCut @5 :WantCut;
    cutRow @6 :CutRow;
    prepare @7 :Prepare;
    promise @8 :Promise;
    accept @9 :Accept;
    accepted @10 :Accepted;
    bye @11 :Bye;
    chunk @12 :Chunk;
    lack @13 :Lack;
    wantVersions @14 :WantVersions;
    versions @15 :Versions;
    membership @16 :Membership;
    memberState @17 :MemberState;
  }
}

# "This is who I am and what I train": the dialler says it first, the listener answers with its own,
# and the dialler repeats its own to say that it accepts and the session stands.
struct Hello {
  protocol @0 :UInt32;
  processId @1 :UInt64;       # random, not 0, one per process life
  runName @2 :Text;
  trainingDigest @3 :Data;    # every digest is a SHA-256, 32 bytes
  layoutDigest @4 :Data;
  initialDigest @5 :Data;
  peerName @6 :Text;          # the sender
  toPeerName @7 :Text;        # whom the sender believes to talk to
  keyProof @8 :KeyProof;      # null = the sender has no cluster key
  settingsText @9 :Text;      # what trainingDigest is of, for who refuses; empty = not said
}

# "I hold the key of this cluster": fresh in every Hello (net/cluster_key.h).
struct KeyProof {
  nonce @0 :Data;             # 32 random bytes, one per connection
  mac @1 :Data;               # an HMAC-SHA256, 32 bytes
}

# "I refuse your Hello": the field that does not match, what I expected and what you sent.
struct Reject {
  field @0 :Text;
  expected @1 :Text;
  got @2 :Text;
}

# "These blocks of row `origin` are so, as of one version": the payload is their elements. Row 64
# are the initial parameters, where all take over those of the lowest peer.
struct Partial {
  origin @0 :UInt32;
  incarnation @1 :UInt64;     # with `round`: the version of all these blocks
  round @2 :UInt64;
  firstBlock @3 :UInt32;
  blockCount @4 :UInt32;
  sealedAt @5 :Int64;         # nanoseconds on the clock of `origin`
  relayed @6 :Bool;
  checksums @7 :List(UInt32); # CRC-32C of each block
  boundAt @8 :Int64;          # nanoseconds on the sender's clock; 0 = not said
  coded @9 :Bool;             # the payload is as src/rows/coded_blocks.h has it; else float32
}

# "This is how I am and what I hold": the state of the sender, repeated as its heartbeat.
struct Status {
  sentAt @0 :Int64;           # nanoseconds on the sender's clock
  echoSentAt @1 :Int64;       # `sentAt` of the newest Status received from you; 0 = none
  echoHeld @2 :Int64;         # nanoseconds since that one arrived
  loss @3 :Float32;           # mean of the newest round; see lossKnown
  stop @4 :StopReason;
  reached @5 :UInt64;         # bit j: the sender has a session with peer j
  progress @6 :List(Progress);
  rows @7 :List(RowHeld);
  finalRound :union {
    none @8 :Void;
    round @9 :UInt64;
  }
  accepted @10 :Ballot;
  decided @11 :Ballot;
  digest @12 :Data;           # empty = no cut adopted yet
  verdict @13 :Verdict;       # null = none
  cutBlocks @14 :UInt32;      # blocks held of the cut that is being pulled
  asked @15 :UInt64;          # bit j: peer j was asked for a stop that is requested; 0 = not said
  joining @16 :Bool;          # takes in the rows of a run under way, and makes no rounds yet
  hasVote @17 :Bool;          # on the cut
  mayHaveVoted @18 :UInt64;   # bit j: I have heard that peer j trained, or came to the end
  leaving @19 :Bool;          # it goes before the end, as soon as the others hold its row
  covered @20 :Covered;       # null = not with data.sharding: elastic
  processId @21 :UInt64;      # who says this, as in its Hello; 0 = not said
  checkpoints @22 :List(Checkpoint);  # of the sender, that all could go on from; newest first
  resuming @23 :Bool;         # goes on from a checkpoint, and has not begun
  runId @24 :UInt64;          # through all starts of the run; 0 = not known yet
  lossKnown @25 :Bool;        # not before the first round, nor where the program does not say
  initial @26 :Data;          # digest of the run's initial parameters, which I have; or empty
  batchDoublings @27 :UInt8;  # of the global batch, due by now as far as I have heard
}

# What of the data has been trained on, by anybody: portions of the lowest pass that is not over,
# and of the next.
struct Covered {
  pass @0 :UInt32;
  done @1 :List(UInt64);      # bit k of word j: portion 64 j + k
  doneNext @2 :List(UInt64);
  inHand @3 :Bool;            # the sender trains on a portion: the next three
  handPass @4 :UInt32;
  handPlace @5 :UInt32;
  items @6 :UInt64;           # so many of it, in rounds that have ended
}

# How far one peer is, as far as the sender has heard.
struct Progress {
  round @0 :UInt64;
  samples @1 :UInt64;
}

# What the sender holds of one row: its lowest and highest version, and a checksum of the version
# map.
struct RowHeld {
  lowestIncarnation @0 :UInt64;
  highestIncarnation @1 :UInt64;
  lowestRound @2 :UInt64;
  highestRound @3 :UInt64;
  mapChecksum @4 :UInt32;
}

# Which checkpoint of a peer.
struct Checkpoint {
  start @0 :UInt64;           # of the run
  round @1 :UInt64;           # the newest of the peer that is in it
}

enum StopReason {
  none @0;
  budgetSpent @1;
  targetReached @2;
  requested @3;
}

# The newest evaluation on the test set, at a mark of progress.
struct Verdict {
  progress @0 :Float64;
  accuracy @1 :Float32;
  loss @2 :Float32;
  lossKnown @3 :Bool;
}

# A number that orders proposals of the cut; number 0 is "none".
struct Ballot {
  number @0 :UInt32;
  proposer @1 :UInt32;
  process @2 :UInt64;         # the process id of the proposer
}

# "Send me these blocks of row `row`": newer than the version given, or exactly of it.
struct Want {
  row @0 :UInt32;
  exact @1 :Bool;
  runs @2 :List(Run);

  struct Run {
    firstBlock @0 :UInt32;
    blockCount @1 :UInt32;
    incarnation @2 :UInt64;
    round @3 :UInt64;
  }
}

# "Of what you wanted of row `row`, these blocks do not come": I do not hold them so, or as much
# waits for you as I keep.
struct Lack {
  row @0 :UInt32;
  runs @1 :List(Run);

  struct Run {
    firstBlock @0 :UInt32;
    blockCount @1 :UInt32;
  }
}

# "Send me the versions of all blocks that you hold": said by a peer that joins a run under way.
struct WantVersions {
}

# "These are the versions of the blocks of row `row` that I hold", run-length coded.
struct Versions {
  row @0 :UInt32;
  runs @1 :List(VersionRun);
}

# So many blocks in a row are of one version.
struct VersionRun {
  blockCount @0 :UInt32;
  incarnation @1 :UInt64;
  round @2 :UInt64;
}

# "Send me the version map of this cut."
struct WantCut {
  cut @0 :Ballot;
}

# "This is one row of the version map of the cut", run-length coded.
struct CutRow {
  cut @0 :Ballot;
  row @1 :UInt32;
  runs @2 :List(VersionRun);
}

# "Will you follow this ballot?" (Single-decree Paxos over the cut: phase 1.)
struct Prepare {
  ballot @0 :Ballot;
  regains @1 :Bool;           # "I have no vote, and want one again."
}

# "I follow no lower ballot than this one, and this is what I have accepted so far."
struct Promise {
  ballot @0 :Ballot;
  acceptedBallot @1 :Ballot;
  acceptedCut @2 :Ballot;
  hasVote @3 :Bool;           # no: it does not count
  votes @4 :List(Ballot);     # the newest vote I know of each peer; empty = all are from the start
}

# "Accept this cut under this ballot." (Phase 2.)
struct Accept {
  ballot @0 :Ballot;
  cut @1 :Ballot;
}

# "I hold exactly this cut and have accepted it under this ballot."
struct Accepted {
  ballot @0 :Ballot;
  cut @1 :Ballot;
}

# "I leave on purpose after this round": left, not lost.
struct Bye {
  finalRound @0 :UInt64;
  gone @1 :UInt32;            # 1 + the peer whose loss is the reason; 0 = no such reason
  leaves @2 :Bool;            # before the end: the run goes on without me
}

# "These elements of the flat vector belong to sync number `sync`": what all modes but `ako`
# send; the payload is their elements.
struct Chunk {
  kind @0 :ChunkKind;
  stop @1 :StopReason;        # the strongest wish of anyone whose contribution is in it
  workers @2 :UInt32;         # pulled, final: how many workers' gradients the last step took in
  sync @3 :UInt64;            # of the worker it comes from or goes to; from 1
  first @4 :UInt64;           # element
  roundsTotal @5 :UInt64;     # pulled, final: rounds of all workers in it
  checksum @6 :UInt32;        # CRC-32C of the payload
  batchDoublings @7 :UInt8;   # of the global batch: the most that any of them wishes
  epoch @8 :UInt32;           # elastic ring: the sender's
  contributors @9 :UInt64;    # restored: bit j: the gradient of peer j is in the sum
  learners @10 :Data;         # sma: of each peer up to the last whose update is in it, how many
                              # learners made that; 0 = it is not in it. Else empty
}

enum ChunkKind {
  reduced @0;                 # ring: a sum that lacks contributions
  gathered @1;                # ring: a whole sum
  pushed @2;                  # a worker's gradient, to its server
  pulled @3;                  # parameters in answer, to a worker
  final @4;                   # parameters after every worker's last round
  restored @5;                # elastic ring: a whole sum of an epoch before, for who lacks it
  parameters @6;              # and the state after a sync, for a newcomer
  velocity @7;
}

# "This is the epoch that I am in, what I have promised and accepted of the next, and what I held
# when I came into it": state of a peer of an elastic ring, told again whenever it changes.
struct Membership {
  epoch @0 :UInt32;               # 0 = I know of no run
  processes @1 :List(UInt64);     # of each peer of the file the process that is in; 0 = none
  promised @2 :Ballot;
  acceptedBallot @3 :Ballot;
  accepted @4 :List(UInt64);      # the processes that are to be in
  asks @5 :Ballot;
  proposed @6 :List(UInt64);      # empty = I ask for promises first
  hears @7 :UInt64;               # bit j: I have a session with peer j
  broken @8 :Bool;
  wantsIn @9 :Bool;
  begun @10 :UInt64;              # the newest sync that I had given anything to
  sums @11 :List(SyncRun);        # run-length coded over buckets; empty = I hold no state
  late @12 :Bool;
  ready @13 :Bool;
  whole @14 :Bool;
  taken @15 :UInt64;              # elements of the state that have come
}

# So many buckets in a row whose newest whole sum is of this sync.
struct SyncRun {
  buckets @0 :UInt32;
  sync @1 :UInt64;
}

# What all members of an elastic ring know alike after a sync.
struct Tally {
  sync @0 :UInt64;
  contributors @1 :UInt64;
  stop @2 :StopReason;
  progress @3 :Float64;
  samples @4 :List(UInt64);       # of each peer of the file
}

# "This is what a member knows after sync `now.sync`, and the digest of its parameters and velocity
# then": for a newcomer, which takes them over.
struct MemberState {
  epoch @0 :UInt32;
  before @1 :Tally;
  now @2 :Tally;
  digest @3 :Data;
}
