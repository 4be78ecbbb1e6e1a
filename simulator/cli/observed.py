"""Read a report of `conform --json-report`: what a deployment was observed to do."""

import json
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import click

from simulator.cli.output import one_line

REPORT_BYTES_MAX = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Observed:
    """What one knob would have to be to do what a deployment did, and what showed it."""

    target: str
    value: Any
    evidence: str


def read_observed(path: Path) -> dict[str, Observed]:
    """What a report learned, by the assumption's id. Raises `ClickException` for a file that is no such report."""
    try:
        if not path.is_file():  # a pipe would be waited for
            path.stat()
            raise _refused(path, "is no regular file")
        with path.open("rb") as file:
            content = file.read(REPORT_BYTES_MAX + 1)
    except OSError as error:
        raise _refused(path, error.strerror or "cannot be read") from None
    if len(content) > REPORT_BYTES_MAX:
        raise _refused(path, f"has more than {REPORT_BYTES_MAX} bytes")
    try:
        report = json.loads(content, parse_float=_finite, parse_constant=_finite)
        target, learned = report["target"], report["assume"]
        found = {name: Observed(target, one["value"], one["evidence"]) for name, one in learned.items()}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise _refused(path, "is not a report of `reseller-sim conform --json-report FILE`") from None
    if not all(isinstance(text, str) for one in found.values() for text in (one.target, one.evidence)):
        raise _refused(path, "is not a report of `reseller-sim conform --json-report FILE`")
    return found


def _finite(text: str) -> float:
    """A number that JSON can say again. Raises `ValueError`."""
    if not isfinite(number := float(text)):
        raise ValueError(text)
    return number


def _refused(path: Path, reason: str) -> click.ClickException:
    return click.ClickException(one_line(f"reseller-sim assumptions: {path} {reason}"))
