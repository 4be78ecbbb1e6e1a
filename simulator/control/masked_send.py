"""Sends an answer of the control API without the secrets of its sandbox, whatever it is about."""

from typing import Any

from simulator.control import resellers, sandboxes
from simulator.control.masking import mask_of
from simulator.runtime.sandboxes import Sandboxes

# They answer with credentials, to whoever may create them.
HANDING_OUT = frozenset(
    {
        sandboxes.list_all,
        sandboxes.create,
        sandboxes.show,
        sandboxes.reset,
        resellers.add,
        resellers.add_api_key,
    }
)
ERRORS_FROM = 400


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
        if body and not self._hands_out():
            message["body"] = self._masked(body)
        if self._start is not None:
            start, self._start = self._start, None
            if len(message.get("body", b"")) != len(body):
                start["headers"] = _with_length(start["headers"], len(message["body"]))
            await self._send(start)
        await self._send(message)

    def _hands_out(self) -> bool:
        is_error = self._start is not None and self._start["status"] >= ERRORS_FROM
        return self._scope.get("endpoint") in HANDING_OUT and not is_error

    def _masked(self, body: bytes) -> bytes:
        live = self._sandboxes.find(self._scope.get("path_params", {}).get("sandbox", ""))
        return mask_of(live, self._sandboxes).answer(body)


def _with_length(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    return [(name, b"%d" % length if name == b"content-length" else value) for name, value in headers]
