"""Lets a cluster train while everything goes wrong, and judges what it came to.

    deploy/chaos cluster.yaml [--seed 7] [--set KEY=VALUE ...]
    deploy/chaos cluster.yaml --replay runs/chaos/cluster-7/plan.json

Every peer of the file runs as a process of its own in a network namespace of its own on this
machine, behind a link of `--rate` with delay and loss. Random faults strike them until the run is
over: kill -9 and a start again, SIGSTOP, a thread that hangs, links that fall silent in one
direction or both, halves that hear nothing of each other, connections reset, slow, far and lossy
links, a late start, a second process under a live name, a full disk. What strikes whom when follows
from the seed alone; `--seed` or `--replay` with the plan of an earlier run lets it happen again,
also after entries were taken out by hand. (What the peers make of it depends on the machine too.)

With `--tail calm` the faults end, and what is away comes back, at 80 % of the budget: then all
peers must end together. With `--tail stormy` they go on beyond the end of the training. `either`,
the default: calm for an even seed. The judgement: nobody hangs or crashes; what is called
identical is the same everywhere; a majority that was kept from nothing agrees; each loss is named
within 3 s by every other peer; who is back trains again, and a process that is started again goes
on where it was; a second process is refused with the reason.

The file's addresses are replaced, and exchange.start_wait_s is 8 unless --set says otherwise, so
that nobody waits long for a late peer. Needs root with CAP_NET_ADMIN and CAP_SYS_ADMIN, iproute2,
iptables and util-linux. Exit status: 0 all well, 1 not, 2 a wrong file or argument, 77 it cannot
run here ("skipped: ...").
"""

import argparse
import os
import pathlib
import random
import shlex
import signal
import sys
import time

import faults
import judge
from cluster_file import ClusterFile, Refused
from disk import Disk
from lives import TRAINING, Cluster
from network import SKIPPED, Broken, Network, Skip
from striker import Striker
from timeline import Timeline

SOURCE = pathlib.Path(__file__).resolve().parents[2]
START_WAIT_S = 8
START_PATIENCE_S = 60  # beyond that, to read the data and to train the first round
CALM_FROM = 0.8        # of the budget
SLACK_S = 30           # over what a peer may take to end: for a busy machine
STORMY_S = 15          # after the first peer's training has ended: the final exchange and lingering
LOOK_S = 0.05


class Run:
    """One chaos run."""

    def __init__(self, arguments, file):
        self.arguments, self.file = arguments, file
        self.folder = new_folder(arguments)
        self.timeline = Timeline(os.path.join(self.folder, "timeline.txt"))
        self.striker = None
        self.done = []     # the plan, as far as it has come
        self.hung = []
        self.last_sign = None
        self.seen = None
        self.ending_since = None
        self.calm = False  # all faults are over, and what was away is back
        self.faults = self.samples = 0  # of the judgement, as is:
        self.accuracy = None

    def run(self):
        arguments = self.arguments
        network = Network(str(SOURCE), f"chaos{os.getpid()}", len(self.file.names) + 1,
                          arguments.rate, arguments.cpus, arguments.delay_ms, arguments.jitter_ms,
                          arguments.loss, arguments.seed)
        with network:
            cluster = Cluster(arguments.ako, self.file.path, self.file.names, network, self.folder,
                              words_for_peers(arguments))
            # What is written here lies beside them, or a full one would end this program.
            disks = {name: Disk(cluster.output(name), arguments.disk_mb)
                     for name in self.file.names} if arguments.disk_mb else {}
            disks = {name: disk for name, disk in disks.items() if disk.mount()}
            self.striker = Striker(cluster, network, disks, self.timeline)
            try:
                self._start(cluster)
                self._storm(cluster)
            finally:
                cluster.end_all()
                for disk in disks.values():
                    disk.keep()
                self.timeline.write(cluster.lives)
                with open(os.path.join(self.folder, "plan.json"), "w") as plan:
                    plan.write(faults.to_json(self.done))
        return self._judge(cluster)

    # ---- the start

    def _start(self, cluster):
        self.plan = self._plan()
        late = [fault for fault in self.plan_begin if fault.kind == "late"]
        started = [cluster.start(name) for name in self.file.names
                   if name not in {fault.peer for fault in late}]
        patience = time.monotonic() + start_patience_s(self.file)
        while not all(life.trains() for life in started):
            ended = cluster.poll()
            if ended or time.monotonic() > patience:
                raise Refused("the peers do not train: " + "; ".join(
                    f"{life.name}: {judge.last_words(life)}" for life in ended or started))
            time.sleep(LOOK_S)
        self.timeline.start()
        for fault in late:
            self._strike(fault)

    def _plan(self):
        """The faults to come, by time; plan_begin: those that are there from the start."""
        arguments = self.arguments
        if arguments.replay:
            with open(arguments.replay) as file:
                all_of_it = faults.from_json(file.read())
            self.plan_begin = [fault for fault in all_of_it if fault.kind == "late"]
            return iter([fault for fault in all_of_it if fault.kind != "late"])
        plan = faults.Plan(arguments.seed, self.file.names, arguments.every, arguments.longest,
                           arguments.kinds)
        self.plan_begin = [plan.late] if plan.late else []
        return iter(plan.next, None)

    # ---- the storm

    def _storm(self, cluster):
        coming = next(self.plan, None)
        self.last_sign = time.monotonic()
        while cluster.running() or self._to_start():
            time.sleep(LOOK_S)
            for life in cluster.poll():
                self.timeline.say(f"    {life.label()} ended: {ending(life)}")
            if self.arguments.calm and not self.calm and cluster.progress() >= CALM_FROM:
                self.calm = True
                self.timeline.say(f"calm: {CALM_FROM:.0%} of the budget is spent")
            now = self.timeline.now()
            for it in self.striker.active() if self.calm else self.striker.due(now):
                self._heal(it)
            if coming and not self.calm and not self._over(cluster) and coming.at <= now:
                self._strike(coming)
                coming = next(self.plan, None)
            if self._hangs(cluster):
                return

    def _over(self, cluster):
        """Whoever came after that might be struck and started again for ever."""
        if self.ending_since is None and any(
                life.phase() not in ("starting", *TRAINING) for life in cluster.lives
                if life.role != "second"):
            self.ending_since = time.monotonic()
        return (self.ending_since is not None and
                time.monotonic() - self.ending_since > STORMY_S)

    def _to_start(self):
        return [it for it in self.striker.active() if it.fault.kind in ("kill", "late")]

    def _strike(self, fault):
        self.done.append(fault)
        self.striker.strike(fault)
        self.last_sign = time.monotonic()

    def _heal(self, it):
        self.striker.heal(it)
        self.last_sign = time.monotonic()

    def _hangs(self, cluster):
        """Has nothing moved for longer than the end of a peer may take?"""
        now = time.monotonic()
        seen = (cluster.progress(), len(cluster.running()),
                tuple(life.phase() for life in cluster.lives))
        if seen != self.seen or self.striker.active():
            self.seen, self.last_sign = seen, now
        late = now - self.timeline.zero > self.arguments.limit
        if not late and now - self.last_sign < self.file.ending_s() + SLACK_S:
            return False
        self.hung = cluster.running()
        self.timeline.say(f"{', '.join(life.label() for life in self.hung)} still run: "
                          + ("it takes longer than --limit" if late else "nothing moves any more"))
        return True

    # ---- the judgement

    def _judge(self, cluster):
        case = judge.Case(self.file.names, cluster.lives, self.striker.happened,
                          self.calm, self.hung, self.timeline.zero, self.file.agree_s(),
                          self.file.number("leave_timeout_s"))
        found = judge.findings(case)
        self.faults, self.samples = len(self.striker.happened), judge.samples(case)
        self.accuracy = judge.accuracy(case)
        if (self.accuracy or 0) < self.arguments.accuracy_min:
            found.append(f"the accuracy is below {self.arguments.accuracy_min}")
        if len(names := judge.judged(case)) < self.arguments.must_agree:
            found.append(f"the agreement of only {len(names)} peers could be judged, not of "
                         f"{self.arguments.must_agree}")
        lines = [*judge.facts(case), *(f"NOT WELL: {finding}" for finding in found)]
        lines.append(f"chaos: seed {self.arguments.seed}, {len(self.striker.happened)} faults in "
                     f"{self.timeline.now():.0f} s, {len(cluster.lives)} processes: " +
                     (f"{len(found)} findings" if found else "all well"))
        lines.append(again(self.arguments, f"{self.folder}/plan.json"))
        text = "\n".join(lines)
        print(text, flush=True)
        with open(os.path.join(self.folder, "judgement.txt"), "w") as file:
            file.write(text + "\n")
        return 1 if found else 0


def start_patience_s(file):
    return file.number("start_wait_s") + START_PATIENCE_S


def ending(life):
    if life.killed_at is not None:
        return "killed"
    return f"status {life.exit}: {judge.last_words(life)}"


def new_folder(arguments):
    stem = os.path.join(os.path.abspath(arguments.output),
                        f"{pathlib.Path(arguments.file).stem}-{arguments.seed}")
    number = 1
    while True:
        folder = stem if number == 1 else f"{stem}-{number}"
        try:
            os.makedirs(folder)
            return folder
        except FileExistsError:
            number += 1


def words_for_peers(arguments):
    """The later of two words about one key counts."""
    return [part for word in (f"exchange.start_wait_s={START_WAIT_S}", *arguments.set)
            for part in ("--set", word)]


def again(arguments, plan):
    """The command that lets the same happen once more: with all that is not the default."""
    words = ["deploy/chaos", arguments.file, "--replay", plan, "--seed", str(arguments.seed),
             "--tail", "calm" if arguments.calm else "stormy"]
    plain = vars(make_parser().parse_args([arguments.file]))
    for name, value in vars(arguments).items():
        if name in ("file", "replay", "seed", "tail", "calm"):
            continue
        value = ",".join(value) if name == "kinds" else value
        for one in value if name == "set" else [value] if value != plain[name] else []:
            words += ["--" + name.replace("_", "-"), str(one)]
    return "again: " + shlex.join(words)


def make_parser():
    parser = argparse.ArgumentParser(prog="deploy/chaos", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the cluster file")
    parser.add_argument("--ako", default=str(SOURCE / "build/release/ako"))
    parser.add_argument("--seed", type=int, help="random, and said, unless given")
    parser.add_argument("--replay", metavar="PLAN", help="a plan.json instead of a seed's faults")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--tail", choices=["calm", "stormy", "either"], default="either")
    parser.add_argument("--every", type=float, default=6, help="mean seconds between faults")
    parser.add_argument("--longest", type=float, default=60, help="seconds that anybody is away")
    parser.add_argument("--kinds", default=",".join(["late", *faults.KINDS]),
                        help="of faults, with commas between; all: %(default)s")
    parser.add_argument("--rate", default="50mbit", help="of each link, as tc takes it")
    parser.add_argument("--cpus", default="0.25", help="share of one core per peer; '': no limit")
    parser.add_argument("--delay-ms", type=float, default=10, help="each way")
    parser.add_argument("--jitter-ms", type=float, default=2)
    parser.add_argument("--loss", type=float, default=0.001, help="share of packets")
    parser.add_argument("--disk-mb", type=int, default=64, help="of each peer; 0: no disks")
    parser.add_argument("--limit", type=float, default=3600, help="seconds for all of it")
    parser.add_argument("--accuracy-min", type=float, default=0, help="0 to 1; less is not well")
    parser.add_argument("--must-agree", type=int, default=0, metavar="PEERS",
                        help="not well if faults excuse more than all but so many from agreeing")
    parser.add_argument("--output", default="runs/chaos", help="the folder for results")
    return parser


def parse(words):
    parser = make_parser()
    arguments = parser.parse_args(words)
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1_000_000)
    arguments.kinds = tuple(arguments.kinds.split(","))
    if unknown := set(arguments.kinds) - {"late", *faults.KINDS}:
        parser.error(f"--kinds: there is no {', '.join(sorted(unknown))}")
    arguments.calm = arguments.tail == "calm" or (arguments.tail == "either" and
                                                  arguments.seed % 2 == 0)
    arguments.file, arguments.ako = os.path.abspath(arguments.file), os.path.abspath(arguments.ako)
    return arguments


def main(words=None):
    arguments = parse(words)
    # A polite end removes the network, as an interrupt does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        file = ClusterFile(arguments.ako, arguments.file, words_for_peers(arguments))
        print(f"chaos: seed {arguments.seed}, {len(file.names)} peers, a "
              f"{'calm' if arguments.calm else 'stormy'} end", flush=True)
        run = Run(arguments, file)
        print(f"results: {run.folder}", flush=True)
        return run.run()
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    except Broken as why:
        print(f"FAILED: the network broke: {why}", flush=True)
        return 1
    except (Refused, OSError) as why:
        print(f"chaos: {why}", file=sys.stderr)
        return 2
