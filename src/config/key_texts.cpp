#include "src/config/key_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ako/assert.h"
#include "ako/error.h"
#include "src/config/fields.h"
#include "src/config/peer_list.h"
#include "src/config/unknown_keys.h"

namespace ako {

namespace {

/// A key's meaning. Its range is known to the reader, and its default too unless one is given.
struct Meaning {
    const char* path;
    const char* text;
    const char* standard = "";
};

constexpr const char* pixel =
    "A pixel becomes (value - mean) / deviation; bytes are divided by 255 before.";

constexpr Meaning meanings[] = {
    {"run", "names the results, runs/<run>-<time>/", "required"},
    {"seed", "of the initial parameters and of the order of the data"},
    {"model.input", "height, width, channels of an image", "required with model.layers"},
    {"model.layers", "from the image to the scores; softmax and its loss follow",
     "required unless the model has a name"},
    {"model.name",
     "the network, by a name that needs no more (`model: lenet`), or as a list of layers",
     "required unless it is a list of layers"},
    {"model.parameters", "how many parameters"},
    {"model.compute_ms", "how long one gradient takes, in milliseconds"},
    {"model.samples", "the size of the data set it stands for (of which `epochs` counts)"},
    {"model.noise", "standard deviation of the noise on every element of a gradient"},
    {"model.initial",
     "a saved model (.safetensors) of the same network to start from, instead of the seed; "
     "relative to this file; null: none"},
    {"data.format",
     "idx: MNIST's four files, plain or gzipped | cifar10: data_batch_1.bin to data_batch_5.bin "
     "and test_batch.bin, as published | npy: train_images.npy, train_labels.npy, test_images.npy "
     "and test_labels.npy, written by numpy.save: images [n, height, width] or [n, height, width, "
     "channels] of uint8 or float32, labels [n] of any integers from 0 to the number of classes "
     "less 1"},
    {"data.path", "the folder; relative to this file",
     "required but for models synthetic and external"},
    {"data.normalisation.mean", pixel, "idx 0.1307, cifar10 [0.4914, 0.4822, 0.4465], npy 0"},
    {"data.normalisation.deviation", pixel, "idx 0.3081, cifar10 [0.247, 0.2435, 0.2616], npy 1"},
    {"data.augmentation.crop",
     "pixels of zeros (the mean colour) around a training image, out of which it is cut at random "
     "in its old size; below its sides"},
    {"data.augmentation.flip", "true: half of them are mirrored left to right, at random"},
    {"data.sharding",
     "disjoint: every peer has its own share | shuffled: every peer draws from all of it, in an "
     "order of its own | elastic: with ako, shares follow the peers that are there and how fast "
     "they "
     "are, so that all of it is seen about equally often"},
    {"training.batch.local",
     "images per round of one peer (`batch: 64`); with a batch of all peers together: at most so "
     "many are computed at once"},
    {"training.batch.accumulate",
     "so many parts of a batch are computed one after another and their gradients added: the same "
     "gradient (but for dropout) with the layers' memory of a part, and from 2 on the metrics tell "
     "its noise; at most local"},
    {"training.batch.global_target",
     "images per round of all peers together, in equal shares of those that are there: the batch "
     "stays so when peers come and go; none: local of each"},
    {"training.batch.schedule.kind",
     "that batch over the run: constant | steps | auto (doubles as the gradient noise scale "
     "allows; `batch: auto`). Not with parameter-server"},
    {"training.batch.schedule.at", "shares of the run at which it grows", "required with steps"},
    {"training.batch.schedule.factor", "what it is multiplied by at each"},
    {"training.batch.rate_rule",
     "learning_rate is for local images of every peer; with another batch of all together it is "
     "multiplied by their ratio (linear), its root (sqrt) or not (none)"},
    {"training.optimizer",
     "sgd: with momentum | lars: each layer's step by the size of its parameters, for large "
     "batches; of a peer's own gradient in ako and local-sgd, of the mean in ring; not with "
     "parameter-server"},
    {"training.trust_coefficient",
     "lars: a step of rate 1 moves a layer by this share of its size"},
    {"training.learning_rate", "choose it for the batch of ONE peer"},
    {"training.schedule.kind",
     "the learning rate over the run: constant | cosine (falls to 0 at the end) | steps"},
    {"training.schedule.warm_up", "share of the run over which it rises from 0"},
    {"training.schedule.at", "shares of the run at which it falls", "required with steps"},
    {"training.schedule.factor", "what it is multiplied by at each"},
    {"training.momentum", "of the sender's own optimizer"},
    {"training.nesterov", "true: momentum looks a step ahead (Nesterov's) | false: the classical"},
    {"training.weight_decay", "this share of each parameter is added to its gradient"},
    {"training.epochs", "samples of all peers together / size of the data set"},
    {"training.target_accuracy",
     "stop as soon as an evaluation reaches it: 0.988 is 98.8 %; null: never"},
    {"training.evaluate_every",
     "epochs between two evaluations on the test set; 0: only at the end"},
    {"training.evaluate",
     "during: one peer evaluates, a slice between its rounds | after: it keeps the parameters in "
     "a file (their size each time), to be evaluated when all is over; takes no time from "
     "training, and no target_accuracy"},
    {"training.checkpoint_every",
     "epochs between two checkpoints in the run folder: every peer keeps what `--resume` goes on "
     "from, the lowest live peer also the evaluated anchor (with evaluate: during); 0: none. The "
     "same for everyone in ring, local-sgd, sma and parameter-server with bsp and co-located "
     "servers, where all go on from the same"},
    {"training.threads", "of each peer for its layers; leave one core's worth to the network"},
    {"training.learners",
     "ako, sma and local: so many replicas of one peer, each a thread with its own small batch "
     "(batch.local images), optimizer and memory of the layers, corrected towards their average "
     "after every round; 2 and more instead of threads | auto: as many as bring images per second, "
     "at most as many as cores"},
    {"training.averaging_momentum",
     "with learners: the average and all of them go on by this part of its last change, for rates "
     "far below the highest that one of them bears"},
    {"peers", "the same list in the same order for everyone", "required"},
    {"peers.*.name", "what `--peer` calls it", "required"},
    {"peers.*.address", "host:port that the others dial", "required"},
    {"peers.*.listen", "host:port to listen on, if another (NAT, containers: 0.0.0.0:7701)",
     "the address"},
    {"peers.*.role", "worker | server (parameter-server with placement: dedicated)", "worker"},
    {"exchange.mode",
     "How peers agree: ako | ring (all-reduce of every gradient) | parameter-server | local-sgd | "
     "sma (averages the replicas of all peers' learners every round) | local (no exchange, to see "
     "what computing alone costs). Keys of other modes are not heeded."},
    {"exchange.rule",
     "ako. anchored: own progress stands in for peers not yet heard from | plain: Ako as "
     "published, for comparison (wants a far smaller rate)"},
    {"exchange.precision",
     "ako. adaptive: rows travel in 8 or 16 bits where that is fine enough, and what rounding cuts "
     "off comes later | float32"},
    {"exchange.partitions",
     "ako. auto: as fast as each link takes them, as long as fresher rows save more rounds than "
     "they cost processor time | N: a fixed number of rounds for one cycle"},
    {"exchange.staleness_rounds_max",
     "ako. none: nobody waits | N: no round begins while a live peer's row is held more than N "
     "rounds behind, here or there; but a peer that does not move at all for long is not waited "
     "for"},
    {"exchange.elastic",
     "ring. true: the members go on without who is lost or leaves, and take in who comes | false: "
     "they all end"},
    {"exchange.all_reduce",
     "how peers sum up, in ring, local-sgd and sma. ring: 2 (n - 1) steps, each to the next peer; "
     "small layers straight, in 2 | butterfly: 2 lg n steps, each with another peer"},
    {"exchange.rounds_ahead",
     "ring. 0: a round begins with all that was learned before | 1: without the newest step, which "
     "travels while it computes (delayed update)"},
    {"exchange.servers", "parameter-server: so many share the parameters, by bytes"},
    {"exchange.placement",
     "parameter-server. co-located: on the first peers of the file, which train as well | "
     "dedicated: on the peers with `role: server`"},
    {"exchange.consistency",
     "parameter-server. bsp: all workers step together | {ssp: 3}: no worker more than 3 rounds "
     "ahead of the slowest | async: nobody waits"},
    {"exchange.local_rounds", "local-sgd: rounds between two averagings"},
    {"exchange.outer_learning_rate", "local-sgd: of the step to the average; 1 is plain averaging"},
    {"exchange.outer_momentum",
     "local-sgd: Nesterov momentum of that step, as in DiLoCo (0.9, rate 0.7)"},
    {"exchange.egress_mbit_max",
     "what one peer may send over all its links, Mbit/s; null: no limit. Of frames: TCP, IP and "
     "acknowledgements come on top, up to 9 %"},
    {"exchange.link_mbit", "what each link may carry in each direction, Mbit/s; null: no limit"},
    {"exchange.link_limits", "single links instead: [{from: a, to: b, mbit: 10}]"},
    {"exchange.link_limits.*.from", "the peer that sends", "required"},
    {"exchange.link_limits.*.to", "the peer that receives", "required"},
    {"exchange.link_limits.*.mbit", "what this link may carry in this direction, Mbit/s",
     "required"},
    {"exchange.start_wait_s",
     "how long to wait for all peers of the file. Then those that are there begin, if they are "
     "start_peers_min; in mode ako whoever comes later joins them. 0: begin at once, let all "
     "others join"},
    {"exchange.start_peers_min",
     "ako. how many peers must be there then: majority or a number. The file may name spare slots, "
     "for peers that come later or never; but to agree at the end takes a majority of the file. In "
     "an elastic ring: fewer wait until more are back, and it is begun by a majority at least"},
    {"exchange.heartbeat_ms", "how often a peer says how far it is"},
    {"exchange.life_timeout_ms",
     "a peer not heard from for so long is lost; more than 2 x heartbeat_ms. Unless given it is "
     "30000 where all wait for each other: ring, local-sgd, sma and parameter-server with bsp or "
     "ssp"},
    {"exchange.connect_timeout_ms", "how long looking up a name may take, and each address it has"},
    {"exchange.want_timeout_ms",
     "for so long an answer is waited for: a number, or auto: what the other peer's round trips "
     "and rounds say, 500 before any were seen"},
    {"exchange.finish_exchange_s", "how long the end waits for the last round of every live peer"},
    {"exchange.finish_timeout_s",
     "nothing moves for so long: end without (exit 4); > finish_exchange_s"},
    {"exchange.finish_linger_s",
     "how long a finished peer serves those that have not and do not move"},
    {"exchange.leave_timeout_s",
     "a peer that leaves (SIGTERM) goes when the others hold its row, or after so long"},
    {"memory_mb_max", "training refuses to start if a peer would need more, in MB"},
    {"output", "the folder for results; relative to where the command is started", "runs"},
    {"cluster_key_file",
     "The file with the secret of the cluster, the same on every peer: who does not hold it is "
     "refused. Relative to this file; `openssl rand -hex 32 > cluster.key && chmod 600 "
     "cluster.key` makes one. null: none, which is allowed on loopback and private addresses "
     "only."},
    {"observe.address",
     "where browsers (/) and Prometheus (/metrics) find the first peer of the file, the next one "
     "at the next port, and so on; whoever gets there may read it. null: nowhere"},
};

std::vector<KeyText> make_texts() {
    const Settings defaults;
    std::vector<KeyText> texts;
    for (const Meaning& meaning : meanings) {
        KeyText text{meaning.path, meaning.text, "", meaning.standard, ""};
        for (const ListKey& key : list_keys()) {
            if (key.path == text.path) text.expected = key.expected;
        }
        for (const Field& field : all_fields()) {
            if (field.path != text.path) continue;
            text.expected = field.expected;
            text.applies_with = field.applies_with;
            if (text.standard.empty()) text.standard = field.write(defaults);
        }
        AKO_ASSERT(!text.expected.empty(), text.path + " has a meaning and is no key");
        texts.push_back(std::move(text));
    }
    return texts;
}

/// All keys and groups, for who has misspelt one.
std::vector<std::string> names_and_groups() {
    std::set<std::string> names;
    for (const KeyText& text : key_texts()) {
        for (std::size_t end = 0; end != std::string::npos;) {
            end = text.path.find('.', end + 1);
            names.insert(text.path.substr(0, end));
        }
    }
    return {names.begin(), names.end()};
}

}  // namespace

const std::vector<KeyText>& key_texts() {
    static const std::vector<KeyText> texts = make_texts();
    return texts;
}

std::vector<KeyText> key_texts_of(const std::string& group) {
    std::vector<KeyText> found;
    for (const KeyText& text : key_texts()) {
        if (group.empty() || text.path == group || text.path.starts_with(group + "."))
            found.push_back(text);
    }
    if (!found.empty()) return found;
    const std::string nearest = nearest_key(group, names_and_groups());
    throw StartupError(fmt::format("there is no key or group of keys {}", group),
                       nearest.empty() ? "`ako keys` without a group prints them all"
                                       : fmt::format("did you mean {}?", nearest));
}

}  // namespace ako
