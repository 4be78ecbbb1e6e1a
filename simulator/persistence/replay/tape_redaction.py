"""Redacts a tape: stand-ins replace the secrets that the journal hides, and it can still be replayed.

A stand-in is as long as its secret, and the same at each occurrence. The sandbox is rebuilt from these inputs, and its
answers and deliveries become the new tape. Clients' signatures cannot be recomputed, so a replay takes the verdict on
them from the tape; its head says so with `masked`.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Any, Final

import msgspec

from simulator.persistence.replay.codec import written_line
from simulator.persistence.replay.differences import state_digest
from simulator.persistence.replay.player import RequestReplay
from simulator.persistence.replay.rebuilding import nowhere, player_for
from simulator.persistence.replay.tape_reader import ReadTape, read_tapes
from simulator.persistence.replay.tape_writer import MarkState, TakenTape, take_tape, tape_lines
from simulator.persistence.tape.entries import AttemptSent, Entry
from simulator.redaction import MASKED, SECRET_MEMBERS, Mask, Secrets, redact
from simulator.runtime.journal import Exchange
from simulator.scenario.library import load_scenario

_DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)
_SCHEME: Final = re.compile(r"(?:(?:bearer|basic|digest|token|negotiate)(?:[ \t]+|$))?", re.IGNORECASE)
_PARTS: Final = re.compile(r"(whsec_)?(.+?)(=*)", re.DOTALL)
"""The prefix of Standard Webhooks, and the padding of Base64, stay."""


class CannotMask(Exception):
    """The tape cannot be redacted; the text says why."""


class StandIns(dict[str, str]):
    """The stand-ins of a tape, by secret: hexadecimal digits, which are also valid in Base64. A stand-in stands for
    itself. Tokens of the simulator do, too, since a replay issues them again."""

    def __missing__(self, secret: str) -> str:
        if not secret or redact(secret, ()) == MASKED:  # a token
            return secret
        prefix, core, padding = _PARTS.fullmatch(secret).groups("")  # type: ignore[union-attr]  # it matches any text
        length = len(core.encode("utf-8", "surrogatepass"))
        drawn = sha256(b"stand-in %d" % len(self)).hexdigest() * (length // 64 + 1)
        made = prefix + (drawn[: length - 1] + "A" if padding else drawn[:length]) + padding
        made = made if made != secret else secret[:-1] + ("0" if secret[-1] != "0" else "1")
        self.update({made: made, secret: made})
        return made


def texts_in(document: Any) -> Iterator[str]:
    """Yield the texts in secret members, at any depth of a document."""
    for name, value in document.items() if isinstance(document, dict) else enumerate(document):
        if name in SECRET_MEMBERS and isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple | dict):
            yield from texts_in(value)


def _redacted(line: dict[str, Any], mask: Mask, stand_ins: StandIns) -> dict[str, Any]:
    """Return a line of a tape, as decoded JSON, with the stand-ins that the mask puts."""
    path = str(line.get("path", "")) if line.get("entry") == "request" else ""
    by_name: dict[str, Callable[[str], str]] = {
        **dict.fromkeys(SECRET_MEMBERS, stand_ins.__getitem__),
        "body": partial(mask.whole_body, path),
        "query": partial(mask.query, path),
        **dict.fromkeys(("path", "target"), mask.path),
    }

    def value(name: str, found: Any, header: str = "") -> Any:
        """Return the value of a member, or of a `header` in it."""
        if isinstance(found, dict) and found.keys() == {"base64"}:
            shown = value(name, b64decode(found["base64"]).decode("utf-8", "surrogateescape"), header)
            return {"base64": b64encode(shown.encode("utf-8", "surrogateescape")).decode()}
        if isinstance(found, dict):
            return {each: value(each, one, each if name == "headers" else header) for each, one in found.items()}
        if name == "headers" and isinstance(found, list):
            return [[each, value("", content, each)] for each, content in found]
        if isinstance(found, list):
            return [value(name, item, header) for item in found]
        if header and isinstance(found, str):
            scheme = _SCHEME.match(found)[0]  # type: ignore[index]  # it matches nothing, too
            return scheme + mask.header(header, found[len(scheme) :])
        return by_name.get(name, mask.text)(found) if isinstance(found, str) else found

    return {name: value(name, found) for name, found in line.items()}


def lines_without_secrets(tape: TakenTape, replayer: RequestReplay) -> Iterator[bytes]:
    """Return the lines of a tape without secrets. Callable in a thread. Raises `CannotMask`."""
    return iter([line for line in lines_in_steps(tape, replayer) if line is not None])


def lines_in_steps(tape: TakenTape, replayer: RequestReplay) -> Iterator[bytes | None]:
    """Yield the lines of a tape without secrets; None where other work may run. Raises `CannotMask`."""
    stand_ins = StandIns((published, published) for published in texts_in(load_scenario("default").document))
    secrets, masked = set(tape.server), list[bytes]()
    for line in tape_lines(tape):
        secrets.update(texts_in(_DECODER.decode(line)))
        yield None
    mask, is_same = Mask([Secrets(secrets), *tape.former], tape.keys, stand_ins.__getitem__), True
    for line in tape_lines(tape):
        before = _DECODER.decode(line)
        after = _redacted(before, mask, stand_ins)
        masked.append(line if after == before else written_line(after))
        is_same = is_same and after == before
        yield None
    try:
        yield from masked if is_same else _played(next(read_tapes(masked)), replayer)
    except CannotMask:
        raise
    except Exception as error:  # a secret is also a word of the scenario, or of the tape
        raise CannotMask(f"a secret of it is also something else ({type(error).__name__}: {error})") from None


def _played(masked: ReadTape, replayer: RequestReplay) -> Iterator[bytes | None]:
    """Yield the lines that result from the masked inputs."""
    assert masked.end is not None, masked.damage
    player = player_for(msgspec.structs.replace(masked.head, masked=True), replayer, nowhere())
    end, marks = masked.end, list[MarkState]()
    for n in range(len(masked.entries) + 1):
        if n:
            player.play(masked.entries[n - 1])
        marks += [msgspec.structs.replace(mark, state=state_digest(player.live)) for mark in end.marks if mark.n == n]
        yield None
    player.end()
    made = take_tape(player.live)
    if list(_outcomes(made.entries)) != list(_outcomes(masked.entries)):
        text = "requests are answered otherwise, or other callbacks or webhooks are sent"
        raise CannotMask(f"a secret of it is also something else, such as an account: {text}")
    due, state = None if end.left_out else made.end.due, made.end.state if end.state else ""
    end = msgspec.structs.replace(end, end=made.head.entries, due=due, state=state, marks=tuple(marks))
    yield from tape_lines(made._replace(end=end))


def _outcomes(entries: Iterable[Entry]) -> Iterator[tuple[Any, ...]]:
    """Yield how each request on a tape was answered, by which rules, and each attempt."""
    for entry in entries:
        exchange = getattr(entry, "exchange", entry)
        if isinstance(exchange, Exchange) and exchange.n:
            yield exchange.n, exchange.status, exchange.error, exchange.rule, exchange.selected_rule, exchange.fault
        elif isinstance(exchange, AttemptSent):
            yield exchange.job, exchange.attempt
