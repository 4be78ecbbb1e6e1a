"""A finding: the fewest faults under which the command fails, written down so that `exec` fails with it again."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from pathlib import Path

from simulator.explore.document import Base, document
from simulator.explore.faults import Fault, sentence
from simulator.explore.judging import Kind
from simulator.explore.quoting import quoted
from simulator.explore.record import Record
from simulator.explore.repeating import Failure
from simulator.explore.run import text_of
from simulator.scenario.yaml import comment
from simulator.shortened import one_line, whole_line

STEM_CHARS_MAX = 60
OUTPUT_LINES_MAX = 12


@dataclass(frozen=True, slots=True)
class Finding:
    """`text` is its sentence; `lines` say more of each reason; `again` is the command line that fails again."""

    text: str
    lines: tuple[str, ...]
    path: Path
    again: str
    failure: Failure
    is_of_storm: bool = False


@dataclass(frozen=True, slots=True)
class Once:
    """What failed once and not again: its sentence, and its tape, if there is one."""

    text: str
    path: Path | None


def said(failure: Failure) -> str:
    """What happened, in one sentence."""
    return f"{sentence(failure.faults)}: {_words(failure)}{_how_often(failure)}"


def _words(failure: Failure) -> str:
    return "; ".join(dict.fromkeys(one.words for one in failure.verdict.reasons))


def _how_often(failure: Failure) -> str:
    if failure.is_certain:
        return ""
    otherwise = "" if failure.is_alike else ", each time otherwise"
    return f" (fails {failure.failed} of {failure.attempts}{otherwise})"


class Writer:
    """Writes findings into a folder, where an earlier exploration may have written some of them. `again` has the words
    of the command line before and after the file; `limit_s` is how long a run under these faults may take."""

    def __init__(
        self,
        base: Base,
        folder: Path,
        record: Record,
        again: tuple[str, str],
        limit_s: Callable[[tuple[Fault, ...]], float],
    ) -> None:
        self._base = base
        self._folder = folder
        self._record = record
        self._again = again
        self._limit_s = limit_s

    def written(self, failure: Failure) -> Finding:
        """Write the scenario file, and the tape beside it when there is one. Raises `OSError`."""
        text, reasons = said(failure), failure.verdict.reasons
        path = self._path(failure, lambda number: f"{number:02}-{_stem(sentence(failure.faults))}.yaml")
        before, after = self._again
        line = f"{before}{_flags(failure, self._limit_s(failure.faults))} {quoted(str(path))} {after}"
        about = [f"{text}.", "", *_lines(failure), "", "To see it again:", f"  {line}"]
        expect = [one.expect for one in reasons if one.expect]
        made = document(self._base, failure.faults, expect)
        path.write_text("\n".join([*comment(map(whole_line, about)), text_of(made)]), encoding="utf-8")
        if failure.tape is not None:
            self._write_tape(path.with_suffix(".yaml.tape"), failure.tape)
        return Finding(text, tuple(one.text for one in reasons), path, line, failure)

    def once(self, failure: Failure) -> Once:
        """Write the tape of the run that failed. Raises `OSError`."""
        stem, digest = _stem(sentence(failure.faults)), _digest(failure)[:8]
        path = self._folder / f"once-{stem}-{digest}.tape"
        if failure.tape is not None:
            self._write_tape(path, failure.tape)
        text = f"{sentence(failure.faults)}: {_words(failure)}: failed once and not again"
        return Once(text, path if path.exists() else None)

    def _path(self, failure: Failure, named: Callable[[int], str]) -> Path:
        return self._folder / self._record.file_of(_digest(failure), named)

    def _write_tape(self, path: Path, tape: bytes) -> None:
        self._record.add_file(path.name)
        path.write_bytes(tape)


def _digest(failure: Failure) -> str:
    return sha256(sentence(failure.faults).encode()).hexdigest()


def _flags(failure: Failure, limit_s: float) -> str:
    """What `exec` needs to see the failure, and to come to an end where the command does not."""
    reasons = failure.verdict.reasons
    audit = " --audit" if all(one.needs_audit for one in reasons) else ""
    hangs = any(one.kind is Kind.HUNG for one in reasons)
    return f"{audit} --timeout {ceil(limit_s)}" if hangs else audit


def _stem(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return words[:STEM_CHARS_MAX].rstrip("-")


def _lines(failure: Failure) -> Iterator[str]:
    yield from (one.text for one in failure.verdict.reasons)
    printed = failure.verdict.output.strip().splitlines()[-OUTPUT_LINES_MAX:]
    if printed:
        yield "it printed last:"
        yield from (f"  {one_line(line)}" for line in printed)
