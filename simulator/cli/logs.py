"""The server's log without secrets: an unexpected error may quote what a client sent."""

import logging

from simulator.cli.output import printable
from simulator.runtime.sandboxes import Sandboxes
from simulator.wire.secrets import hidden

LOGGERS = ("simulator.server.responder", "simulator.server.turn", "uvicorn.error", "asyncio")


class WithoutSecrets(logging.Filter):
    """Masks the secrets of all sandboxes in messages and tracebacks, and escapes control characters."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        super().__init__()
        self._sandboxes = sandboxes
        self._format = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; every record passes."""
        message = record.getMessage()
        masked = self._masked(message)
        if masked != message:
            record.msg, record.args = masked, ()
            record.__dict__.pop("color_message", None)  # how uvicorn prints the same on a terminal
        if record.exc_info and not record.exc_text:
            record.exc_text = self._masked(self._format.formatException(record.exc_info))
        return True

    def _masked(self, text: str) -> str:
        return printable(hidden(text, self._sandboxes.secrets))


def hide_secrets(sandboxes: Sandboxes) -> None:
    """Let the loggers of the server hide the secrets of these sandboxes from now on, and of no earlier server."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        for each in [each for each in logger.filters if isinstance(each, WithoutSecrets)]:
            logger.removeFilter(each)
        logger.addFilter(WithoutSecrets(sandboxes))
