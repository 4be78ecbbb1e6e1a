"""The figures of a run as tables: for a terminal, for the page `bench/RESULTS.md`, and for a program."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.results import Results
from bench.rounds import Cell
from bench.startup import Startup
from bench.tail import BARE_NAME, Tail
from bench.targets import Verdict, judged
from tools.tables import Rows, aligned, markdown

UNKNOWN = "-"
STARVED = 0.1  # from here on the page says that the run was disturbed
HOW = """\
One core runs the load and one the servers, and one server at a time is asked. Rounds are interleaved, bare and ours,
and ratios are taken pair by pair; of several the median is shown. The bare app is an ASGI application on the same
uvicorn (uvloop, httptools) that answers fixed bytes: 300 or, for a catalog, as many as ours.
[docs/speed.md](../docs/speed.md) has more."""
CELLS = """\
`ratio` is ours a second divided by bare's, in pairs of rounds; `by CPU` is bare's CPU time for a request divided by
ours, which other work on the machine disturbs less. Where a row says "to", it names the other side. `load CPU` is the
largest share of its core that the load generator used."""
TAIL = """\
`POST /v2/topup` that creates, by turns with the bare app in ten slices. p50 to p99.9 are medians over the slices, max
and gap the longest of all. The gap is the longest time in which no connection was answered; starved is the share of its
time in which the server could have run and had no core. wrk corrects its percentiles for what it could not send."""
STARTUP = """\
Of a wheel that was built and installed into a new environment, with the libraries of this one; bare by the same Python.
Each figure is of processes started anew."""


class Section(NamedTuple):
    """A table under its title and text; the first row has the headings."""

    title: str
    text: str
    rows: Rows


def sections(results: Results) -> list[Section]:
    """Return what was measured."""
    found = [
        Section("Targets", "", _verdicts(judged(results))),
        Section("Rows", CELLS, _cells(results.cells)),
        Section("The tail", TAIL, _tails(results.tails)),
    ]
    if results.startup:
        found.append(Section("Start and memory", STARTUP, _startup(results.startup)))
    return [section for section in found if len(section.rows) > 1]


def text(results: Results) -> str:
    """Return all tables, aligned."""
    return "\n\n".join(f"{title}\n{aligned(rows)}" for title, _, rows in sections(results))


def page(results: Results) -> str:
    """Return the page."""
    about = markdown([("", ""), *results.machine.document().items()])
    parts = ["# Results of `make bench`", "<!-- Written by `make bench`. -->", about, *_disturbance(results), HOW]
    for title, words, rows in sections(results):
        parts += [f"## {title}", *filter(None, [words]), markdown(rows)]
    if results.failures:
        parts += ["## What could not be measured", *(f"- {failure.splitlines()[0]}" for failure in results.failures)]
    return "\n\n".join(parts) + "\n"


def document(results: Results) -> dict[str, Any]:
    """Return the tables as objects by heading."""
    tables = {title: [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] for title, _, rows in sections(results)}
    return {"machine": results.machine.document(), "failures": results.failures, **tables}


def _disturbance(results: Results) -> Iterator[str]:
    """Yield a warning when the servers of the tail waited for their core."""
    starved = max((tail.starved or 0.0 for tail in results.tails), default=0.0)
    if starved >= STARVED:
        yield (
            f"The machine was shared: a server of the tail waited for its core in {starved:.0%} of its time. Latencies "
            "and gaps are then those of the neighbours as well; ratios by CPU time are disturbed less."
        )


def _verdicts(verdicts: Iterable[Verdict]) -> Rows:
    rows: list[Sequence[str]] = [("target", "bound", "measured", "by CPU", "met")]
    for one in verdicts:
        bound = f"{'at most' if one.is_most else 'at least'} {one.bound:g} {one.unit}".rstrip()
        by_cpu = UNKNOWN if one.by_cpu is None else f"{one.by_cpu:.2f}"
        rows.append((one.title, bound, f"{one.figure:.2f}", by_cpu, one.said()))
    return rows


def _cells(cells: Sequence[Cell]) -> Rows:
    heading = "row, conn, ratio, min, max, by CPU, ours/s, bare/s, p50 ms, p99 ms, bare p50, bare p99, CPU us, bare us"
    return [(*heading.split(", "), "load CPU"), *map(_cell, cells)]


def _cell(cell: Cell) -> tuple[str, ...]:
    ratios = cell.ratios()
    return (
        cell.title,
        str(cell.connections),
        *(f"{ratio:.3f}" for ratio in (median(ratios), min(ratios), max(ratios))),
        UNKNOWN if (by_cpu := cell.cpu_ratio()) is None else f"{by_cpu:.3f}",
        *(f"{cell.typical(side, 'per_second'):.0f}" for side in (1, 0)),
        *(f"{cell.typical(side, figure):.2f}" for side in (1, 0) for figure in ("p50_ms", "p99_ms")),
        *(f"{median(spent):.0f}" if (spent := cell.cpu_us(side)) else UNKNOWN for side in (1, 0)),
        f"{cell.load_cpu():.0%}",
    )


def _tails(tails: Sequence[Tail]) -> Rows:
    heading = "server, conn, answers, per s, to bare, p50 ms, p99 ms, p99.9 ms, max ms, gap ms, CPU us, starved"
    return [heading.split(", "), *(_tail(tail, tails) for tail in tails)]


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


def _startup(startup: Startup) -> Rows:
    rows: list[Sequence[str]] = [("start to first answer", "median", "min", "max")]
    for title, figures, unit, factor in (
        ("ours, first signed answer", startup.signed_s, "ms", 1e3),
        ("bare server", startup.bare_s, "ms", 1e3),
        ("python -c pass", startup.python_s, "ms", 1e3),
        ("reseller-sim exec -- true", startup.exec_s, "ms", 1e3),
        ("ratio, signed / bare", startup.ratios(), "times", 1),
        ("resident memory, 3 s after the first answer", startup.settled_mib, "MiB", 1),
    ):
        if figures:
            shown = (median(figures), min(figures), max(figures))
            rows.append((title, *(f"{value * factor:.4g} {unit}" for value in shown)))
    return rows
