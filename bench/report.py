"""The figures as tables of text, for a person at a terminal."""

import sys

from bench import tables
from bench.results import Results
from bench.tables import Rows
from bench.targets import judged

CELLS = """\
ratio: ours/s divided by bare/s of the round before it, the median of the pairs; it is the claim, the rest is context.
by CPU: bare's CPU time for a request divided by ours, which neighbours on the machine disturb less.
CPU us, bare us: CPU time of the server for a request (of the sender for a callback).
load CPU: the load generator's share of its core."""

TAIL = """\
p50 to p99.9 are medians over the slices, max and gap the longest of all; to bare: answers a second, pair by pair.
gap: the longest time in which nobody was answered; starved: the share of its time in which it waited for a core."""


def show(results: Results) -> None:
    """The tables to stdout, failures to stderr."""
    if results.machine.cores.load is None:
        print("load and servers share all CPUs: processes cannot be pinned here, so expect noise\n")
    for text in _parts(results):
        print(text, end="\n\n")
    for failure in results.failures:
        print(f"failed: {failure}", file=sys.stderr)


def _parts(results: Results) -> list[str]:
    parts = []
    if results.cells:
        parts += [aligned(tables.of_cells(results.cells)), CELLS]
    if results.tails:
        parts += [aligned(tables.of_tails(results.tails)), TAIL]
    if results.pauses:
        parts.append(aligned(tables.of_pauses(results.pauses)))
    if results.startup:
        parts.append(aligned(tables.of_startup(results.startup)))
    if results.peers:
        parts += [aligned(tables.of_tails(results.peers.tails)), aligned(tables.of_standings(results.peers))]
    if verdicts := judged(results):
        parts.append(aligned(tables.of_verdicts(verdicts)))
    return parts


def aligned(rows: Rows) -> str:
    """One row a line, its first column to the left and the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column else text.ljust(width) for column, (text, width) in enumerate(cells)
        ).rstrip()
        for cells in (list(zip(row, widths, strict=True)) for row in rows)
    )
