"""deploy/testbed from the outside: the network it makes, what it leaves, and a measurement in it
that is interrupted. Python's standard library only. Exits 77 and says why where it cannot run.

    testbed_test.py --source REPOSITORY --peer BUILD/tests/bench/freshness_peer
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from bench import check, check_equal, wait_for

SKIPPED = 77
NAME = f"test{os.getpid()}"
CONTROL_GROUPS = pathlib.Path("/sys/fs/cgroup")
ALLOWED_CONTROLS = pathlib.Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
RATE_MBIT = 16
BYTES = 1_000_000


def namespaces(name):
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    return sorted(line.split()[0] for line in listed.stdout.splitlines()
                  if line.startswith(f"ako-{name}-"))


def carry(sending, address):
    """Sends so many bytes from one peer to another; the seconds that took, by this process."""
    receive = ("import socket; s = socket.create_server(('', 7700)); print('ready', flush=True)\n"
               "c, _ = s.accept(); n = 0\n"
               f"while n < {BYTES}: n += len(c.recv(65536))")
    send = (f"import socket; s = socket.create_connection(('{address}', 7700), timeout=10)\n"
            f"s.sendall(bytes({BYTES})); s.recv(1)")
    receiver = subprocess.Popen(sending["to"] + ["python3", "-c", receive], stdout=subprocess.PIPE)
    receiver.stdout.readline()
    began = time.monotonic()
    subprocess.run(sending["from"] + ["python3", "-c", send], check=True, timeout=60)
    receiver.wait(timeout=10)
    return time.monotonic() - began


def up(testbed, *words):
    made = subprocess.run([*testbed, "up", *words], capture_output=True, text=True)
    if made.returncode == SKIPPED:
        print(made.stderr.strip())
        sys.exit(SKIPPED)
    check_equal(made.returncode, 0, f"exit of up: {made.stderr}")


def shaped_network(testbed):
    up(testbed, "--peers", "2", "--rate", f"{RATE_MBIT}mbit,none")
    spaces = [f"ako-{NAME}-{which}" for which in ("1", "2", "bridge")]
    check_equal(namespaces(NAME), spaces, "namespaces")
    at = {peer: [*testbed, "exec", str(peer), "--"] for peer in (1, 2)}
    # Both directions of peer 1 are shaped. A burst and a queue of 50 ms let a part of the 1 MB pass
    # at no cost.
    expected = BYTES * 8e-6 / RATE_MBIT
    for sending, address in (({"from": at[1], "to": at[2]}, "10.99.0.2"),
                             ({"from": at[2], "to": at[1]}, "10.99.0.1")):
        seconds = carry(sending, address)
        check(seconds > 0.7 * expected, f"{seconds:.2f} s where {expected:.2f} s are expected")


def goodput(testbed):
    """Plain TCP fills the links, whatever the share of a core that the peers have."""
    up(testbed, "--peers", "3", "--rate", f"{RATE_MBIT}mbit", "--cpus", "0.1,0.1,0.2")
    for words, pattern in (([], "all-to-all"), (["--ring"], "ring")):
        measured = json.loads(subprocess.run([*testbed, "goodput", *words], check=True,
                                             capture_output=True, text=True).stdout)
        check_equal(measured["pattern"], pattern, "pattern")
        check_equal(sorted(measured["egress_mbit"]), ["1", "2", "3"], "peers measured")
        for rate in [*measured["egress_mbit"].values(), measured["mean_mbit"]]:
            check(0.8 * RATE_MBIT < rate <= RATE_MBIT, f"{rate} of {RATE_MBIT} Mbit/s: {measured}")
        check(0 < measured["rtt_idle_ms"] < 50, f"{measured['rtt_idle_ms']} ms idle")
    found = json.loads(subprocess.run([*testbed, "status"], check=True, capture_output=True,
                                      text=True).stdout)["peers"]
    check_equal([(peer["peer"], peer["address"], peer["egress"], peer["ingress"], peer["cpus"],
                  peer["processes"]) for peer in found],
                [(k, f"10.99.0.{k}", f"{RATE_MBIT}mbit", f"{RATE_MBIT}mbit", cpus, [])
                 for k, cpus in ((1, 0.1), (2, 0.1), (3, 0.2))], "status")


def share_of_a_core(testbed):
    """Two processes of a peer with 0.2 of a core, which both want one whole, get no more together.
    The network of before is still there."""
    burn = """import os, resource, time
def spent():
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)
before, began = spent(), time.monotonic()
child = os.fork()
while time.monotonic() < began + 2: pass
if child:
    os.waitpid(child, 0)
    print((spent() - before) / (time.monotonic() - began))
"""
    share = float(subprocess.run([*testbed, "exec", "3", "--", "python3", "-c", burn], check=True,
                                 capture_output=True, text=True, timeout=120).stdout)
    check(0 < share < 0.25, f"{share} of a core at a peer with 0.2")


def cpu_groups(name, peer):
    """Those of one peer, the one that is made first before the others."""
    controllers = CONTROL_GROUPS / "cgroup.controllers"
    if controllers.exists() and "cpu" in controllers.read_text().split():
        return [CONTROL_GROUPS / f"ako-{name}", CONTROL_GROUPS / f"ako-{name}/{peer}"]
    return [CONTROL_GROUPS / f"cpu/ako-{name}-{peer}"]


def left_by_a_crash(testbed):
    """A control group whose namespace is gone is removed all the same; others are not touched."""
    check_equal(subprocess.run([*testbed, "down"]).returncode, 0, "exit of down")
    left, others = cpu_groups(NAME, 7), cpu_groups(f"{NAME}x", 7)
    for group in left + others:
        check(not group.exists(), f"{group} is there after down")
        group.mkdir()
    try:
        check_equal(subprocess.run([*testbed, "down"]).returncode, 0, "exit of down")
        check_equal([group.exists() for group in left + others],
                    [False for _ in left] + [True for _ in others], "the groups after down")
    finally:
        for group in reversed(others):
            group.rmdir()
    absent = subprocess.run([*testbed, "status"], capture_output=True, text=True)
    check(absent.returncode == 1 and "there is no testbed" in absent.stderr, absent.stderr)


def up_again_and_down(testbed):
    lasting = subprocess.Popen([*testbed, "exec", "1", "--", "sleep", "1000"])
    wait_for(lambda: pids(1), "sleep runs at peer 1")
    check_equal(subprocess.run([*testbed, "up", "--peers", "1", "--rate", "none"]).returncode, 0,
                "exit of another up")
    check_equal(namespaces(NAME), [f"ako-{NAME}-1", f"ako-{NAME}-bridge"], "namespaces")
    lasting.wait(timeout=10)  # what ran in the old one was ended with it
    for _ in range(2):
        check_equal(subprocess.run([*testbed, "down"]).returncode, 0, "exit of down")
        check_equal(namespaces(NAME), [], "namespaces")
    absent = subprocess.run([*testbed, "exec", "1", "--", "true"], capture_output=True, text=True)
    check(absent.returncode == 1 and f"there is no ako-{NAME}-1" in absent.stderr, absent.stderr)
    wrong = subprocess.run([*testbed, "up", "--peers", "3", "--rate", "1mbit,2mbit"],
                           capture_output=True, text=True)
    check(wrong.returncode == 1 and "3 peers and 2 rates" in wrong.stderr, wrong.stderr)


def pids(peer):
    return subprocess.run(["ip", "netns", "pids", f"ako-{NAME}-{peer}"], capture_output=True,
                          text=True).stdout.split()


def interrupted_measurement(source, peer):
    """SIGINT in the middle: namespaces and peers are gone when the script has ended, and what had
    to be allowed for the machine meanwhile is not allowed any more."""
    allowed = ALLOWED_CONTROLS.read_text()
    measuring = subprocess.Popen([str(source / "experiments/freshness/measure.py"), "--peer", peer,
                                  "--seconds", "60"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
    name = f"freshness{measuring.pid}"
    wait_for(lambda: len(namespaces(name)) == 5, "the network is there")
    measuring.send_signal(signal.SIGINT)
    measuring.wait(timeout=60)
    check_equal(namespaces(name), [], "namespaces after an interrupt")
    check_equal(ALLOWED_CONTROLS.read_text(), allowed, "allowed congestion controls")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--peer", required=True)
    arguments = parser.parse_args()
    testbed = [str(arguments.source / "deploy/testbed"), "--name", NAME]
    try:
        shaped_network(testbed)
        up_again_and_down(testbed)
        interrupted_measurement(arguments.source, arguments.peer)
        goodput(testbed)
        share_of_a_core(testbed)
        left_by_a_crash(testbed)
    finally:
        subprocess.run([*testbed, "down"])
    print("ok: testbed")


if __name__ == "__main__":
    main()
