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
from simulator.shortened import whole_line

if TYPE_CHECKING:
    from simulator.redaction import Secrets

_FILES_WANTED: Final = 65_536
_GC_THRESHOLDS: Final = (10_000, 2, 100)
LOGGERS = (
    "simulator.persistence.gate",
    "simulator.persistence.storage",
    "simulator.runtime.operations",
    "simulator.server.foreign",
    "simulator.server.responder",
    "simulator.server.response_batcher",
    "uvicorn.error",
    "asyncio",
)


def raise_file_limit() -> None:
    """Let this process hold as many connections as the system grants; the soft limit on open files is often 1024."""
    try:
        import resource
    except ImportError:  # no such limit on this system
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, _FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # A system may grant less than its own hard limit; then use the soft limit.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def tune_gc() -> None:
    """Tune the garbage collector to skip objects that live as long as the process. Call it once, after start-up.

    A server that holds a million transactions has hardly any cycles, yet by default the collector traverses all objects
    repeatedly while every request waits (99th percentile 87 ms, tuned 5 ms). The objects that exist at start-up
    (modules, schemas, catalogs, hardly any garbage) are frozen. From then on the collector examines new objects after
    every 10,000 and again after 30,000, a millisecond each; smaller steps cost no more in sum. It examines all objects
    only after three million have survived, if a quarter of all are new.
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


class WithoutSecrets(logging.Filter):
    """Masks secrets in messages and tracebacks, and escapes control characters."""

    def __init__(self, secrets: "Callable[[], Iterable[Secrets]]") -> None:
        super().__init__()
        self._secrets = secrets
        self._format = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; every record passes."""
        message = record.getMessage()
        masked = self._masked(message)
        if masked != message:
            record.msg, record.args = masked, ()
            record.__dict__.pop("color_message", None)  # uvicorn's coloured form of the message
        if record.exc_info and not record.exc_text:
            record.exc_text = self._masked(self._format.formatException(record.exc_info))
        return True

    def _masked(self, text: str) -> str:
        from simulator.redaction import redact, redact_urls

        return printable(redact_urls(redact(text, self._secrets())))


def hide_secrets(secrets: "Callable[[], Iterable[Secrets]]") -> None:
    """Hide these secrets in the log from now on, instead of those of an earlier server."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        for each in [each for each in logger.filters if isinstance(each, WithoutSecrets)]:
            logger.removeFilter(each)
        logger.addFilter(WithoutSecrets(secrets))


class AsJson(logging.Formatter):
    """A record of the log as a line of JSON like the events of `serve --log json`; its `kind` is `log`."""

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        wall = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        shown = {"kind": "log", "wall": wall, "level": record.levelname.lower(), "logger": record.name}
        shown["message"] = record.getMessage()
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            shown["traceback"] = record.exc_text
        return json.dumps(shown)


def log_as_json() -> None:
    """Write the log of this process to stderr as JSON, instead of text."""
    handler = logging.StreamHandler()
    handler.setFormatter(AsJson())
    logging.getLogger().addHandler(handler)
