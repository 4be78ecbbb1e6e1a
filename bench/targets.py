"""What the figures should be, beside what they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bench.comparisons import REFUSED
from bench.results import Results
from bench.tail import BARE_NAME, CONNECTIONS, OUR_NAME

RATIOS = {
    "topup": ("POST /v2/topup, creates", 0.45),
    "requery": ("POST /v2/topup, re-query", 0.60),
    "balance": ("GET /v2/balance", 0.80),
    "network": ("GET /v2/networkstatus", 0.80),
    "catalog": ("GET /v2/catalog, 13 products", 0.70),
    "callbacks": ("topup, running clock, callbacks to a fast receiver", 0.125),
    "kept-process": ("--data-dir, --durability process, against memory", 0.70),
}
BARE_START_S = 0.15  # the start of the bare server on the machine that the target of ours is for
SIGNED_START_S = 0.40
EXEC_S = 0.5
MEMORY_MIB = 65.0
REFUSED_TIMES = 2.0
TAIL_TIMES = 3.0
PAUSE_MS = 40.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """A figure beside its bound, the most or the least that it may be. `by_cpu` is the same by CPU time, where there is
    such a figure."""

    title: str
    bound: float
    figure: float
    unit: str = ""
    is_most: bool = True
    by_cpu: float | None = None

    def said(self) -> str:
        """Whether it is met, in a word or two."""
        if self.by_cpu is None or self._holds(self.by_cpu) == self._holds(self.figure):
            return "yes" if self._holds(self.figure) else "no"
        return "by rate, not by CPU" if self._holds(self.figure) else "by CPU, not by rate"

    def _holds(self, figure: float) -> bool:
        return figure <= self.bound if self.is_most else figure >= self.bound


def judged(results: Results) -> Iterator[Verdict]:
    """Yield a verdict on every figure that was measured and has a bound."""
    for cell in results.cells:
        ratio = cell.cpu_ratio()
        if cell.name in RATIOS:
            title, bound = RATIOS[cell.name]
            figure = median(cell.ratios())
            yield Verdict(f"{title}, {cell.connections}", bound, figure, is_most=False, by_cpu=ratio)
        elif cell.name in REFUSED and ratio:
            yield Verdict(f"CPU of a refused {cell.title}, {cell.connections}", REFUSED_TIMES, 1 / ratio)
    for count in CONNECTIONS:
        ours, bare = results.tail(OUR_NAME, count), results.tail(BARE_NAME, count)
        if ours and bare and (times := ours.ratio_to(bare, "p99_ms")) is not None:
            yield Verdict(f"p99 of a creating topup to the bare app's, {count}", TAIL_TIMES, times)
        if ours:
            yield Verdict(f"longest pause of the server, {count}", PAUSE_MS, ours.longest("gap_s") * 1e3, "ms")
    if startup := results.startup:
        start_s = median(startup.ratios()) * BARE_START_S
        yield Verdict(f"start to signed answer, where bare takes {BARE_START_S} s", SIGNED_START_S, start_s, "s")
        if startup.exec_s:
            yield Verdict("reseller-sim exec -- true", EXEC_S, median(startup.exec_s), "s")
        if startup.settled_mib:
            yield Verdict("resident memory after the start", MEMORY_MIB, median(startup.settled_mib), "MiB")
