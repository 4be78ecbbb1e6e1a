"""Set-up and end of a server's process: open files, the garbage collector, signals, the log."""

import contextlib
import gc
import json
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Final

from simulator.cli.output import print_to_stderr, printable
from simulator.cli.usage import PROGRAM
from simulator.short_text import whole_line

if TYPE_CHECKING:
    from simulator.redaction import Secrets

_FILES_WANTED: Final = 65_536
_GC_THRESHOLDS: Final = (10_000, 2, 100)


def raise_file_limit() -> int | None:
    """Let this process hold as many connections as the system grants; the soft limit on open files is often 1024.
    Return the former soft limit if it was raised."""
    try:
        import resource
    except ImportError:  # no such limit on this system
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, _FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # A system may grant less than its own hard limit; then use the soft limit.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return soft
    return None


@contextlib.contextmanager
def file_limit(soft: int | None) -> Iterator[None]:
    """Let child processes that start meanwhile inherit a soft limit on open files; None leaves the limit unchanged."""
    if soft is None:
        yield
        return
    import resource

    raised, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))


def tune_gc() -> None:
    """Tune the garbage collector to skip objects that live as long as the process. Call it once, after start-up.

    By default the collector traverses all objects repeatedly while every request waits (99th percentile 87 ms with a
    million transactions, tuned 5 ms). Objects of the start are frozen. New objects are examined after every 10,000 and
    again after 30,000, a millisecond each, and all only after three million have survived.
    """
    gc.enable()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def print_server_note(text: object) -> None:
    """Print a line about the server to stderr, from any thread."""
    print_to_stderr(whole_line(f"{PROGRAM}: {text}"))


def exit_quietly_when_stopped() -> None:
    """Let SIGINT and SIGTERM end the process with exit code 0."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


@contextlib.contextmanager
def signals_handled(handler: Callable[[int, FrameType | None], object], numbers: Iterable[int]) -> Iterator[None]:
    """Handle these signals, unless this process ignores them, and restore their handlers afterwards."""
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def end_with_stdin() -> None:
    """End the process as SIGTERM does when stdin ends: its parent has closed its end, or is gone, however it ended."""

    def wait() -> None:
        with contextlib.suppress(OSError):  # stdin does not exist
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="stdin", daemon=True).start()


def _stop(number: int, frame: FrameType | None) -> None:
    """Exit silently. While it runs the server catches the signal itself, and raises it again when it is done.

    Everything is closed and written by then, so the process ends at once: to free all that the sandboxes hold would
    take seconds.
    """
    logging.shutdown()
    os._exit(0)


class LogFormat(logging.Formatter):
    """A record of the log without secrets and control characters. With `is_json` it is a line of JSON like the events
    of `serve --log json`; its `kind` is `log`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_json = False
        self.secrets: Callable[[], Iterable[Secrets]] = tuple

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        if not self.is_json:
            return self._masked(super().format(record))
        wall = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        shown = {"kind": "log", "wall": wall, "level": record.levelname.lower(), "logger": record.name}
        shown["message"] = self._masked(record.getMessage())
        if record.exc_info:
            shown["traceback"] = self._masked(self.formatException(record.exc_info))
        return json.dumps(shown)

    def _masked(self, text: str) -> str:
        from simulator.redaction import redact, redact_urls

        return printable(redact_urls(redact(text, self.secrets())))


_LOG_FORMAT: Final = LogFormat()


def hide_secrets(secrets: "Callable[[], Iterable[Secrets]]") -> None:
    """Write the log to stderr without these secrets from now on, instead of those of an earlier server."""
    use_log_format(is_json=_LOG_FORMAT.is_json)
    _LOG_FORMAT.secrets = secrets


def use_log_format(*, is_json: bool) -> None:
    """Write the log to stderr as text or as JSON."""
    _LOG_FORMAT.is_json = is_json
    if logging.lastResort is not None:  # the handler of a process that configures no other one
        logging.lastResort.setFormatter(_LOG_FORMAT)
