"""What `replay --list` prints: the entries of a tape, a line each, with the number and time that `--until` takes."""

from collections.abc import Callable, Iterator
from functools import singledispatch
from itertools import islice
from typing import Final

from simulator.cli.output import one_line
from simulator.cli.taped import Life
from simulator.persistence.replay.proof import now_of, shown_time
from simulator.persistence.tape.entries import (
    AttemptSent,
    ClockSet,
    CommandApplied,
    Entry,
    InboxCleared,
    InboxProgrammed,
    InboxReceived,
    RequestBegan,
    RequestResumed,
    RequestShown,
)
from simulator.runtime.journal import Exchange
from simulator.shortened import shortened

WHAT_CHARS_MAX: Final = 200
AT_ONCE: Final = 1000
_TOLD: Final = ("refid", "trxid", "reseller", "code", "section", "rule", "job", "attempt", "name")
"""What is told of a command beside its name, where it has it."""


def print_listed(life: Life, print_text: Callable[[str], object]) -> None:
    """Print the lines of a life, so many at once: a tape may have millions."""
    lines = listed(life)
    while part := list(islice(lines, AT_ONCE)):
        print_text("\n".join(part))


def listed(life: Life) -> Iterator[str]:
    """Number, time, life, and what came."""
    width = len(str(len(life.tape.entries)))
    for n, entry in enumerate(life.tape.entries, 1):
        what = shortened(one_line(_what(entry)), WHAT_CHARS_MAX, "…")
        yield f"{n:>{width}}  {shown_time(now_of(entry))}  {one_line(life)}  {what}"


@singledispatch
def _what(entry: Entry) -> str:
    return type(entry).__name__


@_what.register
def _of_request(entry: Exchange) -> str:
    return f"{_called(entry)}: {_answer(entry)}"


def _answer(exchange: Exchange) -> str:
    answer = str(exchange.status) if exchange.status else "no answer"
    return f"{answer}, {exchange.refid}" if exchange.refid else answer


def _called(exchange: Exchange) -> str:
    number = f" {exchange.n}" if exchange.n else ""
    return f"request{number}: {exchange.method} {exchange.path}"


@_what.register
def _of_beginning(entry: RequestBegan) -> str:
    return f"{_called(_recorded(entry))}: begins to wait"


@_what.register
def _of_resumption(entry: RequestResumed) -> str:
    exchange = _recorded(entry)
    return f"{_called(exchange)}: goes on ({entry.how}): {_answer(exchange)}"


@_what.register
def _of_another_one(entry: RequestShown) -> str:
    return f"{_called(_recorded(entry))}: handled elsewhere"


def _recorded(entry: RequestBegan | RequestResumed | RequestShown) -> Exchange:
    assert isinstance(entry.exchange, Exchange), "it is as the journal has it"
    return entry.exchange


@_what.register
def _of_command(entry: CommandApplied) -> str:
    told = ((name, getattr(entry.command, name, None)) for name in _TOLD)
    about = ", ".join(f"{name} {value}" for name, value in told if isinstance(value, str | int) and value != "")
    return f"command {type(entry.command).__name__}{f': {about}' if about else ''}"


@_what.register
def _of_attempt(entry: AttemptSent) -> str:
    return f"attempt {entry.attempt} of {entry.job}"


@_what.register
def _of_clock(entry: ClockSet) -> str:
    return f"clock: {f'x{entry.rate:g}' if entry.mode == 'xN' else entry.mode}"


@_what.register
def _of_message(entry: InboxReceived) -> str:
    return f"inbox {entry.name}: {entry.method}"


@_what.register
def _of_replies(entry: InboxProgrammed) -> str:
    return f"inbox {entry.name}: its replies are set"


@_what.register
def _of_clearing(entry: InboxCleared) -> str:
    return f"inbox {entry.name}: is cleared"
