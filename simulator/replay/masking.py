"""Replaces secrets by their stand-ins in the lines of a tape, wherever they stand."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from simulator.replay.lines import Encoded, bytes_of
from simulator.replay.stand_ins import StandIns
from simulator.tape.inputs import plain
from simulator.wire.named_secrets import with_named

_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
_DECODER = msgspec.json.Decoder(float_hook=Decimal)
CONTENT_LENGTH = "content-length"

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
        if not (self._stand_ins.has_short or self._stand_ins.is_in(line)):
            return line
        before: Line = _DECODER.decode(line)
        after = self._replaced(before)
        if "body" in before and "headers" in before:
            _correct_length(before, after)
        return line if after == before else _ENCODER.encode(after) + b"\n"

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
        if self._stand_ins.has_short:
            raw = with_named(raw, self._stand_ins.of)
        return self._stand_ins.replaced(raw)


def _correct_length(before: Line, after: Line) -> None:
    """Let a request announce the body that it has now, where it announced the one that it had."""
    old, new = (len(bytes_of(_spelled(one["body"] or ""))) for one in (before, after))
    if old == new:
        return
    after["headers"] = [
        [name, str(new) if name.lower() == CONTENT_LENGTH and value == str(old) else value]
        for name, value in after["headers"]
    ]


def _spelled(body: Any) -> Any:
    return body if isinstance(body, str) else Encoded(body["base64"])
