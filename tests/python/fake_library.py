"""libako.so as an object of Python: one peer alone in its cluster, for tests of the package.

It keeps the order of calls that include/ako/ako.h asks for, and refuses what that calls wrong. Its
anchor is the replica, so a run ends with what the peer has trained, unless `agreed_shift` is set.
What it reads of a cluster file: the names of the peers and `epochs`. Vectors are addresses, as for
the real one.
"""

import ctypes
import json
import re
import threading
import time

import numpy

OK, WRONG_CALL, START_UP, NUMBERS = 0, 1, 2, 3
TRAIN, WAIT, FINISH, GIVE_UP = 0, 1, 2, 3
FINISHING, FINISHED, FINISHED_WITHOUT = 0, 1, 2
OPENED, TRAINING, ENDING, OVER = 1, 2, 3, 4
STOP_PEER = 2
EXITS = {"finished": 0, "stopped_early": 7, "interrupted": 130, "not_agreed": 4, "failed": 2,
         "broken": 5, "numbers": 3, "left": 143}


class FakeLibrary:
    """One process's library. What a test sets: attributes of the first block."""

    def __init__(self):
        self.waits = 0             # so often WAIT is said before the first round
        self.slices = 0            # so often the final exchange is not over yet
        self.agreed_shift = 0.0    # what the agreed parameters have more than the replica
        self.give_up = None        # an ending: said in place of the first round
        self.refused_round = None  # whose losses are too many that are no numbers
        self.ending = None         # of the report, in place of what it would be
        self.evaluates = 1
        self.trainers, self.place = 1, 0
        self.on_begin = None       # called in every ako_begin_round

        self.calls = []
        self.forks = 0
        self.open = False
        self._clear()

    def _clear(self):
        self.thread = threading.get_ident()
        self.message, self.hint = b"", b""
        self.layout, self.requirements = None, {}
        self.samples, self.samples_per_round = None, 32
        self.data_digest = None
        self.epochs, self.parameters = 1.0, None
        self.started, self.in_round, self.over, self.finished = False, False, False, False
        self.rounds = self.trained = 0
        self.stops, self.left = [], False
        self.losses, self.announced, self.results, self.log = [], [], [], []
        self.ended_with = None
        self.failure = None

    # Its life.

    def ako_version(self):
        return b"0.0.0 (fake)"

    def ako_open(self, api_version, options, peer):
        self.calls.append("open")
        options = options._obj
        if self.open:
            peer._obj.value = 2
            return self._refuse("this process is a peer already",
                                "close it before")
        self._clear()
        self.open = True
        peer._obj.value = 1
        self.options = {"file": options.file, "peer": options.peer, "view": options.view,
                        "output_dir": options.output_dir,
                        "overrides": [options.overrides[k] for k in range(options.override_count)]}
        if options.file is None:
            return self._refuse("there is no cluster file", "name one")
        try:
            with open(options.file, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            return self._refuse(f"{options.file.decode()}: {error.strerror}", "")
        names = re.findall(r"name: (\w+)", text)
        if options.peer is None or options.peer.decode() not in names:
            return self._refuse(f"there is no peer {(options.peer or b'').decode()}",
                                f"they are {', '.join(names)}")
        self.name = options.peer.decode()
        epochs = re.search(r"epochs: ([\d.]+)", text)
        self.epochs = float(epochs[1]) if epochs else 1.0
        return OK

    def ako_message(self, peer):
        return self.message

    def ako_hint(self, peer):
        return self.hint

    def ako_fail(self, peer, why):
        if (wrong := self._wrong(True)) is not None:
            return wrong
        self.failure = self.failure or why.decode()
        return OK

    def ako_close(self, peer):
        if peer == 1:
            self.calls.append("close")
            self.open = False

    def ako_after_fork(self, peer):
        self.forks += 1

    # Before training.

    def ako_set_layout(self, peer, tensors, count):
        if (wrong := self._wrong(not self.started and self.layout is None)) is not None:
            return wrong
        self.layout = []
        for tensor in tensors[:count]:
            shape = tuple(tensor.shape[:tensor.dimensions])
            strides = tuple(tensor.strides[:tensor.dimensions]) if tensor.strides else None
            self.layout.append((tensor.name.decode(), shape, strides))
        self.count = sum(int(numpy.prod(shape)) for _, shape, _ in self.layout)
        return OK

    def ako_set_data(self, peer, samples, samples_per_round):
        if (wrong := self._wrong(not self.started and self.samples is None)) is not None:
            return wrong
        self.samples, self.samples_per_round = samples, samples_per_round or 32
        return OK

    def ako_set_data_digest(self, peer, digest):
        if (wrong := self._wrong(not self.started and self.data_digest is None)) is not None:
            return wrong
        self.data_digest = digest.decode()
        return OK

    def ako_require_equal(self, peer, key, value):
        if (wrong := self._wrong(not self.started)) is not None:
            return wrong
        self.requirements[key.decode()] = value.decode()
        return OK

    def ako_start(self, peer, initial, whose):
        ready = not self.started and self.layout is not None and self.samples is not None
        if (wrong := self._wrong(ready)) is not None:
            return wrong
        self.parameters, self.initial_of = self._at(initial).copy(), whose
        self.started = True
        return OK

    # Training.

    def ako_begin_round(self, peer, timeout_s, parameters, next_):
        if (wrong := self._wrong(self.started and not self.finished)) is not None:
            return wrong
        if self.on_begin:
            self.on_begin()
        next_._obj.value = self._next(timeout_s)
        if next_._obj.value == TRAIN:
            self._at(parameters)[:] = self.parameters
            self.in_round = True
        return OK

    def _next(self, timeout_s):
        if self.waits > 0:
            self.waits -= 1
            time.sleep(timeout_s)
            return WAIT
        if self.give_up or self.ended_with == "numbers":
            self.ended_with = self.give_up or "numbers"
            self.message, self.hint = b"it cannot go on", b"wait for it"
            return GIVE_UP
        if self.stops or self.trained >= self.epochs * self.samples:
            self.left = STOP_PEER in self.stops and not self.over
            self.over, self.in_round = True, False
            return FINISH
        return TRAIN

    def ako_end_round(self, peer, parameters, loss):
        if (wrong := self._wrong(self.in_round)) is not None:
            return wrong
        self.in_round = False
        loss = None if loss is None else loss._obj.value
        if not numpy.isfinite(self._at(parameters)).all():
            self.ended_with = "numbers"
            self.message, self.hint = b"a parameter is not finite", b"use a smaller learning rate"
            return NUMBERS
        if self.rounds + 1 == self.refused_round:
            self.ended_with = "numbers"
            self.message = b"20 losses in a row are not finite"
            return NUMBERS
        self.parameters = self._at(parameters).copy()
        self.rounds += 1
        self.trained += self.samples_per_round
        self.losses.append(loss)
        self.log.append(f"round {self.rounds}".encode())
        return OK

    def ako_copy_anchor(self, peer, out):
        if (wrong := self._wrong(self.started)) is not None:
            return wrong
        self._at(out)[:] = self.parameters
        return OK

    def ako_get_state(self, peer):
        if not self.started:
            return OPENED
        return OVER if self.ended_with else ENDING if self.over else TRAINING

    def ako_get_standing(self, peer, standing):
        if (wrong := self._wrong(True)) is not None:
            return wrong
        got = standing._obj
        assert got.size == ctypes.sizeof(type(got))
        got.rounds, got.samples = self.rounds, self.trained
        got.progress = min(1.0, self.trained / (self.epochs * (self.samples or 1)))
        got.epochs, got.seed, got.place, got.trainers = self.epochs, 1, self.place, self.trainers
        got.batch, got.evaluates = self.samples_per_round, self.evaluates
        return OK

    def ako_announce(self, peer, progress, accuracy, loss):
        if (wrong := self._wrong(self.started)) is not None:
            return wrong
        self.announced.append((progress, accuracy, loss and loss._obj.value))
        return OK

    def ako_request_stop(self, peer, what):
        self.stops.append(what)

    def ako_stops_requested(self, peer):
        return len(self.stops)

    # The end.

    def ako_step_finish(self, peer, timeout_s, out, finish):
        if (wrong := self._wrong(self.over)) is not None:
            return wrong
        self.slices -= 1
        finish._obj.value = FINISHING
        if self.slices < 0:
            self.finished = True
            finish._obj.value = FINISHED_WITHOUT if self.left else FINISHED
            self.ended_with = self.ended_with or (
                "left" if self.left else "interrupted" if self.stops else "finished")
            if not self.left:
                self._at(out)[:] = self.parameters + numpy.float32(self.agreed_shift)
        return OK

    def ako_final_result(self, peer, accuracy, loss):
        if (wrong := self._wrong(self.finished and not self.left)) is not None:
            return wrong
        self.results.append((accuracy, loss and loss._obj.value))
        return OK

    def ako_report(self, peer, text):
        if (wrong := self._wrong(True)) is not None:
            return wrong
        ending = self.ending or self.ended_with
        if ending is None:
            text._obj.value = None
            return OK
        agreed = ending in ("finished", "stopped_early", "interrupted")
        self.calls.append("report")
        text._obj.value = json.dumps({
            "name": self.name, "ending": ending, "why": f"it has {ending}", "exit": EXITS[ending],
            "rounds": self.rounds, "samples": self.trained, "agreed": agreed, "identical": agreed,
            "digest": "0123456789abcdef" if agreed else "", "finished_with": [self.name],
            "lost_peers": []}).encode()
        return OK

    def ako_metrics(self, peer, text):
        text._obj.value = b"{}"
        return OK

    def ako_run_folder(self, peer):
        return b"runs/fake" if self.started else b""

    def ako_take_log(self, peer, line):
        line._obj.value = self.log.pop(0) if self.log else None
        return OK

    def _at(self, address):
        return numpy.ctypeslib.as_array((ctypes.c_float * self.count).from_address(address))

    def _refuse(self, what, hint):
        self.message, self.hint = what.encode(), hint.encode()
        return START_UP

    def _wrong(self, is_right):
        self.message, self.hint = b"", b""
        if threading.get_ident() != self.thread:
            return WRONG_CALL
        elif not is_right:
            self.message = b"a call that is not in order"
        return WRONG_CALL if self.message else None
