"""The lives that a file of tapes has, and which of them `replay` is to play."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import click

from simulator.cli.flags import CannotStart
from simulator.cli.output import one_line
from simulator.domain.model.instants import Times
from simulator.persistence.replay.codec import BadTape
from simulator.persistence.replay.proof import NoSuchMoment, TapePlace, place_until
from simulator.persistence.replay.tape_reader import CutShort, NoTape, ReadTape, TooLargeFile, read_file

EMPTY = (
    "it is empty: the run that was to write it could not start, was killed, or has not ended, or its secrets could not"
    " be replaced, which the run says on stderr"
)
ANEW = "was it changed by hand, or on its way? Take it anew from where it was written"


@dataclass(frozen=True, slots=True)
class Life:
    """The tape of one life of a sandbox, the `number`th of `count` in the file, as they ended."""

    tape: ReadTape
    number: int
    count: int

    def __str__(self) -> str:
        """What people call it."""
        name = self.tape.head.sandbox
        return name if self.count == 1 else f"{name} (life {self.number} of {self.count})"


@dataclass(frozen=True, slots=True)
class TapeFile:
    """All lives of a file. `damage` says why nothing more could be read, if so: it was `cut`, or has a line that cannot
    be understood, against which `advice` helps."""

    path: Path
    lives: tuple[Life, ...]
    damage: str = ""
    is_cut: bool = False
    advice: str = ANEW

    def refusal(self, text: object) -> CannotStart:
        """What is said of this file when nothing can be done with it."""
        return CannotStart(one_line(f"reseller-sim replay: {self.path}: {text}"))

    def chosen(self, sandbox: str | None, number: int | None, *, is_one: bool) -> list[Life]:
        """Those of a sandbox, or of all; with a number that life, else the last one where only one can be played.
        Raises `CannotStart` for what is not there, and `UsageError` where somebody has to choose."""
        names = list(dict.fromkeys(one.tape.head.sandbox for one in self.lives))
        if sandbox is not None and sandbox not in names:
            raise self.refusal(f"it has no tape of {sandbox}; it has those of {', '.join(names)}")
        if sandbox is None and len(names) > 1 and (is_one or number is not None):
            text = f"{self.path} has the tapes of {', '.join(names)}; choose one with --sandbox"
            raise click.UsageError(one_line(text), click.get_current_context())
        found = [one for one in self.lives if sandbox in (None, one.tape.head.sandbox)]
        if number is not None and number > len(found):
            lives = "1 life" if len(found) == 1 else f"{len(found)} lives"
            raise self.refusal(f"it has {lives} of {found[0].tape.head.sandbox}: --life is from 1 to {len(found)}")
        if number is not None:
            return [found[number - 1]]
        return found[-1:] if is_one else found

    def end_of(self, life: Life, until: int | Times | None) -> TapePlace:
        """Where a life is to be played to. Raises `CannotStart` for a moment that its tape has not."""
        if until is None:
            return TapePlace(len(life.tape.entries))
        try:
            return place_until(life.tape, until)
        except NoSuchMoment as error:
            raise self.refusal(f"{life}: --until: {error}") from None

    def damage_behind(self, life: Life | None, count: int = 0) -> str:
        """What is to be said when all of this life was wanted, or of the file when it is None, and there is less."""
        if not self.damage:
            return ""
        where = f"{life}: " if life is not None else ""
        if self.is_cut:
            return f"{where}{self.damage}, and its rest is missing"
        before = f"; --until {count} has what comes before it" if life is not None else ""
        return f"{where}{self.damage}{self.advice and ': '}{self.advice}{before}"


def read(path: Path) -> TapeFile:
    """The lives of a file. Raises `CannotStart` when it cannot be read or has none."""
    found: list[ReadTape] = []
    damage, is_cut, advice = "", False, ANEW
    try:
        for one in read_file(path):
            found.append(one)  # those before one that cannot be read are kept
    except OSError as error:
        raise CannotStart(one_line(f"reseller-sim replay: {path}: {error.strerror or error}")) from None
    except TooLargeFile as large:
        raise CannotStart(one_line(f"reseller-sim replay: {path}: {large}")) from None
    except BadTape as bad:
        damage, is_cut, advice = str(bad), isinstance(bad, CutShort), "" if isinstance(bad, NoTape) else ANEW
    if found and found[-1].damage:
        damage, is_cut = found[-1].damage, found[-1].is_cut
    counts, numbers = Counter(one.head.sandbox for one in found), Counter[str]()
    lives = []
    for one in found:
        name = one.head.sandbox
        numbers[name] += 1
        lives.append(Life(one, numbers[name], counts[name]))
    return TapeFile(path, tuple(lives), damage, is_cut, advice)
