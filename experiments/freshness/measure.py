#!/usr/bin/env python3
"""Measures how old partials are when they arrive through a shaped interface, and whether Ako's
goodput there is that of plain bulk flows. See README.md beside this file.

    experiments/freshness/measure.py [--peer BUILD/tests/bench/freshness_peer] [--runs 5]
                                     [--seconds 15] [--rate 20] [--all]

Four peers in namespaces of their own (deploy/testbed); what the first one sends is shaped, or with
`--all` what each of them sends. Each run measures Ako, then plain flows over the same interfaces.
Needs root; exit 77 and "skipped: ..." where it cannot run. Python's standard library only.
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS = 4
PORT = 7700
CHUNK = 1 << 16
WARM_UP_S = 4  # connecting, the first round, and until congestion control has found the rate
SENDER_ROUND_MS = 100
# A peer that is not shaped gets long rounds: what it sends then keeps no processor from the others.
UNSHAPED_ROUND_MS = 1000
AGE_MEDIAN_MAX_MS = 100
GOODPUT_SHARE_MIN = 0.98


def address(peer):
    return f"10.99.0.{peer}"


class Testbed:
    """deploy/testbed under a name of this process, for the length of a `with`."""

    def __init__(self, rates):
        self.words = [str(REPOSITORY / "deploy/testbed"), "--name", f"freshness{os.getpid()}"]
        self.rates = rates

    def __enter__(self):
        making = subprocess.Popen([*self.words, "up", "--peers", str(PEERS), "--rate",
                                   ",".join(self.rates), "--shape", "egress"])
        try:
            status = making.wait()
        except BaseException:  # interrupted: it is left to end in order, and then removed
            making.wait()
            self.__exit__()
            raise
        if status != 0:
            sys.exit(status)
        return self

    def __exit__(self, *_):
        subprocess.run([*self.words, "down"], check=True)

    def start(self, peer, command):
        return subprocess.Popen([*self.words, "exec", str(peer), "--", *command],
                                stdout=subprocess.PIPE, text=True)


def results(processes, timeout):
    """What each process printed last, as JSON."""
    texts = [process.communicate(timeout=timeout)[0] for process in processes]
    if any(process.returncode != 0 for process in processes):
        sys.exit("measure.py: a peer failed, see above")
    return [json.loads(text.splitlines()[-1]) for text in texts]


def measure(testbed, arguments, command_of):
    """Starts one process at each peer; they take notes in the same window of time."""
    begins = time.monotonic() + WARM_UP_S
    ends = begins + arguments.seconds
    return results([testbed.start(peer, command_of(peer, str(begins), str(ends)))
                    for peer in range(1, PEERS + 1)], arguments.seconds + 60)


def measure_ako(testbed, arguments):
    def command(peer, begins, ends):
        shaped = arguments.all or peer == 1
        addresses = [f"{address(other)}:{PORT}" for other in range(1, PEERS + 1)]
        round_ms = SENDER_ROUND_MS if shaped else UNSHAPED_ROUND_MS
        return [arguments.peer, str(peer - 1), str(round_ms), begins, ends, *addresses]

    received = measure(testbed, arguments, command)
    flows = [received[to][origin] for origin in arguments.senders for to in range(PEERS)
             if to != origin]
    return flows


def measure_plain(testbed, arguments):
    def command(peer, begins, ends):
        senders = ",".join(str(origin + 1) for origin in arguments.senders)
        return [sys.executable, __file__, "--plain", str(peer), begins, ends, senders]

    received = measure(testbed, arguments, command)
    return [received[to][str(origin + 1)] for origin in arguments.senders for to in range(PEERS)
            if to != origin]


def send_plainly(receiver, ends):
    chunk = bytes(CHUNK)
    while time.monotonic() < ends:
        try:
            with socket.create_connection((address(receiver), PORT), timeout=1) as connection:
                while time.monotonic() < ends:
                    connection.sendall(chunk)
        except OSError:
            time.sleep(0.02)  # the receiver does not listen yet, or has ended


def receive_plainly(connection, begins, ends, bytes_from, sender):
    while time.monotonic() < ends:
        count = len(connection.recv(CHUNK))
        if count == 0:
            return
        if begins <= time.monotonic() < ends:
            bytes_from[sender] += count


def plain_peer(peer, begins, ends, senders):
    """The yardstick: sockets as they come, with default options, that send and receive."""
    bytes_from = {sender: 0 for sender in senders if sender != peer}
    listener = socket.create_server((address(peer), PORT))
    threads = []
    if peer in senders:
        threads += [threading.Thread(target=send_plainly, args=(other, ends), daemon=True)
                    for other in range(1, PEERS + 1) if other != peer]
    for thread in threads:
        thread.start()
    for _ in bytes_from:
        connection, (host, _) = listener.accept()
        sender = int(host.rsplit(".", 1)[1])
        threads.append(threading.Thread(target=receive_plainly, daemon=True,
                                        args=(connection, begins, ends, bytes_from, sender)))
        threads[-1].start()
    time.sleep(max(0, ends - time.monotonic()))
    print(json.dumps(bytes_from), flush=True)
    os._exit(0)  # senders that wait for a full queue are not waited for


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row(ages, ako, plain):
    ages = sorted(ages)
    return (f"{percentile(ages, 0.5):10.1f}{percentile(ages, 0.9):10.1f}"
            f"{percentile(ages, 0.99):10.1f}{ako:12.3f}{plain:12.3f}{100 * ako / plain:10.2f}")


def measure_all(arguments):
    rates = [f"{arguments.rate:g}mbit" if peer in arguments.senders else "none"
             for peer in range(PEERS)]
    print(f"{'run':6}{'median ms':>10}{'90 %':>10}{'99 %':>10}{'Ako Mbit/s':>12}"
          f"{'plain':>12}{'of it %':>10}")
    all_ages, medians, shares, rates_seen = [], [], [], []
    with Testbed(rates) as testbed:
        for number in range(1, arguments.runs + 1):
            flows = measure_ako(testbed, arguments)
            plain_flows = measure_plain(testbed, arguments)
            ages = [age for flow in flows for age in flow["ages_ms"]]
            to_mbit = 8e-6 / arguments.seconds / len(arguments.senders)
            ako = sum(flow["bytes"] for flow in flows) * to_mbit
            plain = sum(plain_flows) * to_mbit
            print(f"{number:<6}{row(ages, ako, plain)}", flush=True)
            all_ages += ages
            medians.append(statistics.median(ages))
            shares.append(ako / plain)
            rates_seen.append((ako, plain))
    ako, plain = (statistics.median(side) for side in zip(*rates_seen))
    print(f"{'all':6}{row(all_ages, ako, plain)}")
    holds = (statistics.median(medians) <= AGE_MEDIAN_MAX_MS
             and statistics.median(shares) >= GOODPUT_SHARE_MIN)
    print(f"median age {statistics.median(medians):.1f} ms (at most {AGE_MEDIAN_MAX_MS}), goodput "
          f"{100 * statistics.median(shares):.2f} % of plain flows "
          f"(at least {100 * GOODPUT_SHARE_MIN:.0f}), medians of {arguments.runs} runs: "
          f"{'holds' if holds else 'does NOT hold'}")
    return holds


def main():
    if sys.argv[1:2] == ["--plain"]:
        peer, begins, ends, senders = sys.argv[2:]
        plain_peer(int(peer), float(begins), float(ends),
                   [int(word) for word in senders.split(",")])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer",
                        default=str(REPOSITORY / "build/release/tests/bench/freshness_peer"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rate", type=float, default=20, help="Mbit/s of a shaped interface")
    parser.add_argument("--all", action="store_true", help="shape what every peer sends")
    arguments = parser.parse_args()
    arguments.senders = list(range(PEERS)) if arguments.all else [0]
    if not os.access(arguments.peer, os.X_OK):
        sys.exit(f"measure.py: {arguments.peer} is not there; build it with -DAKO_TESTS=ON")
    # A polite end takes the namespaces down too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(0 if measure_all(arguments) else 1)


if __name__ == "__main__":
    main()
