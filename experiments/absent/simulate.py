#!/usr/bin/env python3
"""What a peer's absence costs, and what its return does to the loss, by the rule that scales
updates and the rule that heals a separation. Everything in one process, in rounds; no network.

    experiments/absent/simulate.py step      # peers absent: how far the step is scaled
    experiments/absent/simulate.py heal      # peers apart that go on: what they do when they meet

n peers train an MLP (784-64-10) on MNIST, batch 64 per peer, momentum 0.9, weight decay 5e-4. Rows
of totals, one of P = 6 slices of the vector per link and round, staggered, one round of transit;
replica, stand-in and share as src/rows/replica.h has them. Needs numpy; one core; minutes.

power: of peer_count / (those who take part), by which updates are scaled. 0: not at all. rule, when
peers meet: "sum" adds the rows as they are; "share" takes what gives way out of row and replica;
"lead" leaves it in the replica until the other's blocks come, which is what the program does;
"major" has the smaller side give up all that it learned.
"""

import argparse
import gzip
import os
import pathlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # after the setting, which it reads

DATA = pathlib.Path(__file__).resolve().parent.parent / "mnist/data"
SIZES = (784, 64, 10)
PARTS, GAP, FADE = 6, 4, 8
PATIENCE = 24  # rounds, in which a peer that is not heard of counts all the same: 2 s
BATCH, MOMENTUM, DECAY = 64, 0.9, 5e-4


def images(name):
    with gzip.open(DATA / f"{name}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(DATA / f"{name}-labels-idx1-ubyte.gz") as file:
        return pixels, np.frombuffer(file.read(), np.uint8, offset=8)


def scaled(pixels):
    return (pixels.astype(np.float32) / 255 - 0.1307) / 0.3081


class Net:
    """An MLP with one hidden layer over a flat vector."""

    def __init__(self):
        inputs, hidden, classes = SIZES
        self.cuts = np.cumsum([inputs * hidden, hidden, hidden * classes])
        self.count = int(self.cuts[-1]) + classes

    def initial(self, seed):
        random = np.random.default_rng(seed)
        w = np.zeros(self.count, np.float32)
        first, _, second, _ = self.layers(w)
        first[:] = random.normal(0, (2 / SIZES[0]) ** 0.5, first.shape)
        second[:] = random.normal(0, (2 / SIZES[1]) ** 0.5, second.shape)
        return w

    def layers(self, w):
        a, b, c, d = np.split(w, self.cuts)
        return a.reshape(SIZES[0], SIZES[1]), b, c.reshape(SIZES[1], SIZES[2]), d

    def forward(self, w, x):
        a, b, c, d = self.layers(w)
        hidden = np.maximum(x @ a + b, 0)
        scores = hidden @ c + d
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
        return hidden, shares

    def loss(self, w, x, y):
        _, shares = self.forward(w, x)
        right = shares[np.arange(len(y)), y]
        hits = shares.argmax(1) == y
        return float(-np.log(np.maximum(right, 1e-30)).mean()), float(hits.mean())

    def gradient(self, w, x, y):
        _, _, c, _ = self.layers(w)
        hidden, shares = self.forward(w, x)
        shares[np.arange(len(y)), y] -= 1
        shares /= len(y)
        back = (shares @ c.T) * (hidden > 0)
        return np.concatenate([(x.T @ back).ravel(), back.sum(0), (hidden.T @ shares).ravel(),
                               shares.sum(0)])


class Cluster:
    """n peers; `links(round, from, to)`: who is connected, `trains(round, peer)`: who computes."""

    def __init__(self, net, train, seed, n, rate, power=1.0, heal="share", links=None, trains=None,
                 rounds=None):
        self.net, self.n, self.rate, self.power, self.heal = net, n, rate, power, heal
        self.links = links or (lambda t, i, j: True)
        self.trains = trains or (lambda t, i: True)
        self.rounds = rounds  # of a cosine schedule by samples; None: constant
        self.train = train
        self.random = [np.random.default_rng(1000 * seed + i) for i in range(n)]
        order = np.random.default_rng(seed).permutation(len(train[1]))
        self.shards = [order[i::n] for i in range(n)]
        m = net.count
        self.start = net.initial(seed)
        self.row = np.zeros((n, n, m), np.float32)      # [at][of]
        self.mark = np.zeros((n, n, m), np.float32)
        self.state = [["apart"] * n for _ in range(n)]  # with, fading, apart
        self.left = np.zeros((n, n), int)
        self.velocity = np.zeros((n, m), np.float32)
        self.slices = [slice(m * p // PARTS, m * (p + 1) // PARTS) for p in range(PARTS)]
        self.last_seal = np.zeros((n, n, PARTS))
        self.cursor = np.array([[(PARTS * ((j - i) % n)) // n for j in range(n)] for i in range(n)])
        self.known = np.zeros((n, n), int)              # rounds [at][of]
        self.moved_at = np.zeros((n, n), int)           # own round, when `known` last moved
        self.others_then = np.zeros((n, n))             # sum of known of all others at that moment
        self.flows = np.zeros((n, n), bool)             # partials [from][to], after a first status
        self.transit = []
        self.samples = 0
        self.taken_back = np.zeros((n, m), np.float32)
        self.taken_for = [{} for _ in range(n)]

    def anchor(self, i):
        return self.start + self.row[i].sum(0) / self.n

    def replica(self, i):
        w = self.row[i].sum(0)
        for j in range(self.n):
            if j != i and self.state[i][j] != "apart":
                w += self.row[i, i] - self.mark[i, j]
        return self.start + w / self.n

    def hear(self, i, t, j, rounds_of):
        """A status of j: its rounds, and those of others that i does not reach by itself."""
        for k in range(self.n):
            direct = k == j
            if k == i or (not direct and self.links(t, k, i)):
                continue
            if rounds_of[k] <= self.known[i, k]:
                continue
            grown = rounds_of[k] - self.known[i, k]
            others = self.known[i].sum() - self.known[i, k] - self.others_then[i, k]
            if self.state[i][k] == "apart" and not self.counted(i, k):
                self.meet(i, k, grown, others)
            self.known[i, k] = rounds_of[k]
            self.moved_at[i, k] = self.known[i, i]
            self.others_then[i, k] = self.known[i].sum() - self.known[i, k]

    def meet(self, i, k, grown, others):
        """k's row grew while i's did, and neither knew of it: i takes back a share of its own."""
        growth = self.row[i, i] - self.taken_back[i] - self.mark[i, k]
        if self.heal == "sum":
            share = 0.0
        elif self.heal == "major":
            # all of the smaller side, or of that without peer 0, is given up
            group = 1 + self.state[i].count("with")
            share = 1.0 if 2 * group < self.n or (2 * group == self.n and k < i) else 0.0
        else:
            share = grown / (grown + others)
        self.taken_for[i][k] = share * growth
        self.taken_back[i] += share * growth

    def counted(self, i, k):
        """i counts k among those that train."""
        return self.known[i, i] - self.moved_at[i, k] <= PATIENCE

    def step(self, t):
        n = self.n
        arrivals, self.transit = self.transit, []
        for i in range(n):
            if not self.trains(t, i):
                continue
            for src, to, rounds_of, partial in arrivals:
                if to == i and self.links(t, src, i):
                    self.hear(i, t, src, rounds_of)
                    self.flows[i, src] = True
            for k in range(n):
                if k == i:
                    continue
                on = (self.known[i, i] - self.moved_at[i, k] <= GAP and self.links(t, i, k)
                      and self.known[i, k] > 0)
                state = self.state[i][k]
                if on and state != "with":
                    if state == "apart":
                        self.mark[i, k] = self.row[i, i]
                    self.last_seal[i, k] = t
                    self.state[i][k] = "with"
                elif not on and state == "with":
                    self.state[i][k], self.left[i, k] = "fading", FADE
            for src, to, _, partial in arrivals:
                if to == i and partial and self.links(t, src, i):
                    self.absorb(i, src, t, *partial)
            self.train_round(i, t)
        for i in range(n):
            for j in range(n):
                if i == j or not self.trains(t, i) or not self.links(t, i, j):
                    self.flows[i, j] = self.flows[i, j] and self.links(t, i, j)
                    continue
                partial = None
                if self.flows[i, j]:
                    part = self.cursor[i, j] = (self.cursor[i, j] + 1) % PARTS
                    partial = (part, t, self.row[i, i, self.slices[part]].copy())
                self.transit.append((i, j, self.known[i].copy(), partial))

    def absorb(self, i, j, t, part, sealed, values):
        at = self.slices[part]
        if self.state[i][j] == "with":
            last = self.last_seal[i, j, part]
            share = 1.0 if t <= last else min(max(sealed - last, 0) / (t - last), 1.0)
            self.mark[i, j, at] += share * (self.row[i, i, at] - self.mark[i, j, at])
            self.last_seal[i, j, part] = max(last, sealed)
        self.row[i, j, at] = values

    def train_round(self, i, t):
        net, n = self.net, self.n
        chosen = self.shards[i][self.random[i].integers(0, len(self.shards[i]), BATCH)]
        w = self.replica(i)
        g = net.gradient(w, scaled(self.train[0][chosen]), self.train[1][chosen]) + DECAY * w
        self.velocity[i] = MOMENTUM * self.velocity[i] + g
        present = 1 + sum(self.counted(i, k) for k in range(n) if k != i)
        rate = self.rate
        if self.rounds:
            done = BATCH * sum(self.known[i]) / self.rounds
            rate *= 0.5 * (1 + np.cos(np.pi * min(done, 1)))
            rate *= min(1, done / 0.02 + 0.01)
        update = -rate * (n / present) ** self.power * self.velocity[i]
        self.row[i, i] += update
        for k in range(n):
            if self.state[i][k] != "fading":
                continue
            self.mark[i, k] += update
            self.mark[i, k] += (self.row[i, i] - self.mark[i, k]) / self.left[i, k]
            self.left[i, k] -= 1
            if self.left[i, k] == 0:
                self.state[i][k] = "apart"
        self.take_back(i)
        self.known[i, i] += 1
        self.samples += BATCH

    def take_back(self, i):
        """Out of the row; stand-ins stay as they are, for it is no progress."""
        taken, part = self.taken_back[i], self.taken_for[i]
        if not part:
            return
        self.row[i, i] -= taken
        for k in range(self.n):
            if self.state[i][k] != "apart":
                self.mark[i, k] -= taken
        if self.heal == "lead":  # until k's blocks come
            for k, what in part.items():
                self.mark[i, k] -= what
                self.last_seal[i, k] = -1e9
        taken[:] = 0
        part.clear()


def of_test(cluster, test, w):
    return cluster.net.loss(w, *test)


def mean_loss(cluster, test, peers, what):
    return np.mean([cluster.net.loss(getattr(cluster, what)(i), *test)[0] for i in peers])


def heal(arguments, net, train, test):
    """Peers apart for a while: the loss of both sides before they meet, its peak in the 40 rounds
    after, and the mean of their anchors later."""
    print("| apart | from, for rounds | rule | power | before: 0; 3 | peak of replicas | of "
          "anchors | after 20 | 40 | 80 | 150 rounds |\n|" + "---|" * 11)
    for name, cut in (("1 of 4", {0}), ("2 + 2", {0, 1})):
        for begin, length in arguments.apart:
            for rule, power in arguments.rules:
                rows = []
                for seed in arguments.seeds:
                    links = lambda t, i, j: not (begin <= t < begin + length
                                                 and (i in cut) != (j in cut))
                    c = Cluster(net, train, seed, 4, arguments.rate, power, rule, links)
                    for t in range(begin + length):
                        c.step(t)
                    of = lambda what: [net.loss(getattr(c, what)(i), *test)[0] for i in (0, 3)]
                    before = of("anchor")
                    replicas, anchors = {}, {}
                    for k in range(1, 151):
                        c.step(begin + length + k - 1)
                        if k <= 40 or k in (80, 150):
                            replicas[k], anchors[k] = of("replica"), of("anchor")
                    peak = lambda of: np.max([of[k] for k in range(1, 41)], axis=0)
                    rows.append([*before, *peak(replicas), *peak(anchors),
                                 *(np.mean(anchors[k]) for k in (20, 40, 80, 150))])
                v = [f"{x:.3f}" for x in np.mean(rows, axis=0)]
                print(f"| {name} | {begin}, {length} | {rule} | {power:g} | {v[0]}; {v[1]} | "
                      f"{v[2]}; {v[3]} | {v[4]}; {v[5]} | " + " | ".join(v[6:]) + " |", flush=True)


def step(arguments, net, train, test):
    print("| n, absent | power | rounds to 95 % | 97 % | loss | accuracy at the end |\n"
          "|---|---|---|---|---|---|")
    for n, gone in arguments.absent:
        for power in arguments.powers:
            rows = []
            for seed in arguments.seeds:
                budget = arguments.epochs * len(train[1])
                c = Cluster(net, train, seed, n, arguments.rate, power, "share",
                            lambda t, i, j: i >= gone and j >= gone, lambda t, i: i >= gone, budget)
                t, reached = 0, {}
                while c.samples < budget:
                    c.step(t)
                    t += 1
                    if t % 10 == 0:
                        accuracy = net.loss(c.anchor(n - 1), *test)[1]
                        for target in (0.95, 0.97):
                            if accuracy >= target:
                                reached.setdefault(target, t)
                end = c.start + sum(c.row[i, i] for i in range(n)) / n
                rows.append([reached.get(0.95, np.nan), reached.get(0.97, np.nan),
                             *net.loss(end, *arguments.whole)])
            a, b, loss, accuracy = np.median(rows, axis=0)
            print(f"| {n}, {gone} | {power:g} | {a:.0f} | {b:.0f} | {loss:.4f} | "
                  f"{100 * accuracy:.2f} % |", flush=True)


def pairs(text):
    return [tuple(int(x) for x in word.split(",")) for word in text.split()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["step", "heal"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--apart", type=pairs, default=pairs("60,120 60,700 400,120"))
    parser.add_argument("--absent", type=pairs, default=pairs("8,0 8,2 4,0 4,2"))
    parser.add_argument("--powers", type=float, nargs="+", default=[0, 0.5, 1])
    parser.add_argument("--rules", nargs="+", default=["sum:0", "sum:1", "share:1", "lead:1",
                                                       "major:1"])
    arguments = parser.parse_args()
    arguments.rules = [(a.split(":")[0], float(a.split(":")[1])) for a in arguments.rules]
    pixels, labels = images("t10k")
    arguments.whole = (scaled(pixels), labels)
    test = (arguments.whole[0][:2000], labels[:2000])
    {"step": step, "heal": heal}[arguments.what](arguments, Net(), images("train"), test)


if __name__ == "__main__":
    main()
