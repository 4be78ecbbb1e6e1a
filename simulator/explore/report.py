"""What an exploration came to, and who is told of it meanwhile."""

from dataclasses import dataclass, field
from typing import Protocol

from simulator.explore.faults import Fault
from simulator.explore.findings import Finding, Once
from simulator.explore.judging import ways
from simulator.explore.record import Verdict
from simulator.explore.trials import Faults


class Listener(Protocol):
    """Is told of what fails as soon as it is written."""

    def found(self, finding: Finding) -> None:
        """A finding."""

    def once(self, once: Once) -> None:
        """What failed once and not again, which is no finding."""


@dataclass(slots=True)
class Report:
    """What came of it: how many single faults and storms there are, how many of them were run, and what each came to.
    `once` is what failed once and not again, and counts as survived; `storms_survived_s` is how long the storms took
    that the command survived, by the wall. `no_storms` says why there were none, though some were wanted."""

    singles: list[Fault] = field(default_factory=list)
    results: dict[str, Verdict] = field(default_factory=dict)
    storms: int = 0
    storms_failed: int = 0
    storms_survived_s: float = 0.0
    no_storms: str = ""
    findings: list[Finding] = field(default_factory=list)
    once: list[Once] = field(default_factory=list)

    @property
    def survived(self) -> int:
        """How many single faults the command survived."""
        return sum(1 for one in self.results.values() if one.survived)

    @property
    def unstruck(self) -> int:
        """How many of these met nothing: the command did not do the same again."""
        return sum(1 for one in self.results.values() if one.survived and not one.is_struck)

    @property
    def of_storms(self) -> int:
        """How many findings storms have made."""
        return sum(1 for one in self.findings if one.is_of_storm)

    def is_told(self, faults: Faults, verdict: Verdict) -> bool:
        """True when findings of some of these faults have told all the ways in which it failed."""
        words = words_of(faults)
        return self._tell(verdict, [one for one in self.findings if words_of(one.failure.faults) <= words])

    def is_told_by_place(self, faults: Faults, verdict: Verdict) -> bool:
        """The same of findings that strike some of the same requests, payments, callbacks or weather, in whatever way:
        who mends these sees afterwards whether there is more to it."""
        places = {one.place for one in faults}
        few = [one for one in self.findings if len(one.failure.faults) <= len(faults)]
        return self._tell(verdict, [one for one in few if {each.place for each in one.failure.faults} <= places])

    @staticmethod
    def _tell(verdict: Verdict, findings: list[Finding]) -> bool:
        told = {way for one in findings for way in ways(one.failure.verdict.reasons)}
        return ways(verdict.reasons) <= told

    def put_in_order(self) -> None:
        """The findings of single faults in the order of these, and then those of storms: whichever ended first."""
        order = {one.words: place for place, one in enumerate(self.singles)}

        def place(one: Finding) -> int:
            return len(order) if one.is_of_storm else order[one.failure.faults[0].words]

        self.findings.sort(key=place)


def words_of(faults: Faults) -> frozenset[str]:
    """Which faults these are."""
    return frozenset(one.words for one in faults)
