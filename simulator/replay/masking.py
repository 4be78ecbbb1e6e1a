"""Replaces secrets by their stand-ins in the lines of a tape: those of the sandbox wherever they stand, and what else
clients sent as a credential where it stood. The tape's own words stay."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

from simulator.replay.credentials import Credentials
from simulator.replay.lines import Encoded, Spelled, bytes_of, spelled_text, text_of
from simulator.replay.stand_ins import StandIns
from simulator.tape.inputs import plain

_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
_DECODER = msgspec.json.Decoder(float_hook=Decimal)
CONTENT_LENGTH = "content-length"
DOCUMENTS = ("scenario", "command", "document")
"""Members of lines that somebody wrote to the control API, or to a file."""
OWN_WORDS = frozenset(
    {"tape", "version", "sandbox", "started", "seed", "clock", "entries", "entry", "now", "wall", "method", "mode",
     "how", "job", "attempt", "due", "drawn_for", "ended"}
)  # fmt: skip
"""Members of lines that have nothing of anybody else."""

SIGNATURE = "signature"
VERDICT = ("diagnosis", "told")

Line = dict[str, Any]


class Masking:
    """Masks the lines of one tape."""

    def __init__(self, stand_ins: StandIns, credentials: Credentials) -> None:
        self._stand_ins = stand_ins
        self._of = credentials

    def masked(self, line: bytes) -> bytes:
        """The line with all secrets replaced. One that has none stays as it is.
        Raises `TooManyStandIns`."""
        self._stand_ins.begin_entry()
        before: Line = _DECODER.decode(line)
        shown = self._without_credentials(before)
        after = {key: one if key in OWN_WORDS else self._replaced(one) for key, one in shown.items()}
        _correct_length(before, after)
        return line if after == before else _ENCODER.encode(after) + b"\n"

    def _without_credentials(self, line: Line) -> Line:
        """The line without what is a credential by its name and place."""
        match line.get("entry"):
            case "request":
                path = text_of(_spelled(line["path"]))
                shown = self._message(line, path) | {"path": _written(self._of.path(path))}
                return shown | {"answer": self._answer(line, path)} if "answer" in line else shown
            case "inbox_message":
                # Whether a message is genuine is said by its signature, which is useless without the secret.
                return self._message(line, "", is_kept=lambda name: name.lower().endswith(SIGNATURE))
        return {key: self._of.document(one) if key in DOCUMENTS else one for key, one in line.items()}

    def _message(self, line: Line, path: str, is_kept: Callable[[str], bool] = lambda _: False) -> Line:
        shown = dict(line)
        if headers := line.get("headers"):
            shown["headers"] = [[name, one if is_kept(name) else self._of.header(name, one)] for name, one in headers]
        if query := line.get("query"):
            shown["query"] = self._of.query(path, query)
        if target := line.get("target"):
            shown["target"] = self._of.path(target)
        if body := line.get("body"):
            shown["body"] = self._body(path, body)
        return shown

    def _answer(self, line: Line, path: str) -> Line:
        """What was answered is made again by a replay, but for two things: the verdict on a signature, which may quote
        the request, and the whole answer to a request that was handled elsewhere."""
        answer: Line = line["answer"]
        if line.get("shown"):
            answer = self._message(answer, path)
        verdict = {key: answer[key] for key in VERDICT if isinstance(answer.get(key), str)}
        return answer | {key: self._of.addresses(one) for key, one in verdict.items()}

    def _body(self, path: str, body: Any) -> Any:
        if isinstance(body, str):
            raw = body.encode("utf-8", "surrogatepass")
            return self._of.body(path, raw).decode("utf-8", "surrogatepass")
        return {"base64": b64encode(self._of.body(path, b64decode(body["base64"]))).decode()}

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
    if not before.get("headers") or not before.get("body") or before["body"] == after["body"]:
        return
    old, new = (len(bytes_of(_spelled(one["body"]))) for one in (before, after))
    if old == new:
        return
    after["headers"] = [
        [name, str(new) if name.lower() == CONTENT_LENGTH and value == str(old) else value]
        for name, value in after["headers"]
    ]


def _spelled(text: Any) -> Spelled:
    return text if isinstance(text, str) else Encoded(text["base64"])


def _written(text: str) -> Any:
    return msgspec.to_builtins(spelled_text(text))
