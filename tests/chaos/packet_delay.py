#!/usr/bin/env python3
"""What happens to packets between network namespaces, one by one: delay, loss, stalls, silence and
resets. In the place of netem, which not every kernel has.

    packet_delay.py --seed 1 PATH-OF-NAMESPACE ...

In each namespace a rule of iptables hands what comes in to queue 0 (`NFQUEUE --queue-num 0`). The
packets stay in the kernel; this program is told the sender of each and says after the delay of
that wire whether it goes on. A rule before that rejects what has mark 1: such packets come around
again, and their connection is reset. Rules are never changed while peers run: each change waits
for threads of the kernel, on a busy machine for seconds. A wire is one direction of a pair:
(receiver, sender). No packet overtakes another of its wire, whatever the jitter; TCP runs from end
to end, and sees what a long or bad line does to it.

Commands come as JSON, one a line, and each is answered by the line "ok":

    {"receiver": 0, "sender": "10.99.0.2", "delay_ms": 10, "jitter_ms": 2, "loss": 0.001,
     "hold": false, "reset": false}

`receiver` counts the namespaces of the command line from 0; what is held is let go together when
`hold` ends; a loss of 1 is silence. A wire of which nothing was said delays nothing. The end of
the input is the end of the program: what then waits in the queues is dropped by the kernel, so the
rules must be gone before.
"""

import argparse
import ctypes
import errno
import heapq
import json
import os
import random
import select
import socket
import struct
import sys
import time

NETLINK_NETFILTER = 12
SOL_NETLINK, NETLINK_NO_ENOBUFS = 270, 5
CLONE_NEWNET = 0x40000000
# linux/netfilter/nfnetlink_queue.h
QUEUE = 3 << 8
PACKET, VERDICT, CONFIG = QUEUE | 0, QUEUE | 1, QUEUE | 2
CFG_CMD, CFG_PARAMS, CFG_QUEUE_MAXLEN, CFG_MASK, CFG_FLAGS = 1, 2, 3, 4, 5
CMD_BIND = 1
COPY_PACKET = 2
FLAG_GSO = 4  # whole segments, as the kernel has them, and not cut into packets for this queue
ATTRIBUTE_PACKET, ATTRIBUTE_VERDICT, ATTRIBUTE_MARK, ATTRIBUTE_PAYLOAD = 1, 2, 3, 10
DROP, ACCEPT, REPEAT = 0, 1, 4
REJECTED = struct.pack(">I", 1)  # the mark
TCP, RST = 6, 4
REQUEST, ACK = 1, 4
NLMSG_ERROR = 2

HEADER_BYTES = 40  # of an IPv4 packet and of TCP, all that is looked at
# 4,096 segments of at most 16 KiB; what the kernel cannot queue it drops, as a full router does.
QUEUE_PACKETS_MAX = 4096
RECEIVE_BUFFER = 8 << 20
PACKETS_AT_ONCE = 256  # of one namespace, before the others have their turn


def attribute(kind, payload):
    padding = -len(payload) % 4
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(padding)


def message(kind, flags, payload):
    body = struct.pack(">BBH", 0, 0, 0) + payload  # any family, version 0, queue 0
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 0, 0) + body


def verdict(number, word):
    text = attribute(ATTRIBUTE_VERDICT, struct.pack(">II", word, number))
    if word == REPEAT:
        text += attribute(ATTRIBUTE_MARK, REJECTED)
    return message(VERDICT, REQUEST, text)


def may_be_reset(header):
    """TCP, and no reset itself: the other end's answer to ours ends the connection here."""
    return len(header) >= HEADER_BYTES and header[9] == TCP and not header[33] & RST


class Wire:
    """One direction of a pair."""

    def __init__(self):
        self.delay_s = self.jitter_s = self.loss = 0.0
        self.hold = self.reset = False
        self.held = []        # numbers of packets
        self.released_at = 0  # of the newest packet, so that none overtakes


class Namespace:
    """Queue 0 of one namespace."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        with open(path) as space:
            if libc.setns(space.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
        self.wires = {}  # by the sender's address as four bytes
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, RECEIVE_BUFFER)  # SO_RCVBUFFORCE
        self.socket.setsockopt(SOL_NETLINK, NETLINK_NO_ENOBUFS, 1)
        self.configure(CFG_CMD, struct.pack(">BxH", CMD_BIND, socket.AF_INET))
        self.configure(CFG_PARAMS, struct.pack(">IB", HEADER_BYTES, COPY_PACKET))
        self.configure(CFG_QUEUE_MAXLEN, struct.pack(">I", QUEUE_PACKETS_MAX))
        flag = struct.pack(">I", FLAG_GSO)
        self.ask(attribute(CFG_FLAGS, flag) + attribute(CFG_MASK, flag))
        self.socket.setblocking(False)

    def configure(self, kind, payload):
        self.ask(attribute(kind, payload))

    def ask(self, attributes):
        self.socket.send(message(CONFIG, REQUEST | ACK, attributes))
        self.socket.settimeout(5)
        answer = self.socket.recv(1 << 16)
        kind, = struct.unpack_from("=H", answer, 4)
        error, = struct.unpack_from("=i", answer, 16)
        if kind != NLMSG_ERROR or error != 0:
            raise OSError(-error, os.strerror(-error), "queue 0 of netfilter")

    def wire(self, sender):
        return self.wires.setdefault(sender, Wire())

    def packets(self):
        """(number, the first bytes) of those that have come."""
        for _ in range(PACKETS_AT_ONCE):
            try:
                data = self.socket.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.ENOBUFS:
                    continue  # some were dropped, as by a full router
                raise
            place = 0
            while place + 16 <= len(data):
                length, kind = struct.unpack_from("=IH", data, place)
                if kind == PACKET:
                    yield self.parse(data, place + 20, place + length)
                place += (length + 3) & ~3

    @staticmethod
    def parse(data, place, end):
        number, header = None, b""
        while place + 4 <= end:
            length, kind = struct.unpack_from("=HH", data, place)
            kind &= 0x3fff
            if kind == ATTRIBUTE_PACKET:
                number, = struct.unpack_from(">I", data, place + 4)
            elif kind == ATTRIBUTE_PAYLOAD:
                header = data[place + 4:place + length]
            place += (length + 3) & ~3
        return number, header

    def judge(self, verdicts):
        """What the kernel does not know any more, as after the rules changed, does not matter."""
        try:
            self.socket.send(b"".join(verdicts))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOBUFS):
                raise


class Delays:
    """All wires, and the packets that are on them."""

    def __init__(self, paths, seed):
        self.spaces = [Namespace(path) for path in paths]
        self.random = random.Random(seed)
        self.under_way = []  # (released at, order, namespace, number)
        self.order = 0

    def take(self, space, now):
        at_once = []
        for number, header in space.packets():
            wire = space.wires.get(header[12:16])
            if number is None:
                continue
            if wire is None:
                at_once.append(verdict(number, ACCEPT))
            elif wire.reset and may_be_reset(header):
                at_once.append(verdict(number, REPEAT))
            elif wire.loss and self.random.random() < wire.loss:
                at_once.append(verdict(number, DROP))
            elif wire.hold:
                wire.held.append(number)
            else:
                self.send(space, wire, number, now)
        if at_once:
            space.judge(at_once)

    def send(self, space, wire, number, now):
        due = now + wire.delay_s + wire.jitter_s * self.random.random()
        wire.released_at = max(wire.released_at, due)
        self.order += 1
        heapq.heappush(self.under_way,
                       (wire.released_at, self.order, self.spaces.index(space), number))

    def release(self, now):
        due = {}
        while self.under_way and self.under_way[0][0] <= now:
            _, _, space, number = heapq.heappop(self.under_way)
            due.setdefault(space, []).append(verdict(number, ACCEPT))
        for space, verdicts in due.items():
            self.spaces[space].judge(verdicts)

    def obey(self, line):
        command = json.loads(line)
        space = self.spaces[command["receiver"]]
        wire = space.wire(socket.inet_aton(command["sender"]))
        wire.delay_s = command.get("delay_ms", 0) / 1e3
        wire.jitter_s = command.get("jitter_ms", 0) / 1e3
        wire.loss = command.get("loss", 0)
        wire.hold, wire.reset = command.get("hold", False), command.get("reset", False)
        if not wire.hold:
            held, wire.held = wire.held, []
            for number in held:
                self.send(space, wire, number, time.monotonic())

    def run(self):
        poll = select.epoll()
        poll.register(sys.stdin.fileno(), select.EPOLLIN)
        by_descriptor = {space.socket.fileno(): space for space in self.spaces}
        for descriptor in by_descriptor:
            poll.register(descriptor, select.EPOLLIN)
        text = b""
        print("ok", flush=True)
        while True:
            wait = self.under_way[0][0] - time.monotonic() if self.under_way else 60
            for descriptor, _ in poll.poll(max(0, wait)):
                if descriptor in by_descriptor:
                    self.take(by_descriptor[descriptor], time.monotonic())
                    continue
                data = os.read(descriptor, 1 << 16)
                if not data:
                    return
                *lines, text = (text + data).split(b"\n")
                for line in lines:
                    self.obey(line)
                    print("ok", flush=True)
            self.release(time.monotonic())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("namespaces", nargs="+")
    arguments = parser.parse_args()
    try:
        delays = Delays(arguments.namespaces, arguments.seed)
    except OSError as error:
        print(f"no queue of netfilter: {error}", file=sys.stderr)
        return 77
    delays.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
