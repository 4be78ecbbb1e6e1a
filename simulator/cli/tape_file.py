"""The lives that a file of tapes has, and what `replay` prints about them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from simulator import __version__
from simulator.cli.usage import CannotStart, wrong_usage
from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import Times
from simulator.persistence.replay.codec import BadTape
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.rebuilding import Moment, moment_until, now_of, shown_time
from simulator.persistence.replay.tape_reader import CutShort, NoTape, ReadTape, TooLargeFile, read_file
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
from simulator.short_text import shortened, whole_line

EMPTY = (
    "it is empty: the run that was to write it could not start, was killed, or has not ended, or its secrets could not"
    " be replaced, which the run says on stderr"
)
ANEW = "was it edited, or damaged in transfer? Copy it again from its origin"
WHAT_CHARS_MAX: Final = 200
_NAMED: Final = ("refid", "trxid", "reseller", "code", "section", "rule", "job", "attempt", "name")
"""The fields of a command that are printed after its name, if it has them."""
AROUND_CHARS = 60
SIDE_CHARS = 400


@dataclass(frozen=True, slots=True)
class TapeLife:
    """The tape of a life of a sandbox: the `number`th of the `count` lives in the file, in the order of their ends."""

    tape: ReadTape
    number: int
    count: int

    def __str__(self) -> str:
        """Return the name for messages."""
        name = self.tape.head.sandbox
        return name if self.count == 1 else f"{name} (life {self.number} of {self.count})"


@dataclass(frozen=True, slots=True)
class TapeFile:
    """All lives of a file. `damage` says why reading stopped early: the file is cut (`is_cut`), or a line is
    unreadable; then `advice` helps."""

    path: Path
    lives: tuple[TapeLife, ...]
    damage: str = ""
    is_cut: bool = False
    advice: str = ANEW

    def refusal(self, text: object) -> CannotStart:
        """Return the error about this file when it cannot be used."""
        return CannotStart(f"{self.path}: {text}")

    def chosen(self, sandbox: str | None, number: int | None, *, is_one: bool) -> list[TapeLife]:
        """Return the lives of a sandbox, or of all sandboxes. With `number` return that life. With `is_one` and without
        `number` return the last life. Raises `CannotStart` for a missing sandbox or life, and `UsageError` if the
        choice is ambiguous."""
        names = list(dict.fromkeys(life.tape.head.sandbox for life in self.lives))
        if sandbox is not None and sandbox not in names:
            raise self.refusal(f"it has no tape of {sandbox}; it has tapes of {', '.join(names)}")
        if sandbox is None and len(names) > 1 and (is_one or number is not None):
            raise wrong_usage(whole_line(f"{self.path} has the tapes of {', '.join(names)}; choose with --sandbox"))
        found = [life for life in self.lives if sandbox in (None, life.tape.head.sandbox)]
        if number is not None and number > len(found):
            lives = "1 life" if len(found) == 1 else f"{len(found)} lives"
            raise self.refusal(f"it has {lives} of {found[0].tape.head.sandbox}: --life is from 1 to {len(found)}")
        if number is not None:
            return [found[number - 1]]
        return found[-1:] if is_one else found

    def end_of(self, life: TapeLife, until: int | Times | None) -> Moment | None:
        """Return the moment to play a life to, None for its end. Raises `CannotStart` when its tape lacks the
        moment."""
        try:
            return None if until is None else moment_until(life.tape, until)
        except Unacceptable as error:
            raise self.refusal(f"{life}: --until: {error}") from None

    def damage_behind(self, life: TapeLife | None, count: int = 0) -> str:
        """Return the message about the missing end of this life, or of the file when it is None; empty for an undamaged
        file."""
        if not self.damage:
            return ""
        where = f"{life}: " if life is not None else ""
        if self.is_cut:
            return f"{where}{self.damage}, and the rest is missing"
        before = f"; --until {count} plays the entries before it" if life is not None else ""
        return f"{where}{self.damage}{self.advice and ': '}{self.advice}{before}"


def read_tape_file(path: Path) -> TapeFile:
    """Return the lives of a file. Raises `CannotStart` when it cannot be read or is empty."""
    found: list[ReadTape] = []
    damage, is_cut, advice = "", False, ANEW
    try:
        for life in read_file(path):
            found.append(life)  # keeps the lives before a damaged life
    except (OSError, TooLargeFile) as error:
        raise CannotStart(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    except BadTape as bad:
        damage, is_cut, advice = str(bad), isinstance(bad, CutShort), "" if isinstance(bad, NoTape) else ANEW
    if found and found[-1].damage:
        damage, is_cut = found[-1].damage, found[-1].is_cut
    counts, numbers, lives = Counter(life.head.sandbox for life in found), Counter[str](), []
    for life in found:
        name = life.head.sandbox
        numbers[name] += 1
        lives.append(TapeLife(life, numbers[name], counts[name]))
    return TapeFile(path, tuple(lives), damage, is_cut, advice)


def entry_lines(life: TapeLife) -> Iterator[str]:
    """Yield the entries of a life, a line each: the number and the time that `--until` takes, the life, and what
    came."""
    width = len(str(len(life.tape.entries)))
    for n, entry in enumerate(life.tape.entries, 1):
        what = shortened(whole_line(_WHAT[type(entry)](entry)), WHAT_CHARS_MAX, "…")
        yield f"{n:>{width}}  {shown_time(now_of(entry))}  {whole_line(life)}  {what}"


def _request(exchange: Any) -> str:
    number = f" {exchange.n}" if exchange.n else ""
    return f"request{number}: {exchange.method} {exchange.path}"


def _answer(exchange: Any) -> str:
    answer = str(exchange.status) if exchange.status else "no answer"
    return f"{answer}, {exchange.refid}" if exchange.refid else answer


def _command(entry: CommandApplied) -> str:
    named = ((name, getattr(entry.command, name, None)) for name in _NAMED)
    about = ", ".join(f"{name} {value}" for name, value in named if isinstance(value, str | int) and value != "")
    return f"command {type(entry.command).__name__}{f': {about}' if about else ''}"


_WHAT: Final[dict[type, Callable[[Any], str]]] = {
    Exchange: lambda entry: f"{_request(entry)}: {_answer(entry)}",
    RequestBegan: lambda entry: f"{_request(entry.exchange)}: begins to wait",
    RequestResumed: lambda entry: f"{_request(entry.exchange)}: resumes ({entry.how}): {_answer(entry.exchange)}",
    RequestShown: lambda entry: f"{_request(entry.exchange)}: handled elsewhere",
    CommandApplied: _command,
    AttemptSent: lambda entry: f"attempt {entry.attempt} of {entry.job}",
    ClockSet: lambda entry: f"clock: {f'x{entry.rate:g}' if entry.mode == 'xN' else entry.mode}",
    InboxReceived: lambda entry: f"inbox {entry.name}: {entry.method}",
    InboxProgrammed: lambda entry: f"inbox {entry.name}: its replies are set",
    InboxCleared: lambda entry: f"inbox {entry.name}: is cleared",
}


def proof_line(life: TapeLife, played: int) -> str:
    """All that was played is as it was."""
    entries = life.tape.entries
    text = f"{life}: {entries_of(played, len(entries))} replayed, {_counts(entries[:played])}: all as it was"
    if played < len(entries):
        return text
    ended = f"; then it was {life.tape.end.ended}" if life.tape.end is not None and life.tape.end.ended else ""
    return text + ended + _missing(life.tape)


def _missing(tape: ReadTape) -> str:
    """Return a note about inputs that are not on the tape, or about a state that was not compared, if so."""
    if tape.end is None:
        return ""
    if tape.end.left_out:
        return f"; inputs after these that are not on the tape (limits.tape or --tape-budget): {tape.end.left_out}"
    return "" if tape.end.state else "; it has no digest of the state to compare"


def difference_lines(life: TapeLife, found: Difference) -> str:
    """Return the first difference, in three lines."""
    before, after = _text(found.recorded), _text(found.replayed)
    at = next((at for at, (one, other) in enumerate(zip_longest(before, after)) if one != other), 0)
    begins = max(0, at - AROUND_CHARS)
    half, what = WHAT_CHARS_MAX // 2, found.what  # it may have paths and jobs of any length; its end tells most
    what = what if len(what) <= WHAT_CHARS_MAX else f"{what[:half]}…{what[-half:]}"
    head = f"{life}: entry {found.entry} of {len(life.tape.entries)} differs: {what}"
    if life.tape.head.version != __version__:
        head = f"{head}; reseller-sim {life.tape.head.version} wrote it"
    lines = [head]
    for name, text in (("tape", before), ("replay", after)):
        lines.append(f"  {name:<7} {'…' if begins else ''}{shortened(text[begins:], SIDE_CHARS, '…')}")
    return "\n".join(map(whole_line, lines))


def _text(side: Any) -> str:
    return side.decode("utf-8", "backslashreplace") if isinstance(side, bytes) else str(side)


def entries_of(played: int, total: int) -> str:
    entries = "entry" if total == 1 else "entries"
    return f"{played} {entries}" if played == total else f"{played} of {total} entries"


def _counts(entries: Sequence[Entry]) -> str:
    jobs = [entry.job.startswith("cb-") for entry in entries if isinstance(entry, AttemptSent)]
    requests = sum(isinstance(entry, Exchange | RequestBegan) for entry in entries)
    counts = {"request": requests, "callback": jobs.count(True), "webhook": jobs.count(False)}
    return ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items())
