"""Runs of the same kind of thing in a text, of whatever length, found in bounded memory.

A possessive group, `(?:...)++`, would be such a run, too, but Pythons before 3.11.5 go on in the wrong place when the
last thing begins and fails: behind what a lookahead saw. A greedy group keeps a place to return to for each thing.
"""

import re

_AT_ONCE = 1000


def run_of(thing: str) -> re.Pattern[str]:
    """A pattern for `end_of_run` of things that match this pattern, in any case of letters."""
    return re.compile(rf"(?:{thing}){{1,{_AT_ONCE}}}", re.IGNORECASE)


def end_of_run(run: re.Pattern[str], text: str, begins: int) -> int:
    """Where the run ends that begins there; `begins` when there is none."""
    ends = begins
    while found := run.match(text, ends):
        ends = found.end()
    return ends
