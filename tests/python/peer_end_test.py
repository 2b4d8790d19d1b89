"""The end of a Peer's life, with a fake library: finishing, leaving and signals."""

import os
import signal
import sys
import time
import unittest
import warnings

import numpy as np

import ako
from ako import _library
from peer_case import Descent, PeerCase


class Finishing(PeerCase):
    def train(self, peer, rounds=None):
        for k, batch in enumerate(peer.rounds([[1]]), 1):
            peer.parameters["b"] += 1
            if k == rounds:
                break

    def test_agreed_parameters(self):
        self.library.agreed_shift, self.library.slices = 0.5, 3
        with self.join(samples=4) as peer:
            self.train(peer)
            report = peer.finish()
            self.assertIs(peer.finish(), report)
        self.assertEqual(peer.parameters["b"].tolist(), [4.5, 4.5])
        self.assertEqual(peer.parameters["w"][0, 0], 0.5)
        self.assertIs(peer.finish(), report, "after it is closed, too")

    def test_report_of_an_older_library(self):
        for key in ("samples", "images"):
            self.assertEqual(ako.Report.from_json({key: 12}).samples, 12, key)

    def test_evaluate(self):
        for result, told in ((0.75, (0.75, None)), ((0.75, 2), (0.75, 2.0)),
                             (np.float32(0.75), (0.75, None))):
            self.library.agreed_shift = 1
            with self.join(samples=4) as peer:
                self.train(peer)
                seen = []
                peer.finish(lambda: seen.append(peer.parameters["b"][0]) or result)
            self.assertEqual(seen, [5.0])
            self.assertEqual(self.library.results, [told])

    def test_evaluate_fails(self):
        with self.assertRaises(ZeroDivisionError), self.join(samples=4) as peer:
            self.train(peer)
            peer.finish(lambda: 1 / 0)
        self.assertFalse(self.library.open)

    def test_forgotten(self):
        self.library.agreed_shift = 0.5
        with self.join(samples=4) as peer:
            self.train(peer)
        self.assertEqual(peer.parameters["b"].tolist(), [4.5, 4.5])
        self.assertEqual(self.library.calls, ["open", "report", "close"])

    def test_leaving(self):
        self.library.agreed_shift = 9
        with self.join(samples=4) as peer:
            self.train(peer, 3)
            with self.assertWarnsRegex(ako.NoAgreementWarning, "left before the end"):
                report = peer.finish(lambda: self.fail("there are no common parameters"))
        self.assertTrue(report.left)
        self.assertEqual(report.exit, 143)
        self.assertEqual(self.library.stops, [_library.Stop.PEER])
        self.assertEqual(peer.parameters["b"].tolist(), [3.0, 3.0], "its own")
        self.assertEqual(peer.parameters["w"][0, 0], 0, "none is left not a number")

    def test_no_agreement(self):
        self.library.ending = "not_agreed"
        with self.join(samples=4) as peer:
            self.train(peer)
            with self.assertWarns(ako.NoAgreementWarning) as caught:
                report = peer.finish()
        self.assertEqual(report.exit, 4)
        self.assertEqual(caught.filename, __file__)

    def test_common_parameters_not_finite(self):
        self.library.ending = "numbers"
        with self.assertRaises(ako.NotFinite), self.join(samples=4) as peer:
            self.train(peer)
        self.assertFalse(self.library.open)

    def test_never_begun(self):
        with self.join(samples=4) as peer:
            with self.assertRaisesRegex(RuntimeError, "training has not begun"):
                peer.finish()
        self.assertEqual(self.library.calls, ["open", "close"])

    def test_exception_in_the_loop(self):
        with self.assertRaises(KeyError), self.join(samples=4) as peer:
            for batch in peer.rounds([[1]]):
                raise KeyError("no such column")
        self.assertEqual(self.library.calls, ["open", "close"])
        self.assertEqual(self.library.failure, "KeyError: 'no such column'")
        with self.assertRaisesRegex(RuntimeError, "this peer is closed"):
            peer.progress
        with self.assertRaisesRegex(RuntimeError, "this peer is closed"):
            next(peer.rounds([[1]]))
        peer.close()

    def test_inside_the_loop(self):
        with self.join(samples=4) as peer, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = 0
            for batch in peer.rounds([[1]]):
                seen += 1
                if seen == 2:
                    peer.finish()
        self.assertEqual(seen, 2)

    def test_rounds_after_the_end(self):
        with self.join(samples=4) as peer:
            self.train(peer)
            self.assertEqual(list(peer.rounds([[1]])), [])

    def test_optimizer_is_given_back(self):
        optimizer = Descent()
        with self.join(optimizer, samples=4):
            self.assertIn("step", vars(optimizer))
        self.assertNotIn("step", vars(optimizer))


class Signals(PeerCase):
    def test_exit_without_an_error(self):
        with self.assertRaises(SystemExit), self.join(samples=100) as peer:
            for batch in peer.rounds([[1]]):
                sys.exit(0)
        self.assertIsNone(self.library.failure)
        self.assertIn("close", self.library.calls)
        with self.assertRaises(SystemExit), self.join(samples=100) as peer:
            for batch in peer.rounds([[1]]):
                sys.exit(3)
        self.assertEqual(self.library.failure, "SystemExit: 3")

    def test_interrupt(self):
        self.library.agreed_shift = 0.5
        seen = []
        with self.assertRaises(ako.Interrupted) as caught, self.join(samples=100) as peer:
            for k, batch in enumerate(peer.rounds([[1]])):
                if k == 3:
                    os.kill(os.getpid(), signal.SIGINT)
            peer.finish(lambda: seen.append(1) or 0.5)
        self.assertEqual((k, self.library.rounds), (3, 4), "the round under way counts")
        self.assertEqual(caught.exception.exit, 130)
        self.assertTrue(caught.exception.report.agreed)
        self.assertEqual(seen, [1])
        self.assertEqual(peer.parameters["b"].tolist(), [0.5, 0.5])
        self.assertEqual(self.library.stops, [_library.Stop.RUN])

    def test_terminate(self):
        with self.assertRaises(ako.Interrupted) as caught, self.join(samples=100) as peer, \
                self.assertWarns(ako.NoAgreementWarning):
            for k, batch in enumerate(peer.rounds([[1]])):
                if k == 3:
                    os.kill(os.getpid(), signal.SIGTERM)
            peer.finish(lambda: self.fail("there are no common parameters"))
        self.assertEqual(caught.exception.exit, 143)
        self.assertEqual(self.library.stops, [_library.Stop.PEER])

    def test_second_interrupt(self):
        before = signal.getsignal(signal.SIGINT)
        with self.assertRaises(KeyboardInterrupt), self.join(samples=100) as peer:
            for batch in peer.rounds([[1]]):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0)
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0)
        self.assertEqual(signal.getsignal(signal.SIGINT), before)
        self.assertEqual(self.library.calls, ["open", "close"])

    def test_while_waiting(self):
        """The handler runs between two calls of the library."""
        self.library.waits = 10_000
        calls = []

        def begin():
            calls.append(1)
            if len(calls) == 2:
                os.kill(os.getpid(), signal.SIGINT)
            if self.library.stops:
                self.library.waits = 0

        self.library.on_begin = begin
        with self.assertRaises(ako.Interrupted), self.join(samples=100) as peer:
            self.assertEqual(list(peer.rounds([[1]])), [])
        self.assertLess(len(calls), 6)

    def test_before_and_after(self):
        before = signal.getsignal(signal.SIGINT)
        peer = self.join(samples=10)
        self.assertIs(signal.getsignal(signal.SIGINT), before, "not before training")
        next(peer.rounds([[1]]))
        self.assertIsNot(signal.getsignal(signal.SIGINT), before)
        peer.close()
        self.assertIs(signal.getsignal(signal.SIGINT), before)


if __name__ == "__main__":
    unittest.main()
