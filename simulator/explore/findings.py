"""A finding: the fewest faults under which the command fails, written down so that `exec` fails with it again."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from simulator.explore.document import Base, document
from simulator.explore.faults import sentence
from simulator.explore.judging import Kind
from simulator.explore.run import text_of
from simulator.explore.shrinking import Failure
from simulator.scenario.yaml import comment
from simulator.shortened import one_line

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


def said(failure: Failure) -> str:
    """What happened, in one sentence."""
    words = "; ".join(dict.fromkeys(one.words for one in failure.verdict.reasons))
    flaky = "" if failure.is_certain else f" (fails {failure.failed} of {failure.attempts})"
    return f"{sentence(failure.faults)}: {words}{flaky}"


def written(failure: Failure, base: Base, folder: Path, number: int, again: tuple[str, str], limit_s: float) -> Finding:
    """Write the scenario file, and the tape beside it when there is one; `again` has the words of the command line
    before and after the file, and `limit_s` is how long the command might take. Raises `OSError`."""
    text, reasons = said(failure), failure.verdict.reasons
    path = folder / f"{number:02}-{_stem(sentence(failure.faults))}.yaml"
    before, after = again
    line = f"{before}{_flags(failure, limit_s)} {shlex.quote(str(path))} {after}"
    about = [f"{text}.", "", *_lines(failure), "", "To see it again:", f"  {line}"]
    expect = [one.expect for one in reasons if one.expect]
    content = [*comment(map(one_line, about)), text_of(document(base, failure.faults, expect))]
    path.write_text("\n".join(content), encoding="utf-8")
    if failure.tape is not None:
        path.with_suffix(".yaml.tape").write_bytes(failure.tape)
    return Finding(text, tuple(one.text for one in reasons), path, line, failure)


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
        yield from (f"  {line}" for line in printed)
