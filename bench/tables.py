"""The figures as rows of text under a row of headings, which `report` aligns and `page` writes as Markdown."""

from collections.abc import Sequence
from statistics import median

from bench.pauses import CONNECTIONS, Row
from bench.peers.measured import Peers
from bench.rounds import Cell
from bench.startup import Startup
from bench.tail import BARE_NAME, Tail
from bench.targets import Verdict

Rows = list[Sequence[str]]

CELLS = (
    "",
    "conn",
    "ratio",
    "min",
    "max",
    "by CPU",
    "ours/s",
    "bare/s",
    "p50 ms",
    "p99 ms",
    "bare p50",
    "bare p99",
    "CPU us",
    "bare us",
    "load CPU",
)
UNKNOWN = "-"


def of_cells(cells: Sequence[Cell]) -> Rows:
    """Each pair of servers, at so many connections."""
    return [CELLS, *(_cell(cell) for cell in cells)]


def _cell(cell: Cell) -> tuple[str, ...]:
    ratios = cell.ratios()
    return (
        cell.title,
        str(cell.connections),
        f"{median(ratios):.3f}",
        f"{min(ratios):.3f}",
        f"{max(ratios):.3f}",
        UNKNOWN if (by_cpu := cell.cpu_ratio()) is None else f"{by_cpu:.3f}",
        f"{cell.typical(1, 'per_second'):.0f}",
        f"{cell.typical(0, 'per_second'):.0f}",
        *(f"{cell.typical(side, figure):.2f}" for side in (1, 0) for figure in ("p50_ms", "p99_ms")),
        *(f"{median(spent):.0f}" if (spent := cell.cpu_us(side)) else UNKNOWN for side in (1, 0)),
        f"{cell.load_cpu():.0%}",
    )


def of_tails(tails: Sequence[Tail]) -> Rows:
    """Latencies of creating topups, and the longest time in which the server answered nobody."""
    heading = (
        "",
        "conn",
        "answers",
        "per s",
        "to bare",
        "p50 ms",
        "p99 ms",
        "p99.9 ms",
        "max ms",
        "gap ms",
        "CPU us",
        "starved",
    )
    return [heading, *(_tail(tail, tails) for tail in tails)]


def _tail(tail: Tail, tails: Sequence[Tail]) -> tuple[str, ...]:
    beside = [one for one in tails if (one.server, one.connections) == (BARE_NAME, tail.connections)]
    to_bare = tail.ratio_to(beside[0], "per_second") if beside else None
    return (
        tail.server,
        str(tail.connections),
        f"{tail.answers():,}",
        f"{tail.typical('per_second'):.0f}",
        UNKNOWN if to_bare is None else f"{to_bare:.2f}",
        *(f"{tail.typical(figure):.2f}" for figure in ("p50_ms", "p99_ms", "p999_ms")),
        f"{tail.longest('max_ms'):.2f}",
        f"{tail.longest('gap_s') * 1e3:.2f}",
        UNKNOWN if tail.cpu_us is None else f"{tail.cpu_us:.0f}",
        UNKNOWN if tail.starved is None else f"{tail.starved:.0%}",
    )


def of_pauses(rows: Sequence[Row]) -> Rows:
    """Latencies of creating topups, beside how many payments."""
    heading = (f"latency in ms, {CONNECTIONS} connections", "payments", "p50", "p99", "p99.9", "max")
    return [heading, *((row.title, f"{row.payments:,}", *(f"{ms:.2f}" for ms in row.figures())) for row in rows)]


def of_startup(startup: Startup) -> Rows:
    """The times and their ratio, and what a server holds that was just started."""
    rows: Rows = [("start to first answer", "median ms", "min", "max")]
    for title, field in (
        ("ours, GET /_sim/health", "health_s"),
        ("ours, first signed answer", "signed_s"),
        ("bare server", "bare_s"),
        ("python -c pass", "python_s"),
        ("reseller-sim exec -- true", "exec_s"),
    ):
        if spent := getattr(startup, field):
            rows.append((title, *(f"{value * 1e3:.0f}" for value in _spread(spent))))
    rows.append(("ours, signed - bare", *(f"{value * 1e3:.0f}" for value in _spread(startup.overheads_s()))))
    rows.append(("ratio, signed / bare", *(f"{value:.2f}" for value in _spread(startup.ratios()))))
    for title, mib in (("with the first answer", startup.answered_mib), ("3 s later", startup.settled_mib)):
        if mib is not None:
            rows.append((f"resident MiB, {title}", f"{mib:.1f}", "", ""))
    return rows


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return median(values), min(values), max(values)


def of_standings(peers: Peers) -> Rows:
    """What each server needs to start, and holds after the load."""
    rows: Rows = [("", "version", "first answer after s", "resident MiB after the load")]
    for one in peers.standings:
        memory = UNKNOWN if one.memory_mib is None else f"{one.memory_mib:.0f}"
        rows.append((one.server, one.version or UNKNOWN, f"{one.start_s:.2f}", memory))
    return rows


def of_verdicts(verdicts: Sequence[Verdict]) -> Rows:
    """Each target beside its figure, and whether it is met."""
    rows: Rows = [("target", "", "measured", "by CPU", "met")]
    for verdict in verdicts:
        target = verdict.target
        bound = f"{'at most' if target.is_most else 'at least'} {target.bound:g} {target.unit}".rstrip()
        by_cpu = UNKNOWN if verdict.by_cpu is None else f"{verdict.by_cpu:.2f}"
        rows.append((target.title, bound, f"{verdict.figure:.2f}", by_cpu, verdict.said()))
    return rows
