"""Lengths of time on the command line: `1h30m` as in scenario files, or a plain number of seconds."""

import math
from typing import TYPE_CHECKING, Any

import click

from simulator.shortened import one_line

SHOWN_CHARS_MAX = 60
EXAMPLES = "a duration such as 90s, 1h30m or 500ms, or a number of seconds"

if TYPE_CHECKING:
    _Seconds = click.ParamType[float]
else:
    _Seconds = click.ParamType  # click 8.2 and older know no types of values


class Span(_Seconds):
    """Seconds from `least_s` to `most_s`; without `least_s` any above 0."""

    name = "duration"

    def __init__(self, least_s: float | None = None, most_s: float = math.inf) -> None:
        self._least_s = least_s
        self._most_s = most_s

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds that a text means; numbers are defaults, and stay."""
        if not isinstance(value, str):
            return float(value)
        try:
            seconds = seconds_of(value)
        except ValueError:
            self.fail(f"{one_line(value, SHOWN_CHARS_MAX)!r} is no length of time: write {EXAMPLES}", param, ctx)
        if not self._is_allowed(seconds):
            self.fail(f"{one_line(value, SHOWN_CHARS_MAX)!r} is not {self._allowed()}: write {EXAMPLES}", param, ctx)
        return seconds

    def _is_allowed(self, seconds: float) -> bool:
        is_enough = seconds > 0 if self._least_s is None else seconds >= self._least_s
        return is_enough and seconds <= self._most_s

    def _allowed(self) -> str:
        least = "above 0 s" if self._least_s is None else f"at least {self._least_s:g} s"
        return least if self._most_s == math.inf else f"{least} and at most {self._most_s:g} s"


def seconds_of(text: str) -> float:
    """The seconds of a duration, or of a plain number. Raises `ValueError` for anything else."""
    from simulator.scenario.reading.reader import duration

    try:
        seconds = float(text)
    except ValueError:
        return duration(text).total_seconds()
    if not math.isfinite(seconds):
        raise ValueError("is no finite number")
    return seconds
