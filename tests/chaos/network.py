"""The network of a chaos run: deploy/testbed (a namespace per peer, rates by tbf) and what can be
done to it by packet_delay.py, through which every packet passes that comes in at a peer.

What is done is a set of effects, each under the name of who did it. Two faults may cut the same
wire: it stands again when both are over. A wire is one direction of a pair, (sender, receiver);
places count from 1, as the testbed's. One thread.
"""

import collections
import fcntl
import json
import os
import pathlib
import runpy
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
# tc, iptables and nsenter take milliseconds each; a machine that swaps takes longer.
TOOL_PATIENCE_S = 30

# This program and its tools go before whatever computes on the machine, or on a busy one faults and
# packets are late by seconds; peers compute as all others do.
REAL_TIME, AS_ALL = os.SCHED_RR, ["chrt", "--other", "0"]
# So that peers have the share of a core that --cpus says, whatever else runs: four times the usual
# weight. Far more, and threads of the kernel starve.
WEIGHTS = (("cpu.shares", "4096"), ("cpu.weight", "400"))

# What comes in passes the second; what packet_delay.py sends around again has the mark.
RULES = ("-i eth0 -p tcp -m mark --mark 1 -j REJECT --reject-with tcp-reset",
         "-i eth0 -j NFQUEUE --queue-num 0")

# kind: cut, reset, delay (value: ms), loss (value: a share), hold; or of one place (sender ==
# receiver) rate (value: as tc takes it).
Effect = collections.namedtuple("Effect", "kind sender receiver value", defaults=(None,))


class Skip(Exception):
    """Why there is no such network here: before anything runs in it."""


class Broken(Exception):
    """What failed when it stood: no judgement of what ran in it, and no reason to skip it."""


class Network:
    def __init__(self, source, name, places, rate="50mbit", cpus="", delay_ms=10.0, jitter_ms=2.0,
                 loss=0.001, seed=1):
        """`places`: how many; rate and cpus as the testbed takes them."""
        self.testbed = os.path.join(source, "deploy", "testbed")
        self.tools = runpy.run_path(self.testbed)
        self.name, self.places, self.rate, self.cpus = name, places, rate, cpus
        self.delay_ms, self.jitter_ms, self.loss, self.seed = delay_ms, jitter_ms, loss, seed
        self.effects = {}  # by who did it: a list
        self.delays = None
        self.stands = False

    # ---- up and down

    def __enter__(self):
        if shutil.which("iptables") is None:
            raise Skip("there is no `iptables` (package iptables)")
        self._make(self.cpus)
        self._hurry()
        try:
            for place in range(1, self.places + 1) if self.cpus else ():
                self._prefer(place)
            self._start_delays()
        except BaseException:
            self.__exit__()
            raise
        self.stands = True
        return self

    def __exit__(self, *_):
        self.stands = False
        if self.delays:
            try:
                self.delays.stdin.close()
            except BrokenPipeError:
                pass  # it has ended, with a command unread
            self.delays.wait(TOOL_PATIENCE_S)
            self.delays.stdout.close()
            self.delays = None
        subprocess.run([self.testbed, "--name", self.name, "down"], check=False)

    def _make(self, cpus):
        words = [self.testbed, "--name", self.name, "up", "--peers", str(self.places), "--rate",
                 self.rate] + (["--cpus", cpus] if cpus else [])
        # One after the other: for a moment `up` widens what congestion control the machine allows.
        with open(self.testbed) as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode == SKIPPED and cpus and "no CPU limits" in made.stderr:
            print(f"{made.stderr.strip()}; peers share the processor as they like", flush=True)
            return self._make("")
        if made.returncode == SKIPPED:
            raise Skip(made.stderr.strip().removeprefix("skipped: "))
        if made.returncode != 0:
            raise Skip(f"no testbed: {made.stderr.strip()}")
        self.cpus = cpus
        return None

    @staticmethod
    def _hurry():
        try:
            os.sched_setscheduler(0, REAL_TIME, os.sched_param(1))
        except OSError as error:
            print(f"no real-time scheduling: {error}; on a busy machine faults come late",
                  flush=True)

    def _prefer(self, place):
        group = self.tools["cpu_groups"]().group(self.name, place)
        for file, weight in WEIGHTS:
            if (group / file).exists():
                (group / file).write_text(weight)

    def _start_delays(self):
        spaces = [f"/run/netns/{self._space(place)}" for place in range(1, self.places + 1)]
        self.delays = subprocess.Popen(
            [sys.executable, str(HERE / "packet_delay.py"), "--seed", str(self.seed), *spaces],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.delays.stdout.readline() != "ok\n":
            raise Skip("packets cannot be delayed: no NFQUEUE in this kernel")
        for sender, receiver in self.wires():
            self._set_wire(sender, receiver)
        for place in range(1, self.places + 1):
            for rule in RULES:
                self._run(*self._at(place), "iptables", "-A", "INPUT", *rule.split())

    # ---- where peers run

    def inside(self, place):
        """The words of a command that becomes what follows it, in the namespace of this place. What
        is started so ends with this program."""
        return [*AS_ALL, self.testbed, "--name", self.name, "exec", str(place), "--", "setpriv",
                "--pdeathsig", "KILL", "--"]

    def address(self, place):
        return self.tools["address"](place)

    def wires(self, place=None):
        """All of them, or those of one place."""
        places = range(1, self.places + 1)
        return [(a, b) for a in places for b in places
                if a != b and (place is None or place in (a, b))]

    # ---- what is done to it

    def apply(self, owner, effects):
        self.effects[owner] = list(effects)
        self._show(effects)

    def remove(self, owner):
        self._show(self.effects.pop(owner, []))

    def _show(self, touched):
        for wire in sorted({(effect.sender, effect.receiver) for effect in touched
                            if effect.kind != "rate"}):
            self._set_wire(*wire)
        for place in sorted({effect.receiver for effect in touched if effect.kind == "rate"}):
            self._set_rate(place)

    def _standing(self, kind, sender, receiver):
        return [effect.value for effects in self.effects.values() for effect in effects
                if (effect.kind, effect.sender, effect.receiver) == (kind, sender, receiver)]

    def _set_wire(self, sender, receiver):
        delay_ms = max([self.delay_ms, *self._standing("delay", sender, receiver)])
        loss = max([self.loss, *self._standing("loss", sender, receiver)])
        if self._standing("cut", sender, receiver):
            loss = 1
        command = {"receiver": receiver - 1, "sender": self.address(sender), "delay_ms": delay_ms,
                   "jitter_ms": self.jitter_ms, "loss": loss,
                   "hold": bool(self._standing("hold", sender, receiver)),
                   "reset": bool(self._standing("reset", sender, receiver))}
        try:
            self.delays.stdin.write(json.dumps(command) + "\n")
            self.delays.stdin.flush()
        except BrokenPipeError:
            pass  # and so there is no answer
        if self.delays.stdout.readline() != "ok\n":
            raise self._failure("packet_delay.py has ended")

    def _set_rate(self, place):
        standing = self._standing("rate", place, place)
        rate = standing[-1] if standing else self.own_rate(place)
        for where, interface in ((self._space(place), "eth0"),
                                 (self._space("bridge"), f"port{place}")):
            words = ["tc", "-n", where, "qdisc"]
            if rate == "none":
                self._run(*words, "delete", "dev", interface, "root", check=False)
            else:
                self._run(*words, "replace", "dev", interface, "root", "tbf", "rate", rate,
                          *self.tools["QUEUE"])

    def own_rate(self, place):
        rates = self.rate.split(",")
        return rates[place - 1] if len(rates) > 1 else rates[0]

    def _space(self, place):
        return self.tools["namespace"](self.name, place)

    def _at(self, place):
        return ["nsenter", f"--net=/run/netns/{self._space(place)}"]

    def _run(self, *words, check=True):
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=TOOL_PATIENCE_S)
        except subprocess.TimeoutExpired as late:
            raise self._failure(str(late))
        if check and done.returncode != 0:
            raise self._failure(f"{' '.join(words)}: {done.stderr.strip()}")

    def _failure(self, why):
        return Broken(why) if self.stands else Skip(why)


def effects_between(kind, senders, receivers, value=None):
    """The same on every wire from one of these places to one of those."""
    return [Effect(kind, a, b, value) for a in senders for b in receivers if a != b]
