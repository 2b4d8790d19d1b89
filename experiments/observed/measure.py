#!/usr/bin/env python3
"""What does it cost a peer that somebody looks at it?

    experiments/observed/measure.py [--intervals 6]

Four peers of a quarter core each train LeNet on MNIST in the testbed, mode ako, in which nobody
waits for another. In turns of 10 s two of them are scraped once a second (/metrics), have a stream
of /events open and are asked for /bottleneck.json every two seconds, as by an open page, from a
fifth machine; then the other two. Printed is how many samples per second those make that are looked
at, as a ratio to those that are not at the same time. Needs root. Standard library only.
"""

import argparse
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "experiments"))
import runs  # noqa: E402

TESTBED = REPOSITORY / "deploy/testbed"
NAME = "observed"
PEERS = "abcd"
INTERVAL_S = 10
WARM_UP_S = 4
PORT = 9470

# What runs on the fifth machine: looks at the peers whose places are given, until it is ended.
LOOK = """
import sys, threading, time, urllib.request
def read_events(place):
    with urllib.request.urlopen(f"http://10.99.0.{place + 1}:{PORT + place}/events") as stream:
        while stream.readline():
            pass
places = [int(word) for word in sys.argv[1:]]
for place in places:
    threading.Thread(target=read_events, args=(place,), daemon=True).start()
for second in range(10 ** 6):
    began = time.monotonic()
    for place in places:
        at = f"http://10.99.0.{place + 1}:{PORT + place}"
        assert b"ako_rounds_total" in urllib.request.urlopen(at + "/metrics", timeout=5).read()
        if second % 2 == 0:
            urllib.request.urlopen(at + "/bottleneck.json", timeout=5).read()
    time.sleep(max(0, 1 - (time.monotonic() - began)))
""".replace("PORT", str(PORT))


def samples_at(folder, name):
    """Of the newest line of the peer."""
    text = (folder / f"metrics-{name}.jsonl").read_text()
    newest = text[:text.rindex("\n")].rsplit("\n", 1)[-1]
    return runs.renamed(json.loads(newest))["samples"]


def look(places):
    return subprocess.Popen([TESTBED, "--name", NAME, "exec", "5", "--", sys.executable, "-c", LOOK,
                             *[str(place) for place in places]])


def measure(folder, intervals):
    ratios = []
    for interval in range(intervals):
        seen = (0, 1) if interval % 2 == 0 else (2, 3)
        looker = look(seen)
        try:
            time.sleep(WARM_UP_S)
            before = [samples_at(folder, name) for name in PEERS]
            time.sleep(INTERVAL_S)
            after = [samples_at(folder, name) for name in PEERS]
            if looker.poll() is not None:
                sys.exit("who looks at the peers has failed")
        finally:
            looker.kill()
            looker.wait()
        made = [end - begin for begin, end in zip(before, after)]
        looked_at = sum(made[place] for place in seen)
        ratios.append(looked_at / (sum(made) - looked_at))
        print(f"turn {interval + 1}: {looked_at / INTERVAL_S:.0f} samples/s of those looked at, "
              f"{(sum(made) - looked_at) / INTERVAL_S:.0f} of the others: {ratios[-1]:.3f}",
              flush=True)
    print(f"ratio: median {statistics.median(ratios):.3f}, {min(ratios):.3f} to "
          f"{max(ratios):.3f} in {len(ratios)} turns")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--intervals", type=int, default=6)
    arguments = parser.parse_args()
    peers = ", ".join(f"{{name: {name}, address: '10.99.0.{k + 1}:7701'}}"
                      for k, name in enumerate(PEERS))
    subprocess.run([TESTBED, "--name", NAME, "up", "--peers", "5", "--rate", "1000mbit", "--cpus",
                    "0.25,0.25,0.25,0.25,0.5"], check=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "run"
        launch = subprocess.Popen(
            [arguments.program, "launch", REPOSITORY / "experiments/mnist/cluster.yaml", "--plain",
             "--in", f"{TESTBED} --name {NAME} exec {{number}} --", "--output-dir", folder,
             "--set", f"peers=[{peers}]", "--set", f"observe.address=0.0.0.0:{PORT}", "--set",
             "training.epochs=200", "--set", "training.evaluate_every=0"],
            stdout=subprocess.DEVNULL)
        try:
            time.sleep(WARM_UP_S)
            measure(folder, arguments.intervals)
        finally:
            launch.send_signal(signal.SIGINT)
            launch.wait(60)
            subprocess.run([TESTBED, "--name", NAME, "down"], check=True)


main()
