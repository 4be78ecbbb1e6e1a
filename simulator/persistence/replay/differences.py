"""What differs between a sandbox as it was and as it was rebuilt: the first difference, with both sides."""

from typing import Any, Final

import msgspec

from simulator.domain.model.effects import Outgoing
from simulator.persistence.tape.entries import CommandApplied
from simulator.runtime.journal import Exchange

_NOT_COMPARED: Final = frozenset({"duration_us", "owner"})  # measured by the wall; the sandbox's own id, if any
_FIRST: Final = ("status", "content", "own_headers")  # what clients see
_COMPARED: Final = tuple(
    dict.fromkeys((*_FIRST, *(each for each in Exchange.__struct_fields__ if each not in _NOT_COMPARED)))
)


class Difference(msgspec.Struct, frozen=True):
    """Something that is not as it was: `entry` is its number on the tape, `what` says what it is of, `recorded` is how
    the tape has it and `replayed` how it is now."""

    entry: int
    what: str
    recorded: Any
    replayed: Any


def of_requests(entry: int, recorded: Exchange, replayed: Exchange) -> Difference | None:
    """The first difference between two records of a request, its answer included."""
    for name in _COMPARED:
        before, after = getattr(recorded, name), getattr(replayed, name)
        if before != after:
            called = f"{recorded.method} {recorded.path}"
            return Difference(entry, f"request {recorded.n} ({called}): {name}", before, after)
    return None


def of_answers(entry: int, recorded: CommandApplied, replayed: str) -> Difference | None:
    """Whether a command was answered otherwise; an older tape does not say how."""
    if recorded.answer in ("", replayed):
        return None
    return Difference(entry, f"{type(recorded.command).__name__}: answer", recorded.answer, replayed)


def of_attempts(entry: int, job: str, number: int, recorded: Outgoing, replayed: Outgoing) -> Difference | None:
    """The first difference between what two attempts of a callback or webhook sent."""
    for name in Outgoing.__struct_fields__:
        before, after = getattr(recorded, name), getattr(replayed, name)
        is_equal = before == after or (name == "headers" and _without_source(before) == _without_source(after))
        if not is_equal:
            return Difference(entry, f"attempt {number} of {job}: {name}", before, after)
    return None


def _without_source(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Headers without the source address, which earlier versions did not draw."""
    return tuple(header for header in headers if header[0] != "X-Forwarded-For")
