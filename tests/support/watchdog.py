"""A watchdog that names the test that hangs, and ends the run: a single timer for many tests.

pytest's own `faulthandler_timeout` starts a thread for each test and waits for its end. On a busy machine that takes
longer than most tests. Here a thread checks every few seconds whether another test is running, and only then resets the
timer of `faulthandler`. This timer is written in C, so it also fires when the interpreter is blocked.
"""

import faulthandler
import threading

LIMIT_S = 300.0  # the maximum duration of a test
LOOK_S = 20.0


class Watchdog:
    """`begin` and `end` are called for each test, `start` before the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tests = 0
        self._timed = -1
        self._is_running = self._is_set = False
        self._over = threading.Event()
        self._stderr = 2

    def start(self, stderr: int) -> None:
        """Look from now on; tracebacks go to the file descriptor `stderr`."""
        self._stderr = stderr
        threading.Thread(target=self._look_again, daemon=True, name="watchdog").start()

    def begin(self) -> None:
        """A test begins."""
        self._tests += 1
        self._is_running = True
        if not self._is_set:  # nothing ran for a while
            self.look()

    def end(self) -> None:
        """It is over. The timer stays, since the next test is near."""
        self._is_running = False

    def leave(self) -> None:
        """Let the current test run without a limit: it has its own limits, or is being debugged."""
        with self._lock:
            faulthandler.cancel_dump_traceback_later()
            self._timed, self._is_set = self._tests, True

    def stop(self) -> None:
        """The run is over."""
        self._over.set()
        self._is_running = False
        self.look()

    def look(self) -> None:
        """Set the timer if another test runs than at the last look, and none if none runs."""
        with self._lock:
            if not self._is_running:
                faulthandler.cancel_dump_traceback_later()
                self._is_set = False
            elif not self._is_set or self._timed != self._tests:
                faulthandler.dump_traceback_later(LIMIT_S, file=self._stderr, exit=True)
                self._timed, self._is_set = self._tests, True

    def _look_again(self) -> None:
        while not self._over.wait(LOOK_S):
            self.look()


WATCHDOG = Watchdog()
