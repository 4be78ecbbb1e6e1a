"""Redacts a tape: stand-ins replace the secrets, and it can still be replayed.

`simulator.redaction` defines the secrets, so that a tape shows no secret that the journal hides. A stand-in is as long
as its secret, and the same at each occurrence. Then the sandbox is rebuilt from these inputs, and its answers and
deliveries become the new tape: everything that depends on a secret, such as the signature of a webhook, is computed
from the stand-in. Clients' signatures cannot be recomputed, so a replay takes the verdict on them from the tape; its
head says so with `masked`.

This takes as long as the original inputs did, so it runs in steps, between which other work can run.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Container, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from string import hexdigits
from time import monotonic
from typing import Any, Final

import msgspec

from simulator.persistence.replay.codec import written_line
from simulator.persistence.replay.head import End, MarkState, TakenTape, take_tape
from simulator.persistence.replay.player import Player, RequestReplay
from simulator.persistence.replay.proof import player_for
from simulator.persistence.replay.rebuilding import nowhere
from simulator.persistence.replay.state_digest import state_digest
from simulator.persistence.replay.tape_reader import ReadTape, read_tapes
from simulator.persistence.replay.tape_writer import tape_lines
from simulator.persistence.tape.entries import AttemptSent, CommandApplied, Entry, InboxProgrammed, plain
from simulator.redaction import SECRET_MEMBERS, Mask, is_token
from simulator.runtime.journal import Exchange
from simulator.scenario.library import load_scenario

WORK_S_MAX: Final = 120
"""The time limit in seconds, without the time of other work."""

_DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)
_SCHEME: Final = re.compile(r"(?:bearer|basic|digest|token|negotiate)(?:[ \t]+|$)", re.IGNORECASE)
_KEY_PREFIX: Final = "whsec_"  # of Standard Webhooks

Line = dict[str, Any]


class CannotMask(Exception):
    """The tape cannot be redacted; the text says why."""


class StandIns:
    """The stand-ins of a tape. `published` are well-known secrets, which stay."""

    def __init__(self, published: Container[str] = ()) -> None:
        self._published = published
        self._made: dict[str, str] = {}  # each stand-in stands for itself, too

    def of(self, value: str) -> str:
        """Return the stand-in for a secret. Tokens of the simulator stay: a replay issues them again."""
        if not value or value in self._published or is_token(value):
            return value
        if value not in self._made:
            self._made[value] = made = _stand_in(value, len(self._made))
            self._made.setdefault(made, made)
        return self._made[value]


def _stand_in(secret: str, number: int) -> str:
    """Return another text of the same length, in Base64 for Base64 and in hexadecimal for hexadecimal."""
    core = secret.removeprefix(_KEY_PREFIX).rstrip("=") or secret
    prefix, _, padding = secret.partition(core)
    length = len(core.encode("utf-8", "surrogatepass"))
    drawn = sha256(b"stand-in %d" % number).hexdigest() * (length // 64 + 1)
    if not all(sign in hexdigits for sign in core):
        drawn = f"masked{number}x{drawn}"
    made = prefix + (drawn[: length - 1] + "A" if padding else drawn[:length]) + padding
    return made if made != secret else secret[:-1] + ("0" if secret[-1] != "0" else "1")


def texts_in(document: Any, members: Container[str] = SECRET_MEMBERS) -> Iterator[str]:
    """Yield the texts in members of these names, at any depth of a document."""
    for name, value in document.items() if isinstance(document, dict) else ():
        if name in members and isinstance(value, str):
            yield value
    if isinstance(document, list | tuple | dict):
        for value in document.values() if isinstance(document, dict) else document:
            yield from texts_in(value, members)


class LineMask:
    """Redacts the lines of a tape, as decoded JSON, with a mask that puts the stand-ins."""

    def __init__(self, mask: Mask, stand_ins: StandIns) -> None:
        self._mask, self._stand_ins = mask, stand_ins
        self._path, self._kept = "", ""

    def redacted(self, line: Line) -> Line:
        """Return a line without secrets. Raises `CannotMask`."""
        answer = line.get("answer")
        is_foreign = isinstance(answer, dict) and answer.get("error") == "invalid_api_key"
        # A signature is useless without its secret, and says whether a message is genuine.
        self._kept = "signature" if line.get("entry") == "inbox_message" else "" if is_foreign else "x-api-key"
        self._path = str(line.get("path", "")) if line.get("entry") == "request" else ""
        return {name: self._value(name, value) for name, value in line.items()}

    def _value(self, name: str, value: Any, header: str = "") -> Any:
        """Return the value of a member, or of a `header` in it."""
        if isinstance(value, dict) and value.keys() == {"base64"}:
            text = self._text(name, b64decode(value["base64"]).decode("utf-8", "surrogateescape"), header)
            return {"base64": b64encode(text.encode("utf-8", "surrogateescape")).decode()}
        if isinstance(value, dict):
            return {each: self._value(each, one, each if name == "headers" else header) for each, one in value.items()}
        if name == "headers" and isinstance(value, list):
            return [[each, self._text("", text, each)] for each, text in value]
        if isinstance(value, list):
            return [self._value(name, item, header) for item in value]
        return self._text(name, value, header) if isinstance(value, str) else value

    def _text(self, name: str, text: str, header: str) -> str:
        if header and self._kept and header.lower().endswith(self._kept):
            return self._mask.text(text)
        if header:
            scheme = found[0] if (found := _SCHEME.match(text)) else ""
            return scheme + self._mask.header(header, text[len(scheme) :])
        if name in SECRET_MEMBERS:
            return self._stand_ins.of(text)
        if name == "body":
            return self._mask.whole_body(self._path, text)
        if name == "query":
            return self._mask.query(self._path, text)
        return self._mask.path(text) if name in ("path", "target") else self._mask.text(text)


def lines_without_secrets(tape: TakenTape, replayer: RequestReplay) -> Iterator[bytes]:
    """Return the lines of a tape without secrets. Callable in a thread. Raises `CannotMask`."""
    return iter([line for line in lines_in_steps(tape, replayer) if line is not None])


def lines_in_steps(tape: TakenTape, replayer: RequestReplay) -> Iterator[bytes | None]:
    """Yield the lines of a tape without secrets; None where other work may run. Raises `CannotMask`."""
    steps = _lines(tape, replayer)
    spent_s = 0.0
    while True:
        begun = monotonic()
        try:
            step = next(steps)
        except StopIteration:
            return
        except CannotMask:
            raise
        except Exception as error:  # a secret is also a word of the scenario, or of the tape
            raise CannotMask(f"a secret of it is also something else ({type(error).__name__}: {error})") from None
        spent_s += monotonic() - begun
        if spent_s > WORK_S_MAX:
            raise CannotMask(f"it would take more than {WORK_S_MAX} s")
        yield step


def _lines(tape: TakenTape, replayer: RequestReplay) -> Iterator[bytes | None]:
    stand_ins = StandIns(_published())
    documents = [tape.head.scenario, *filter(None, map(_document_of, tape.entries))]
    keys = {*player_for(tape.head, replayer, nowhere()).live.core.state.keys, *texts_in(documents, ("key",))}
    secrets = {*tape.head.hidden, *tape.server, *texts_in(documents)} - _published()
    mask = Mask(secrets, keys, tape.former, stand_ins.of, number=0)
    lines = LineMask(mask, stand_ins)
    masked: list[bytes] = []
    is_same = True
    for line in tape_lines(tape):
        before = _DECODER.decode(line)
        after = lines.redacted(before)
        masked.append(line if after == before else written_line(after))
        is_same = is_same and after == before
        yield None
    if is_same:
        yield from masked
        return
    (read,) = read_tapes(masked)
    assert not read.damage, read.damage
    yield None
    yield from _played(read, replayer)


@lru_cache(maxsize=1)
def _published() -> frozenset[str]:
    """Return the secrets of the bundled scenario, which are public."""
    return frozenset(texts_in(load_scenario("default").document))


def _document_of(entry: Entry) -> Any:
    """Return the document that an entry sent to the control API."""
    if isinstance(entry, CommandApplied):
        return msgspec.to_builtins(entry.command, enc_hook=plain)
    return entry.document if isinstance(entry, InboxProgrammed) else None


def _played(masked: ReadTape, replayer: RequestReplay) -> Iterator[bytes | None]:
    """Yield the lines that result from the masked inputs."""
    assert masked.end is not None, "only a damaged tape has no end"
    head = msgspec.structs.replace(masked.head, masked=True)
    player = player_for(head, replayer, nowhere())
    marks = _marks_here(player, masked.end)
    for entry in masked.entries:
        player.play(entry)
        marks += _marks_here(player, masked.end)
        yield None
    player.end()
    made = take_tape(player.live)
    if list(_outcomes(made.entries)) != list(_outcomes(masked.entries)):
        raise CannotMask(
            "a secret of it is also something else, such as an account: requests are answered otherwise, or "
            "other callbacks or webhooks are sent"
        )
    due = None if masked.end.left_out else made.end.due
    state = made.end.state if masked.end.state else ""
    end = msgspec.structs.replace(masked.end, end=len(made.entries), due=due, state=state, marks=tuple(marks))
    yield from tape_lines(TakenTape(msgspec.structs.replace(head, entries=end.end), made.entries, end))


def _marks_here(player: Player, end: End) -> list[MarkState]:
    """Return the marks at the player's place, with the digest of the state from the masked inputs."""
    here = [one for one in end.marks if one.n == player.place]
    state = state_digest(player.live) if here else ""
    return [msgspec.structs.replace(one, state=state) for one in here]


def _outcomes(entries: Sequence[Entry]) -> Iterator[tuple[Any, ...]]:
    """Yield how each request on a tape was answered, by which rules, and each attempt."""
    for entry in entries:
        one = getattr(entry, "exchange", entry)
        if isinstance(one, Exchange) and one.n:
            yield one.n, one.status, one.error, one.rule, one.selected_rule, one.fault
        elif isinstance(one, AttemptSent):
            yield one.job, one.attempt
