"""What `replay` prints: what was played, or the first difference with both sides."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from simulator.cli.output import one_line
from simulator.replay.differences import Difference
from simulator.replay.reading import ReadTape
from simulator.runtime.journal import Exchange
from simulator.tape.entries import AttemptSent, Entry, RequestBegan

AROUND_CHARS = 60
SIDE_CHARS = 400


def proved(tape: ReadTape, played: int) -> str:
    """All that was played is as it was."""
    counts = _counts(tape.entries[:played])
    text = f"{tape.head.sandbox}: {_of(played, len(tape.entries))} replayed, {counts}: all as it was"
    if tape.end is not None and tape.end.left_out and played == len(tape.entries):
        text += f"; the tape was full by then, and {tape.end.left_out} later inputs are not on it (limits.tape)"
    return text


def damage(tape: ReadTape) -> str:
    """What is missing of a damaged file."""
    return f"{tape.head.sandbox}: {tape.damage}"


def served(tape: ReadTape, played: int, url: str) -> str:
    """Where the sandbox goes on."""
    name = tape.head.sandbox
    where = url if name == "default" else f"{url}/s/{name}"
    return f"{name} goes on behind {_of(played, len(tape.entries))} at {where}"


def difference(tape: ReadTape, found: Difference) -> str:
    """The first difference, in three lines."""
    before, after = _text(found.recorded), _text(found.replayed)
    at = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), None)
    begins = max(0, (min(len(before), len(after)) if at is None else at) - AROUND_CHARS)
    head = f"{tape.head.sandbox}: entry {found.entry} of {len(tape.entries)} differs: {found.what}"
    sides = (f"  {name:<7} {_part(text, begins)}" for name, text in (("tape", before), ("replay", after)))
    return "\n".join(map(one_line, (head, *sides)))


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
