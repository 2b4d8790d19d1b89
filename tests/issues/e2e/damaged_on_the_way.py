"""A bit that flips between two peers, past TCP's checksum, was believed: a ring ended with
different parameters and exit 0. Since protocol 4 it ends with status 5 and says why."""

import json
import os
import socket
import threading

from bench import check, check_equal

MODEL = dict(model="{name: synthetic, parameters: 50000, compute_ms: 4, samples: 25600}",
             training="learning_rate: 0.01, evaluate_every: 0")


class Proxy:
    """Carries what b dials a for, and flips bit 3 of byte number `flip_at` that goes from b to a on
    a connection; `flips` of them in all."""

    def __init__(self, address, flip_at, flips):
        host, port = address.split(":")
        self.target = (host, int(port))
        self.flip_at, self.left, self.flipped = flip_at, flips, 0
        self.lock = threading.Lock()
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(8)
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                dialler, _ = self.listener.accept()
            except OSError:
                return
            try:
                target = socket.create_connection(self.target)
            except OSError:
                dialler.close()
                continue
            for source, sink, flips in ((dialler, target, True), (target, dialler, False)):
                threading.Thread(target=self._carry, args=(source, sink, flips),
                                 daemon=True).start()

    def _carry(self, source, sink, flips):
        carried = 0
        try:
            while data := source.recv(65536):
                if flips and carried <= self.flip_at < carried + len(data) and self._take():
                    data = bytearray(data)
                    data[self.flip_at - carried] ^= 8
                carried += len(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _take(self):
        with self.lock:
            if self.left == 0:
                return False
            self.left, self.flipped = self.left - 1, self.flipped + 1
            return True

    def close(self):
        self.listener.close()


def train(bench, proxy_of, *words):
    """Starts a, and b, which knows a by the proxy alone; a cannot dial b."""
    file = bench.file(2, **MODEL)
    with open(file) as text:
        address = next(line.split("'")[1] for line in text if "name: a," in line)
    proxy = proxy_of(address)
    nowhere = "127.0.0.1:1"
    with open(file) as text:
        own = next(line.split("'")[1] for line in text if "name: b," in line)
    sets = [word for key in words for word in ("--set", key)]
    runs = {
        "a": bench.start("train", file, "--peer", "a", "--set", "output=out-a", *sets,
                         "--set", f"peers.1.address={nowhere}"),
        "b": bench.start("train", file, "--peer", "b", "--set", "output=out-b", *sets,
                         "--set", f"peers.0.address={proxy.address}",
                         "--set", f"peers.1.listen={own}"),
    }
    return proxy, runs


def result(bench, name):
    with open(os.path.join(bench.folder, f"out-{name}", "latest", f"result-{name}.json")) as file:
        return json.load(file)


def case_damaged_on_the_way(bench):
    proxy, runs = train(bench, lambda address: Proxy(address, 3_000_000, 1), "exchange.mode=ring")
    for name in "ab":
        runs[name].expect(5, 60)
    check_equal(proxy.flipped, 1, "bits that were flipped")
    proxy.close()
    why = result(bench, "a")["why"]
    check("peer b" in why and "damaged" in why, f"a says what happened: {why}")
