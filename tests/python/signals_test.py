"""SIGINT and SIGTERM: the first asks, the second is at once, and children do as before."""

import os
import signal
import threading
import time
import unittest

import bench  # noqa: F401  (sets the path)
from ako._library import Stop
from ako.signals import SignalHandlers


def send(number):
    """A signal to this process, handled before this returns."""
    os.kill(os.getpid(), number)
    time.sleep(0)


def status_of_child(action):
    """The wait status of a child of fork that runs `action` and exits with 9."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(9)
        except KeyboardInterrupt:
            os._exit(7)
        finally:
            os._exit(8)
    return os.waitpid(child, 0)[1]


class Handling(unittest.TestCase):
    def setUp(self):
        self.stops = []
        self.before = {number: signal.getsignal(number)
                       for number in (signal.SIGINT, signal.SIGTERM)}
        self.handlers = SignalHandlers(self.stops.append)
        self.handlers.install()
        self.addCleanup(self.handlers.restore)

    def test_interrupt(self):
        send(signal.SIGINT)
        self.assertEqual(self.stops, [Stop.RUN])
        with self.assertRaises(KeyboardInterrupt):
            send(signal.SIGINT)
        self.assertEqual(self.handlers.seen, 2)

    def test_terminate(self):
        send(signal.SIGTERM)
        self.assertEqual(self.stops, [Stop.PEER])
        with self.assertRaises(SystemExit) as caught:
            send(signal.SIGTERM)
        self.assertEqual(caught.exception.code, 143)

    def test_restore(self):
        self.handlers.restore()
        for number, handler in self.before.items():
            self.assertEqual(signal.getsignal(number), handler)
        self.handlers.restore()

    def test_restore_leaves_later_handlers(self):
        def later(number, frame):
            """Nothing."""

        signal.signal(signal.SIGTERM, later)
        self.handlers.restore()
        self.assertIs(signal.getsignal(signal.SIGTERM), later)
        signal.signal(signal.SIGTERM, self.before[signal.SIGTERM])

    def test_ignored_stays_ignored(self):
        self.handlers.restore()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.handlers.install()
            self.assertEqual(signal.getsignal(signal.SIGINT), signal.SIG_IGN)
        finally:
            signal.signal(signal.SIGINT, self.before[signal.SIGINT])

    def test_other_thread(self):
        others = SignalHandlers(self.stops.append)

        def use():
            others.install()
            others.restore()

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        self.assertEqual(signal.getsignal(signal.SIGINT), self.handlers._handle)

    def test_child_is_terminated(self):
        status = status_of_child(lambda: send(signal.SIGTERM))
        self.assertTrue(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM)
        self.assertEqual(self.stops, [])

    def test_child_passes_over_the_first_interrupt(self):
        self.assertEqual(os.WEXITSTATUS(status_of_child(lambda: send(signal.SIGINT))), 9)

        def twice():
            send(signal.SIGINT)
            send(signal.SIGINT)
            time.sleep(5)

        status = status_of_child(twice)
        self.assertEqual(os.WEXITSTATUS(status), 7, "a KeyboardInterrupt, as before")


if __name__ == "__main__":
    unittest.main()
