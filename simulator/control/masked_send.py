"""Sends answers of the control API with the secrets of their sandbox redacted.

A long answer is masked in slices, so that the event loop is not blocked. A slice ends at a line end, which is never
within a JSON string: lists arrive with a row per line, and are sent as a single line.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from simulator.control import api_docs, events, exports, health, metrics, resellers, sandboxes, scenario, tapes
from simulator.redaction import redact_urls
from simulator.runtime.background import in_background
from simulator.runtime.sandboxes import Sandboxes

# Exempt answers: they return credentials to callers that may create them, are the same for all callers, or mask
# themselves.
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
"""A longer row, such as a message of a megabyte, is masked in a thread. Secrets that are added meanwhile may be missed:
they cannot occur in a text that was rendered before."""


class MaskedSend:
    """ASGI's `send` for a request. Each message of a body is masked separately, so a secret must not be split."""

    def __init__(self, scope: Any, send: Any, sandboxes_: Sandboxes) -> None:
        self._scope = scope
        self._send = send
        self._sandboxes = sandboxes_
        self._start: Any = None

    async def __call__(self, message: Any) -> None:
        """Send a message; the head of the answer waits for the beginning of its body, which determines its length."""
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
        """Remove the credentials from addresses that an error quotes."""
        return redact_urls(body.decode()).encode()

    async def _masked(self, body: bytes) -> bytes:
        live = self._sandboxes.find(self._scope.get("path_params", {}).get("sandbox", ""))
        mask = self._sandboxes.mask_of(live)
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
    """Yield slices of a JSON text, which end at line ends."""
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + SLICE_BYTES)
        end = len(body) if end < 0 else end
        yield body[start:end]
        start = end


def _with_length(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    return [(name, b"%d" % length if name == b"content-length" else value) for name, value in headers]
