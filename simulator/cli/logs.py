"""The server's log, without secrets, since an unexpected error may quote what a client sent; as text or as JSON."""

import json
import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Protocol

from simulator.cli.output import printable
from simulator.redaction import Secrets, redact, redact_urls

LOGGERS = (
    "simulator.server.responder",
    "simulator.server.turn",
    "simulator.control.health",
    "uvicorn.error",
    "asyncio",
)


class KnowsSecrets(Protocol):
    """The sandboxes of a server, or what a proxy has seen."""

    @property
    def secrets(self) -> Iterable[Secrets]:
        """What has to be hidden, now."""
        ...


class WithoutSecrets(logging.Filter):
    """Masks secrets in messages and tracebacks, and escapes control characters."""

    def __init__(self, owner: KnowsSecrets) -> None:
        super().__init__()
        self._owner = owner
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
        return printable(redact_urls(redact(text, self._owner.secrets)))


def hide_secrets(owner: KnowsSecrets) -> None:
    """Let the loggers of the server hide the secrets that `owner` knows from now on, and of no earlier server."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        for each in [each for each in logger.filters if isinstance(each, WithoutSecrets)]:
            logger.removeFilter(each)
        logger.addFilter(WithoutSecrets(owner))


class AsJson(logging.Formatter):
    """A record as one line of JSON, beside the events of `serve --log json`: its `kind` is `log`."""

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
    """Let what this process logs be JSON on stderr; without this it is text there."""
    handler = logging.StreamHandler()
    handler.setFormatter(AsJson())
    logging.getLogger().addHandler(handler)
