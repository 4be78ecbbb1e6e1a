"""A run as a page, `bench/RESULTS.md`: on what, how, each figure, and each target beside it with whether it is met."""

from typing import Any

from bench import tables
from bench.results import Results
from bench.tables import Rows
from bench.targets import judged

STARVED = 0.1  # from here on the run is said to have been disturbed
HOW = """\
One core is for the load and one for the servers, of which one at a time is asked. Rounds are interleaved, bare and
ours, and ratios are taken pair by pair; of several the median is told. The bare app is an ASGI application on the same
uvicorn (uvloop, httptools) that answers fixed bytes: 300 or, for a catalog, as many as ours.
[docs/speed.md](../docs/speed.md) has more."""
CELLS = """\
`ratio` is ours a second divided by bare's, in pairs of rounds; `by CPU` is bare's CPU time for a request divided by
ours, which other work on the machine disturbs less. Where a row says "to", the other side is not the bare app but what
is named; that of callbacks is the HTTP client alone. `load CPU` is the largest share of its core that the load
generator used."""
TAIL = """\
`POST /v2/topup` that creates, by turns with the bare app in ten slices. p50 to p99.9 are medians over the slices, max
and gap the longest of all. The gap is the longest time in which no connection was answered; starved is the share of its
time in which the server could have run and had no core. wrk corrects its percentiles for what it could not send."""
PAUSES = "By our own generator: the first payments, and those up to the number that is told."
STARTUP = """\
Of a wheel that was built and installed into a new environment, with the libraries of this one; bare by the same Python.
Each figure is of processes started anew."""
PEERS = """\
The simulator checks a signature, keeps a ledger and writes a journal. The peers and the bare app, as they are set up
here, answer what they were told, to any request, and know no state and no signature. All answer the same requests, the
peers with the body of ours, by turns on one core, after a warm-up. CPU time is that of all threads; the main thread
alone is known to be starved, which tells nothing of WireMock."""


def of(results: Results) -> str:
    """The whole page."""
    machine = results.machine.document()
    parts = ["# Results of `make bench`", "<!-- Written by `make bench`. -->", _table(_about(machine)), *_busy(results)]
    parts += ["## Targets", _table(tables.of_verdicts(judged(results)))]
    parts += ["## How it was measured", HOW]
    parts += _section("Rows", CELLS, tables.of_cells(results.cells))
    parts += _section("The tail", TAIL, tables.of_tails(results.tails))
    parts += _section("The longest waits beside many payments", PAUSES, tables.of_pauses(results.pauses))
    if results.startup:
        parts += _section("Start and memory", STARTUP, tables.of_startup(results.startup))
    if results.peers:
        parts += _section("Peers", PEERS, tables.of_tails(results.peers.tails))
        parts += [_table(tables.of_standings(results.peers))]
        parts += [f"Not measured: {one}." for one in results.peers.missing]
    if results.failures:
        parts += ["## What could not be measured", *(f"- {failure.splitlines()[0]}" for failure in results.failures)]
    return "\n\n".join(parts) + "\n"


def _about(machine: dict[str, Any]) -> Rows:
    pinned = machine["load_core"] is not None
    return [
        ("", ""),
        ("date", f"{machine['date']}, {machine['minutes']:g} minutes"),
        ("commit", machine["commit"]),
        ("Python", machine["python"]),
        ("libraries", ", ".join(f"{name} {number}" for name, number in machine["versions"].items())),
        ("cores", f"{machine['cpus']}, {'one each for servers and load' if pinned else 'shared by servers and load'}"),
        ("load generator", machine["generator"]),
        ("load average, at the begin", _loads(machine["load_average_begin"])),
        ("load average, at the end", _loads(machine["load_average_end"])),
    ]


def _loads(loads: tuple[float, ...]) -> str:
    return ", ".join(f"{load:.2f}" for load in loads) or "unknown"


def _busy(results: Results) -> list[str]:
    """Whether others had the cores meanwhile, as far as the servers of the tail could see it."""
    starved = max((tail.starved or 0.0 for tail in results.tails), default=0.0)
    if starved < STARVED:
        return []
    return [
        f"The machine was shared: a server of the tail waited for its core in {starved:.0%} of its time. Latencies and "
        "gaps are then those of the neighbours as well, and ratios by rate can be wrong in either direction; those by "
        "CPU time are disturbed less."
    ]


def _section(title: str, text: str, rows: Rows) -> list[str]:
    return [f"## {title}", text, _table(rows)] if len(rows) > 1 else []


def _table(rows: Rows) -> str:
    heading, *others = rows
    lines = [heading, ["---"] * len(heading), *others]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
