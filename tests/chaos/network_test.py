"""The network of chaos runs and the thread that hangs, with an echo instead of peers. Python's
standard library only. Exits 77 and says why where namespaces cannot be made.

    network_test.py --source REPOSITORY
"""

import argparse
import os
import select
import subprocess
import sys
import tempfile
import time

import disk as disks
import lives
from network import SKIPPED, Broken, Effect, Network, Skip, effects_between

from bench import Failure, check, check_equal, wait_for

PORT = 7700
DELAY_MS = 20
PATIENCE_S = 10
ECHO = f"""
import socket, threading
listener = socket.create_server(("", {PORT}))
print("ready", flush=True)
def echo(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while data := connection.recv(1 << 16):
            connection.sendall(data)
    except OSError:
        pass
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""
# Sends what it is told and says when as much has come back, or why not.
CALLER = f"""
import socket, sys
connection = socket.create_connection((sys.argv[1], {PORT}), timeout=10)
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print("ready", flush=True)
for line in sys.stdin:
    try:
        left = int(line)
        connection.sendall(bytes(left))
        while left > 0:
            data = connection.recv(1 << 16)
            if not data:
                raise ConnectionResetError()
            left -= len(data)
        print("back", flush=True)
    except OSError as error:
        print(type(error).__name__, flush=True)
"""
TWO_THREADS = """
import threading, time
def count(name):
    while True:
        print(name, flush=True)
        time.sleep(0.01)
threading.Thread(target=count, args=("second",), daemon=True).start()
count("first")
"""


def start(network, place, script, *words):
    process = subprocess.Popen([*network.inside(place), sys.executable, "-c", script, *words],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    check_equal(process.stdout.readline(), "ready\n", f"the first word of place {place}")
    return process


def answer(caller, seconds):
    """What it says within that time, or None."""
    ready, _, _ = select.select([caller.stdout], [], [], seconds)
    return caller.stdout.readline().strip() if ready else None


def call(caller, count=1, seconds=PATIENCE_S):
    """(what it says, after how many seconds)"""
    began = time.monotonic()
    caller.stdin.write(f"{count}\n")
    caller.stdin.flush()
    return answer(caller, seconds), time.monotonic() - began


def delayed(network, caller):
    said, seconds = call(caller)
    check_equal(said, "back", "an echo")
    check(2 * DELAY_MS <= 1e3 * seconds < 2 * DELAY_MS + 30, f"{seconds} s for two delays")
    network.apply("far", effects_between("delay", [1], [2], 150))
    said, seconds = call(caller)
    check(0.15 + DELAY_MS / 1e3 <= seconds < 0.3, f"{seconds} s with 150 ms one way")
    network.remove("far")
    check(call(caller)[1] < 0.1, "it is as near as before")


def silent(network, caller):
    """Each of three ways, in either direction; then what was sent arrives after all."""
    for kind, value in (("cut", None), ("hold", None), ("loss", 1.0)):
        for wire in (([1], [2]), ([2], [1])):
            network.apply("one", effects_between(kind, *wire, value))
            network.apply("other", effects_between(kind, *wire, value))
            said, _ = call(caller, seconds=0.5)
            check_equal(said, None, f"an echo while {kind} of {wire}")
            network.remove("one")
            check_equal(answer(caller, 0.3), None, f"an echo while {kind} stands once more")
            network.remove("other")
            check_equal(answer(caller, PATIENCE_S), "back", f"the echo after {kind} of {wire}")


def reset(network, caller):
    network.apply("reset", effects_between("reset", [1], [2]) + effects_between("reset", [2], [1]))
    said, _ = call(caller)
    network.remove("reset")
    check_equal(said, "ConnectionResetError", "what the caller's connection came to")
    with start(network, 1, CALLER, network.address(2)) as again:
        check_equal(call(again)[0], "back", "an echo over a new connection")
        again.stdin.close()


def slow(network, caller):
    network.apply("slow", [Effect("rate", 1, 1, "2mbit")])
    said, seconds = call(caller, 250_000, 30)
    check_equal(said, "back", "250 kB")
    check(seconds > 0.7, f"250 kB there and back in {seconds} s at 2 Mbit/s")
    network.remove("slow")
    said, seconds = call(caller, 250_000, 30)
    check(seconds < 0.7, f"250 kB there and back in {seconds} s at 50 Mbit/s")


def fails(network):
    """What breaks when the network stands is a failure and no reason to skip."""
    network.delays.kill()
    network.delays.wait()
    for what, act in (("a command to nobody", lambda: network.apply(
            "late", effects_between("cut", [1], [2]))), ("a tool that fails", lambda: network.apply(
                "late", [Effect("rate", 1, 1, "nonsense")]))):
        try:
            act()
        except Broken:
            continue
        raise Failure(f"{what} is not told")


def hangs():
    process = subprocess.Popen([sys.executable, "-c", TWO_THREADS], stdout=subprocess.PIPE)
    holder = type("Process", (), {"process": process})()
    life = lives.Life("x", 1, "first", "none", holder)
    os.set_blocking(process.stdout.fileno(), False)

    def counted(seconds=0.3):
        time.sleep(seconds)  # how much is counted in a time is what is asked
        data = process.stdout.read() or b""
        return data.count(b"first"), data.count(b"second")

    try:
        wait_for(lambda: all(counted(0.1)), "both threads count", PATIENCE_S)
        check_equal(life.hang(), "hangs", "what hang.py says")
        counted(0.1)
        one, other = counted()
        check(one == 0 and other > 0, f"while it hangs: {one} and {other}")
        life.go_on()
        wait_for(lambda: all(counted(0.1)), "both threads count again", PATIENCE_S)
    finally:
        process.kill()
        process.wait()


def writes_beside_full_disks(network):
    """What a process said is kept where it is not its disk that is full."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = lives.Cluster("echo", "cluster.yaml", ["a", "b"], network, folder)
        disk = disks.Disk(cluster.output("a"), 1)
        check(disk.mount(), "a disk can be mounted")
        try:
            disk.fill()
            life = cluster.start("a")
            wait_for(life.poll, "the process ends", PATIENCE_S)
            with open(life.log) as file:
                check("train cluster.yaml --peer a" in file.read(), "what it said is in the file")
        finally:
            disk.keep()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", required=True)
    arguments = parser.parse_args()
    try:
        with Network(arguments.source, f"chaostest{os.getpid()}", 2, delay_ms=DELAY_MS,
                     jitter_ms=1, loss=0) as network:
            with start(network, 2, ECHO) as echo, start(network, 1, CALLER,
                                                        network.address(2)) as caller:
                try:
                    for test in (delayed, silent, slow, reset):
                        test(network, caller)
                        print(f"ok     {test.__name__}", flush=True)
                finally:
                    caller.kill()
                    echo.kill()
            writes_beside_full_disks(network)
            print("ok     writes_beside_full_disks", flush=True)
            fails(network)
            print("ok     fails", flush=True)
        hangs()
        print("ok     hangs")
        return 0
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    except (Broken, Failure) as failure:
        print(f"FAILED: {failure}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
