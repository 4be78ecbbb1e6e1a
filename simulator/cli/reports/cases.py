"""What a verb examined: cases in suites, whatever format they are written in."""

from collections.abc import Iterable
from dataclasses import dataclass

from simulator import __version__

NOT_RUN = "not_run"
"""The code of a case that says why nothing was examined."""


@dataclass(frozen=True, slots=True)
class Case:
    """One expectation of a sandbox, one problem of a file, or one check of a service. `message` says in one line what
    is wrong, `details` what else helps, a line each; `code` is for machines; `line` and `column` count from 1, 0 for
    none. `skipped` says why a case that is ok was not looked at; `duration_s` is what it took, if that was measured."""

    name: str
    ok: bool
    message: str = ""
    details: tuple[str, ...] = ()
    code: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    skipped: str = ""
    duration_s: float = 0.0

    @property
    def is_error(self) -> bool:
        """True when it says why nothing was examined, false for what was examined and is not as expected."""
        return self.code == NOT_RUN

    @property
    def size(self) -> int:
        """The approximate memory of its texts, in bytes."""
        return 200 + 4 * (len(self.name) + len(self.message) + sum(map(len, self.details)))


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of one sandbox or one file."""

    name: str
    cases: tuple[Case, ...]

    @property
    def failures(self) -> int:
        """How many of its cases are not ok."""
        return sum(1 for case in self.cases if not case.ok)

    @property
    def skipped(self) -> int:
        """How many of its cases were not looked at."""
        return sum(1 for case in self.cases if case.skipped)

    @property
    def errors(self) -> int:
        """How many of its cases are errors, which are among the failures."""
        return sum(1 for case in self.cases if case.is_error)


@dataclass(frozen=True, slots=True)
class Run:
    """What `exec` has run: COMMAND's exit code, the scenario, the seed of the default sandbox, the wall time at
    which COMMAND began, in ISO 8601, and the version of the simulator."""

    command_exit: int
    scenario: str
    seed: int
    began: str
    version: str = __version__


def all_ok(suites: Iterable[Suite]) -> bool:
    """True when every case is ok."""
    return not any(suite.failures for suite in suites)
