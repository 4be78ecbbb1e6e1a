"""What `replay` prints: what was played, or the first difference with both sides."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from simulator import __version__
from simulator.cli.output import one_line
from simulator.cli.taped import Life
from simulator.domain.commands import EndAttempt, PassTime
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.tape.entries import AttemptSent, CommandApplied, Entry, RequestBegan
from simulator.runtime.journal import Exchange

AROUND_CHARS = 60
SIDE_CHARS = 400
WHAT_CHARS = 200


def proved(life: Life, played: int) -> str:
    """All that was played is as it was."""
    entries = life.tape.entries
    text = f"{life}: {_of(played, len(entries))} replayed, {_counts(entries[:played])}: all as it was"
    if played < len(entries):
        return text
    return text + _left_out(life.tape) + _ended(life.tape) + _without_state(life.tape)


def _ended(tape: ReadTape) -> str:
    """What ended the life, if something did before the tape was taken."""
    return f"; then it was {tape.end.ended}" if tape.end is not None and tape.end.ended else ""


def _without_state(tape: ReadTape) -> str:
    """What a tape does not say, so that it could not be compared."""
    if tape.end is None or tape.end.state or tape.end.left_out:
        return ""
    commands = (one for one in tape.entries if isinstance(one, CommandApplied))
    if all(one.answer for one in commands if not isinstance(one.command, PassTime | EndAttempt)):
        return "; it has no digest of the state"
    return "; an earlier version wrote it, without answers of commands and without a digest of the state"


def _left_out(tape: ReadTape) -> str:
    """What came and is not on the tape, if anything did."""
    count = tape.end.left_out if tape.end is not None else 0
    if not count:
        return ""
    inputs = "1 input" if count == 1 else f"{count} inputs"
    are = "is" if count == 1 else "are"
    if not tape.entries:
        return f"; the sandbox kept no tape, and {inputs} that came {are} not on it (limits.tape or --tape-budget)"
    later = inputs.replace(" ", " later ")
    return f"; the tape was full by then, and {later} {are} not on it (limits.tape or --tape-budget)"


def served(life: Life, played: int, url: str) -> str:
    """Where the sandbox goes on."""
    name = life.tape.head.sandbox
    where = url if name == "default" else f"{url}/s/{name}"
    return f"{life} goes on behind {_of(played, len(life.tape.entries))} at {where}"


def difference(life: Life, found: Difference) -> str:
    """The first difference, in three lines."""
    before, after = _text(found.recorded), _text(found.replayed)
    at = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), None)
    begins = max(0, (min(len(before), len(after)) if at is None else at) - AROUND_CHARS)
    head = f"{life}: entry {found.entry} of {len(life.tape.entries)} differs: {_shortened(found.what)}"
    if life.tape.head.version != __version__:
        head = f"{head}; reseller-sim {life.tape.head.version} wrote it"
    sides = (f"  {name:<7} {_part(text, begins)}" for name, text in (("tape", before), ("replay", after)))
    return "\n".join(map(one_line, (head, *sides)))


def _shortened(text: str) -> str:
    """What differs has paths and jobs in it, which a tape may have of any length; its end says most."""
    half = WHAT_CHARS // 2
    return text if len(text) <= WHAT_CHARS else f"{text[:half]}…{text[-half:]}"


def _part(text: str, begins: int) -> str:
    shown = text[begins : begins + SIDE_CHARS]
    return f"{'…' if begins else ''}{shown}{'…' if len(text) > begins + SIDE_CHARS else ''}"


def _text(side: Any) -> str:
    return side.decode("utf-8", "backslashreplace") if isinstance(side, bytes) else str(side)


def _of(played: int, total: int) -> str:
    entries = "entry" if total == 1 else "entries"
    return f"{played} {entries}" if played == total else f"{played} of {total} entries"


def _counts(entries: Iterable[Entry]) -> str:
    kinds = Counter(_kind(entry) for entry in entries)
    named = (
        f"{kinds[name]} {name if kinds[name] != 1 else name[:-1]}" for name in ("requests", "callbacks", "webhooks")
    )
    return ", ".join(named)


def _kind(entry: Entry) -> str:
    if isinstance(entry, Exchange | RequestBegan):
        return "requests"
    if isinstance(entry, AttemptSent):
        return "callbacks" if entry.job.startswith("cb-") else "webhooks"
    return ""
