"""Parses the status of an answer incrementally, independent of the rest of it."""

import re

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: [^\r\n]*)?\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
SWITCHING_PROTOCOLS = 101
INTERIM_MAX = 64
"""How many interim answers (1xx) are skipped; more are no answer."""


class StatusLine:
    """An incremental parser. `status` is that of the final answer, once its status line is complete.

    Interim answers such as `100 Continue` are skipped, and counted in `interim`. Data that does not start like HTTP has
    no status.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.interim = 0
        self._start = b""
        self._is_over = False

    def feed(self, data: bytes) -> None:
        """Parse more data. Buffering is bounded by whoever feeds it, who gives long heads up."""
        if self._is_over:
            return
        self._start = _without_empty_lines(self._start + data)
        while not self._is_over and b"\n" in self._start:
            line = _STATUS_LINE.match(self._start)
            status = int(line[1]) if line else 0
            if 100 <= status < 200 and status != SWITCHING_PROTOCOLS:
                end = _HEAD_END.search(self._start)
                if end is None:
                    break
                self._start = _without_empty_lines(self._start[end.end() :])
                self.interim += 1
                self._is_over = self.interim > INTERIM_MAX
            else:
                self.status, self._is_over = status or None, True
        if self._is_over:
            self._start = b""


def _without_empty_lines(data: bytes) -> bytes:
    """Parsers accept them before a status line."""
    return data.lstrip(b"\r\n")
