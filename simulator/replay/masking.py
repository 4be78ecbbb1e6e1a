"""Replaces secrets by their stand-ins in the lines of a tape: those of the sandbox wherever they stand, and what else
clients sent as a credential where it stood. The tape's own words stay."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from simulator.replay.given_secrets import with_credential
from simulator.replay.lines import Encoded, bytes_of
from simulator.replay.stand_ins import StandIns
from simulator.tape.inputs import plain
from simulator.wire.named_secrets import with_named
from simulator.wire.shown_addresses import with_query_secrets

_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
_DECODER = msgspec.json.Decoder(float_hook=Decimal)
CONTENT_LENGTH = "content-length"
MESSAGES = ("request", "inbox_message")
OWN_WORDS = frozenset(
    {"tape", "version", "sandbox", "started", "seed", "clock", "entries", "entry", "now", "wall", "method", "mode",
     "how", "job", "attempt", "due", "drawn_for"}
)  # fmt: skip
"""Members of lines that have nothing of anybody else."""

Line = dict[str, Any]


class Masking:
    """Masks the lines of one tape."""

    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins

    def masked(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines with all secrets replaced. A line that has none stays as it is."""
        for line in lines:
            yield self._masked(line)

    def _masked(self, line: bytes) -> bytes:
        before: Line = _DECODER.decode(line)
        is_message = before.get("entry") in MESSAGES
        shown = self._without_credentials(before) if is_message else before
        after = {key: one if key in OWN_WORDS else self._replaced(one) for key, one in shown.items()}
        if is_message:
            _correct_length(before, after)
        return line if after == before else _ENCODER.encode(after) + b"\n"

    def _without_credentials(self, line: Line) -> Line:
        """A message without the headers, parameters and members that are credentials by their names."""
        of = self._stand_ins.of_credential
        line = dict(line)
        if headers := line.get("headers"):
            line["headers"] = [[name, with_credential(name, value, of)] for name, value in headers]
        if query := line.get("query"):
            line["query"] = with_query_secrets(query, of)
        if body := line.get("body"):
            line["body"] = self._body(body)
        return line

    def _body(self, body: Any) -> Any:
        of = self._stand_ins.of_credential
        if isinstance(body, str):
            raw = body.encode("utf-8", "surrogatepass")
            return with_named(raw, of).decode("utf-8", "surrogatepass")
        return {"base64": b64encode(with_named(b64decode(body["base64"]), of)).decode()}

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._replaced(one) for one in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"base64"}:
            return {"base64": b64encode(self._bytes(b64decode(value["base64"]))).decode()}
        return {key: self._replaced(one) for key, one in value.items()}

    def _text(self, value: str) -> str:
        if (whole := self._stand_ins.of(value)) != value:
            return whole
        raw = value.encode("utf-8", "surrogatepass")
        made = self._bytes(raw)
        return value if made == raw else made.decode("utf-8", "surrogatepass")

    def _bytes(self, raw: bytes) -> bytes:
        return self._stand_ins.replaced(raw)


def _correct_length(before: Line, after: Line) -> None:
    """Let a request announce the body that it has now, where it announced the one that it had."""
    old, new = (len(bytes_of(_spelled(one.get("body", "")))) for one in (before, after))
    if old == new:
        return
    after["headers"] = [
        [name, str(new) if name.lower() == CONTENT_LENGTH and value == str(old) else value]
        for name, value in after.get("headers", ())
    ]


def _spelled(body: Any) -> Any:
    return body if isinstance(body, str) else Encoded(body["base64"])
