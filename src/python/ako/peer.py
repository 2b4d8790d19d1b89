"""Peer: the life of one peer in a run, from joining to the parameters that all agree on.

The library knows where its run stands (State). Before State.OPENED is over nothing was sent; from
State.FINISHING on there are no more rounds: the budget is spent, or somebody asked for the end.

One thread: that which called join. A child of fork may not use it.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import warnings
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Optional, Tuple, Type, Union

from ._library import Finish, Initial, Next, State, Stop
from ._native import NativePeer
from .batches import Batches, sample_count
from .errors import Error, Interrupted, NoAgreementWarning, NotFinite, error_class
from .report import Report, Standing
from .sampler import ShareSampler, make_sampler
from .signals import SignalHandlers
from .steps import BatchCounter, StepCounter
from .vector import Vector

SLICE_S = 0.1           # of waiting in the library, after which signals are handled
STEPLESS_MAX = 10_000   # batches in a row without a step: more than anybody accumulates
CHECK_EVERY = 100       # rounds between two looks at every tensor of the model
SAMPLES_SLACK = 1.5     # a first round may have so many times what it counts as, or the reverse

Result = Union[float, Tuple[float, float]]  # accuracy, or accuracy and loss

log = logging.getLogger("ako")


class Peer:
    """One peer of a cluster. ako.join makes it; leaving its `with` block finishes and closes it."""

    def __init__(self, native: NativePeer, vector: Vector,
                 steps: Union[StepCounter, BatchCounter], *, samples: Optional[int],
                 samples_per_round: Optional[int], local_steps: int, initial: Initial,
                 takes_log: bool, name: str) -> None:
        self.name = name
        # How many samples are in a batch, for what sample_count does not know.
        self.batch_samples: Callable[[Any], int] = sample_count
        self._native = native
        self._vector = vector
        self._steps = steps
        self._samples = samples          # in the data set of all peers
        self._samples_per_round = samples_per_round
        self._local_steps = local_steps
        self._initial = initial
        self._takes_log = takes_log
        self._signals = SignalHandlers(native.request_stop)
        self._ends_by_itself = False     # by finish or stop, before the budget was spent
        self._report: Optional[Report] = None
        self._losses: List[Any] = []     # of the round under way
        self._rounds = 0                 # made by this object
        self._odd_rounds = 0             # in a row, with other numbers of samples than said
        self._loop: Optional[object] = None  # which call of rounds() is the last
        self._anchor_inside = False
        self._anchor_progress: Optional[float] = None  # of the last anchor, until announced

    # What is known at any time.

    @property
    def standing(self) -> Standing:
        """How far the run is."""
        self._native.check_use()
        return self._native.standing()

    @property
    def progress(self) -> float:
        """0 .. 1 of the sample budget, over all peers."""
        return self.standing.progress

    @property
    def evaluates(self) -> bool:
        """It is this peer that should evaluate now: see anchor and announce."""
        return self.standing.evaluates

    @property
    def run_folder(self) -> str:
        """Where the results are; "" before training has begun."""
        self._native.check_use()
        return self._native.run_folder()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The tensors that are exchanged, by name: views of the vector, to be changed in place."""
        return self._vector.parameters

    def sampler(self, dataset: Any, shuffle: bool = True) -> ShareSampler:
        """For a DataLoader: the indices of this peer's share of `dataset`, without an end.

        The first one says how large the data set is, if join did not. Raises ValueError for a set
        with fewer samples than there are peers.
        """
        self._native.check_use()
        size = len(dataset)
        if self._samples is None:
            self._samples = size
        standing = self._native.standing()
        return make_sampler(size, standing.place, standing.trainers, standing.seed, shuffle,
                            self._first_pass)

    def _first_pass(self, share: int) -> int:
        """A process that takes the place of an earlier one goes on where that was."""
        return self._native.standing().samples // share

    # Training.

    def rounds(self, loader: Iterable[Any], *,
               samples_of: Optional[Callable[[Any], int]] = None) -> Iterator[Any]:
        """Yields batches until the cluster's budget or target is reached; then call finish.

        A round begins before a batch, and ends when the optimizer has made its steps with it: the
        batches of a gradient that is accumulated belong to one round. What the model's parameters
        are then more than at its beginning, by whatever means, is this peer's step; so are those
        of a load_state_dict in the loop. A round that is left by break or by an exception is none.

        loader: iterated again whenever it is exhausted, such as a DataLoader.
        samples_of: how many samples are in a batch, if other than its first tensor says. The first
            batch says what a round counts as, unless join did; see there.

        Raises ValueError if the size of the data set is not known, StartupError, NotFinite,
        Interrupted or Error if there is no going on, RuntimeError if the optimizer never steps or
        the model no longer lies in the vector.
        """
        self._native.check_use()
        batches = Batches(loader)
        samples_of = samples_of or self.batch_samples
        self._start(batches, samples_of)
        self._loop = loop = object()
        while self._begin():
            try:
                yield from self._round(batches, samples_of, loop)
            except Exception as error:
                # Ctrl-C reaches the processes of a DataLoader too, and it fails without them. The
                # end was asked for, so the next look at the library says that training is over.
                if batches.failures != 1 or self._native.stops_requested() == 0:
                    raise
                log.warning("the loader failed after the end was asked for: %s", error)

    def _round(self, batches: Batches, samples_of: Callable[[Any], int],
               loop: object) -> Iterator[Any]:
        """The batches of one round; it is ended when they have come back and steps were made."""
        self._losses.clear()
        begun_at = self._steps.count
        samples = 0
        for _ in range(STEPLESS_MAX):
            batch = batches.next()
            samples += samples_of(batch)
            yield batch
            if self._loop is not loop:
                raise RuntimeError("another loop over peer.rounds() has begun in the meantime")
            if self._native.state() >= State.FINISHING:
                return
            self._steps.batch_is_done()
            if self._steps.count - begun_at >= self._local_steps:
                self._end(samples)
                return
        raise RuntimeError(f"in {STEPLESS_MAX:,} batches optimizer.step() was never called "
                           "on the optimizer that was handed to ako.join")

    def _start(self, batches: Batches, samples_of: Callable[[Any], int]) -> None:
        if self._native.state() > State.OPENED:
            return
        if self._samples is None:
            raise ValueError("nobody has said how large the data set is: give its size, of all "
                             "peers together, to ako.join(samples=..) or use peer.sampler(dataset)")
        self._vector.check(thorough=True)
        if self._samples_per_round is None:
            samples = batches.batch_size() if samples_of is sample_count else None
            samples = samples or samples_of(batches.peek())
            self._samples_per_round = samples * self._local_steps
        self._native.set_data(self._samples, self._samples_per_round)
        self._vector.store()
        self._signals.install()
        try:
            self._native.start(self._vector.pointer(), self._initial)
        except BaseException:
            self._signals.restore()
            raise

    def _begin(self) -> bool:
        """Is there another round? Then the model holds the parameters to compute at."""
        self._native.check_use()
        if self._anchor_inside:
            raise RuntimeError("the model holds the anchor: no round begins inside peer.anchor()")
        while self._native.state() < State.FINISHING:
            said = self._native.begin_round(SLICE_S, self._vector.pointer())
            if said == Next.GIVE_UP:
                self._give_up()
            self._take_log()
            if said == Next.TRAIN:
                self._vector.load()
                return True
        return False

    def _end(self, samples: int) -> None:
        if self._anchor_inside:
            raise RuntimeError("the model holds the anchor: no round ends inside peer.anchor()")
        self._vector.check(thorough=self._rounds % CHECK_EVERY == 0)
        self._compare_samples(samples)
        self._vector.store()
        loss = self._mean_loss()
        try:
            self._native.end_round(self._vector.pointer(), loss)
        except NotFinite as error:
            raise self._not_finite(error) from None
        self._rounds += 1

    def _mean_loss(self) -> float | None:
        """Of the round, as far as finite: of a step that a GradScaler skips it may be anything."""
        values = [float(value) for value in self._losses]
        counted = [value for value in values if math.isfinite(value)] or values
        return sum(counted) / len(counted) if counted else None

    def _compare_samples(self, samples: int) -> None:
        """Of the first rounds: the budget would last too long, or be spent too soon. One may be
        longer, for a GradScaler skips its first steps."""
        counted = self._samples_per_round or samples
        is_near = counted / SAMPLES_SLACK <= samples <= counted * SAMPLES_SLACK
        self._odd_rounds = 0 if is_near else self._odd_rounds + 1
        if self._odd_rounds == 2 and self._rounds < CHECK_EVERY:
            warnings.warn(f"a round has {samples} samples and counts as {counted}: say how many a "
                          "round has, ako.join(samples_per_round=..)", stacklevel=5)

    def _not_finite(self, error: NotFinite) -> NotFinite:
        """With the name of a parameter, and after the result files are written."""
        name = self._vector.first_not_finite()
        what = f"{error.what} (the first is in {name})" if name else error.what
        with contextlib.suppress(RuntimeError):
            self._make_report()
        self._take_log()
        return NotFinite(what, error.hint, report=self._report)

    def _give_up(self) -> None:
        """Raises what the exit status stands for; the result files have been written."""
        what, hint = self._native.message()
        report = self._make_report()
        self._take_log()
        status = (report.exit if report else 0) or Error.exit
        raise error_class(status)(what or (report.why if report else "") or "training ended",
                                  hint, exit=status, report=report)

    def loss(self, value: Any) -> None:
        """The loss of the step just made, a float or a tensor of one element, for the metrics.

        Several of one round are averaged, those that are no numbers left out. Without it, or where
        none is a number, it is shown as unknown. Rounds without a number are counted, and twenty in
        a row end this peer: NotFinite.
        """
        detach = getattr(value, "detach", None)
        self._losses.append(value if detach is None else detach())

    def stop(self) -> None:
        """Asks for the end: all peers stop after their round and agree, as for early stopping.

        rounds() ends at its next batch. The report of this peer then has the exit status 130, and
        those of the others 7, unless the budget was spent anyway.
        """
        self._ends_by_itself = True
        self._native.request_stop(Stop.RUN)

    # Evaluating.

    @contextlib.contextmanager
    def anchor(self) -> Iterator[None]:
        """Inside the model holds the anchor, to evaluate or to save; after that its own again.

        The anchor is what all peers would agree on now. Raises RuntimeError if it is nested, and
        if the optimizer has stepped inside: that step is lost. After finish the model holds the
        agreed parameters, and they stay.
        """
        self._native.check_use()
        if self._anchor_inside:
            raise RuntimeError("peer.anchor() is inside another one")
        if self._report is not None:
            yield
            return
        self._vector.check(thorough=True)
        kept = self._vector.keep()
        steps = self._steps.count
        self._anchor_inside = True
        try:
            self._native.copy_anchor(self._vector.pointer())
            self._vector.load()
            self._anchor_progress = self._native.standing().progress
            yield
        finally:
            self._vector.put_back(kept)
            self._anchor_inside = False
        if self._steps.count != steps:
            raise RuntimeError("the optimizer has stepped inside peer.anchor(): what it did to "
                               "the parameters is lost. Train outside of it")

    def announce(self, accuracy: float, loss: Optional[float] = None) -> None:
        """A test result, accuracy 0 .. 1, of the last anchor: all peers show it, and one that
        reaches training.target_accuracy ends the run. ValueError: an accuracy in per cent."""
        self._native.check_use()
        accuracy, loss = _accuracy_and_loss((accuracy, loss))
        progress, self._anchor_progress = self._anchor_progress, None
        self._native.announce(self.progress if progress is None else progress, accuracy, loss)

    # The end.

    def finish(self, evaluate: Optional[Callable[[], Result]] = None) -> Report:
        """Agrees with the other peers; then the model holds the parameters that all have.

        If training is not over, this peer leaves alone and the others go on. What it has learned
        stays with them, and its model keeps its own parameters. Called again it returns the same
        report.

        evaluate: called with the agreed parameters in the model; its accuracy, 0 .. 1, or accuracy
            and loss go to the result files. Not called if there are none.

        If `evaluate` raises, finish may be called again with another one.

        Warns with NoAgreementWarning if the report has not agreed. After all is written, raises
        Interrupted if a signal has ended it, and NotFinite if the common parameters are not. What
        rounds raises is raised here too.
        """
        if self._report is not None:
            return self._report
        state = self._native.state()
        if state == State.OPENED:
            raise RuntimeError("training has not begun: there is nothing to finish. Go through "
                               "peer.rounds(loader) first")
        if state < State.FINISHING:
            self._ends_by_itself = True
            self._native.request_stop(Stop.PEER)
        while self._begin():
            # Where all wait for each other, they end after rounds that every peer makes: this one
            # changes nothing in them. In the mode ako there are none.
            self._native.end_round(self._vector.pointer(), None)
        if self._agree() and evaluate is not None:
            self._native.final_result(*_accuracy_and_loss(evaluate()))
        report = self._make_report()
        self._take_log()
        if report is None:
            raise RuntimeError("the library has no report of a run that is over")
        return self._judged(report)

    def _agree(self) -> bool:
        """The final exchange. True: the model has its parameters; False: there are none."""
        self._vector.check(thorough=True)
        finish = Finish.FINISHING
        while finish == Finish.FINISHING:
            finish = self._native.step_finish(SLICE_S, self._vector.pointer())
            self._take_log()
        if finish == Finish.FINISHED:
            self._vector.load()
        return finish == Finish.FINISHED

    def _judged(self, report: Report) -> Report:
        if report.exit == NotFinite.exit:
            raise NotFinite(report.why or "a common parameter is not finite", report=report)
        if not report.agreed:
            warnings.warn(_warning(report), NoAgreementWarning, stacklevel=3)
        by_itself = self._ends_by_itself and self._signals.seen == 0
        if report.exit in (130, 143) and not by_itself:
            raise Interrupted(report.why or "a signal ended the run", exit=report.exit,
                              report=report)
        return report

    def _make_report(self) -> Optional[Report]:
        if self._report is None:
            json = self._native.report()
            self._report = None if json is None else Report.from_json(json)
        return self._report

    def close(self) -> None:
        """Ends it. A peer that has not finished says goodbye, and the others go on without it."""
        if self._native.closed or os.getpid() != self._native.process:
            return
        self._steps.close()
        self._take_log()
        try:
            self._native.close()  # it may take a while to leave, in which signals still count
        finally:
            self._signals.restore()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """Finishes what has begun, unless by an exception; closes it in any case."""
        if os.getpid() != self._native.process:
            return  # a child that runs out of the block: its parent goes on with the peer
        try:
            if isinstance(error, SystemExit) and error.code in (None, 0):
                pass  # the program ends as it wants to: this peer leaves
            elif error is not None:
                self._native.fail(error)
            elif not self._native.closed and self._native.state() > State.OPENED:
                self.finish()
        finally:
            self.close()

    def _take_log(self) -> None:
        if self._takes_log and not self._native.closed:
            for line in self._native.take_log():
                log.info("%s", line)


def _accuracy_and_loss(result: Any) -> Tuple[float, Optional[float]]:
    accuracy, loss = result if isinstance(result, (tuple, list)) else (result, None)
    if not -1e-5 <= accuracy <= 1 + 1e-5:  # sums of float32 may be a little beyond
        raise ValueError(f"{float(accuracy):g} is no accuracy: it is 0 .. 1")
    return float(accuracy), None if loss is None else float(loss)


def _warning(report: Report) -> str:
    why = f": {report.why}" if report.why else ""
    if report.left:
        return f"this peer left before the end, so the model holds its own parameters{why}"
    return f"the peers have not agreed, so the model holds no common parameters{why}"
