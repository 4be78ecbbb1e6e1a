"""What the figures should be, beside what they are."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from bench.refusals import REFUSALS
from bench.results import Results
from bench.tail import BARE_NAME, CONNECTIONS, OUR_NAME

Figure = Callable[[Results], float | None]
RATIOS = {
    "topup": ("POST /v2/topup, creates", 0.45),
    "requery": ("POST /v2/topup, re-query", 0.60),
    "balance": ("GET /v2/balance", 0.80),
    "network": ("GET /v2/networkstatus", 0.80),
    "catalog": ("GET /v2/catalog, 13 products", 0.70),
    "callbacks": ("topup, running clock, callbacks to a fast receiver", 0.25),
    "kept-process": ("--data-dir, --durability process, against memory", 0.60),
}
BARE_START_S = 0.15  # the start of the bare server on the machine that the target of ours is for
SIGNED_START_S = 0.40
EXEC_S = 0.5
MEMORY_MIB = 65.0
REFUSED_TIMES = 2.0
TAIL_TIMES = 3.0
PAUSE_MS = 20.0


@dataclass(frozen=True, slots=True)
class Target:
    """One figure and its bound. `beside` is the same by CPU time, where there is such a figure."""

    title: str
    bound: float
    figure: Figure
    is_most: bool = False  # the bound is the most that it may be, not the least
    unit: str = ""
    beside: Figure | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target beside what was measured."""

    target: Target
    figure: float
    by_cpu: float | None

    def is_met(self) -> bool:
        """By the figure itself."""
        return self._holds(self.figure)

    def said(self) -> str:
        """Whether it is met, in a word or two."""
        if self.by_cpu is None or self._holds(self.by_cpu) == self.is_met():
            return "yes" if self.is_met() else "no"
        return "by rate, not by CPU" if self.is_met() else "by CPU, not by rate"

    def _holds(self, figure: float) -> bool:
        return figure <= self.target.bound if self.target.is_most else figure >= self.target.bound


def judged(results: Results) -> list[Verdict]:
    """Every target whose figure was measured."""
    verdicts = []
    for target in targets(sorted({cell.connections for cell in results.cells})):
        figure = target.figure(results)
        if figure is not None:
            verdicts.append(Verdict(target, figure, target.beside(results) if target.beside else None))
    return verdicts


def targets(connections: list[int]) -> list[Target]:
    """All of them, those of rows at each number of connections."""
    found = [
        Target(f"{title}, {count}", bound, _ratio(name, count), beside=_cpu_ratio(name, count))
        for name, (title, bound) in RATIOS.items()
        for count in connections
    ]
    found += [
        Target(f"CPU of a refused {refused.title}, {count}", REFUSED_TIMES, _times_cpu(refused.name, count), True)
        for refused in REFUSALS
        for count in connections
    ]
    for count in CONNECTIONS:
        found.append(Target(f"p99 of a creating topup to the bare app's, {count}", TAIL_TIMES, _tail(count), True))
        found.append(Target(f"longest pause of the server, {count}", PAUSE_MS, _pause(count), True, "ms"))
    return [
        *found,
        Target(f"start to signed answer, where bare takes {BARE_START_S} s", SIGNED_START_S, _start, True, "s"),
        Target("reseller-sim exec -- true", EXEC_S, _exec, True, "s"),
        Target("resident memory after the start", MEMORY_MIB, _memory, True, "MiB"),
    ]


def _ratio(name: str, count: int) -> Figure:
    return lambda results: median(cell.ratios()) if (cell := results.cell(name, count)) else None


def _cpu_ratio(name: str, count: int) -> Figure:
    return lambda results: cell.cpu_ratio() if (cell := results.cell(name, count)) else None


def _times_cpu(name: str, count: int) -> Figure:
    def figure(results: Results) -> float | None:
        cell = results.cell(name, count)
        ratio = cell.cpu_ratio() if cell else None
        return 1 / ratio if ratio else None

    return figure


def _tail(count: int) -> Figure:
    def figure(results: Results) -> float | None:
        ours, bare = results.tail(OUR_NAME, count), results.tail(BARE_NAME, count)
        return ours.ratio_to(bare, "p99_ms") if ours and bare else None

    return figure


def _pause(count: int) -> Figure:
    return lambda results: tail.longest("gap_s") * 1e3 if (tail := results.tail(OUR_NAME, count)) else None


def _start(results: Results) -> float | None:
    return median(results.startup.ratios()) * BARE_START_S if results.startup else None


def _exec(results: Results) -> float | None:
    return results.startup.typical("exec_s") if results.startup else None


def _memory(results: Results) -> float | None:
    return results.startup.typical("settled_mib") if results.startup else None
