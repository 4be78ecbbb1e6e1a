"""Sends an answer of the control API without the secrets of its sandbox, whatever it is about.

A long answer is masked in slices, between which others go on. They end where lines do, which is never within a string
of JSON: lists come with a line for each row, and leave as one line.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from simulator.control import api_docs, events, exports, health, metrics, resellers, sandboxes, scenario, tapes
from simulator.control.masking import Mask, mask_of
from simulator.redaction import redact_urls
from simulator.runtime.background import in_background
from simulator.runtime.sandboxes import Sandboxes

# They answer with credentials, to whoever may create them; with what is the same for everybody; or mask it themselves.
WHOLE = frozenset(
    {
        health.health,
        health.ready,
        metrics.show,
        api_docs.register,
        sandboxes.list_all,
        sandboxes.create,
        sandboxes.show,
        sandboxes.reset,
        tapes.rewind,
        scenario.schema,
        scenario.show,
        resellers.add,
        resellers.add_api_key,
        events.of_sandbox,
        events.of_all,
        exports.as_curl,
        tapes.show,
    }
)
ERRORS_FROM = 400
SLICE_BYTES = 16 * 1024
LONG_BYTES = 256 * 1024
"""A row that is longer, such as a message of a megabyte, is masked beside the event loop. Secrets that come meanwhile
may be known there or not: none of them can be in what was rendered before."""


class MaskedSend:
    """ASGI's `send` for one request. Each message of a body is masked by itself, so a secret must not be split."""

    def __init__(self, scope: Any, send: Any, sandboxes_: Sandboxes) -> None:
        self._scope = scope
        self._send = send
        self._sandboxes = sandboxes_
        self._start: Any = None

    async def __call__(self, message: Any) -> None:
        """Send a message; the head of the answer waits for the beginning of its body, which decides its length."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        body = message.get("body", b"")
        if body and not self._is_whole():
            message["body"] = await self._masked(self._without_userinfo(body) if self._is_error() else body)
        if self._start is not None:
            start, self._start = self._start, None
            if len(message.get("body", b"")) != len(body):
                start["headers"] = _with_length(start["headers"], len(message["body"]))
            await self._send(start)
        await self._send(message)

    def _is_whole(self) -> bool:
        return self._scope.get("endpoint") in WHOLE and not self._is_error()

    def _is_error(self) -> bool:
        return self._start is not None and self._start["status"] >= ERRORS_FROM

    @staticmethod
    def _without_userinfo(body: bytes) -> bytes:
        """An error quotes the address that it refuses."""
        return redact_urls(body.decode()).encode()

    async def _masked(self, body: bytes) -> bytes:
        live = self._sandboxes.find(self._scope.get("path_params", {}).get("sandbox", ""))
        mask: Mask = mask_of(live, self._sandboxes)
        if len(body) <= SLICE_BYTES:
            return _as_one_line(mask.answer(body))
        masked = []
        for part in _slices(body):
            text = mask.answer(part) if len(part) <= LONG_BYTES else await in_background(mask.answer, part)
            masked.append(_as_one_line(text))
            await asyncio.sleep(0)
        return b"".join(masked)


def _as_one_line(text: bytes) -> bytes:
    return text.replace(b"\n", b"")


def _slices(body: bytes) -> Iterator[bytes]:
    """All of a JSON text, cut before lines."""
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + SLICE_BYTES)
        end = len(body) if end < 0 else end
        yield body[start:end]
        start = end


def _with_length(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    return [(name, b"%d" % length if name == b"content-length" else value) for name, value in headers]
