"""The figures as a table for a person and as JSON for a program."""

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from statistics import median
from typing import Any

from bench.pauses import CONNECTIONS, Row
from bench.rounds import Cell
from bench.servers import Cores
from bench.startup import Startup

LIBRARIES = ("uvicorn", "uvloop", "httptools", "aiohttp", "msgspec", "starlette")

COLUMNS = (
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

LEGEND = """\
ratio: ours/s divided by bare/s of the round before it, the median of the pairs; it is the claim, the rest is context.
by CPU: bare's CPU time for a request divided by ours, which neighbours on the machine disturb less.
CPU us, bare us: CPU time of the server for a request (of the sender for a callback).
load CPU: the load generator's share of its core."""


def cell_table(cells: Sequence[Cell]) -> str:
    """All cells, aligned, one a line under a line of headings."""
    return _aligned([COLUMNS, *(_cell_row(cell) for cell in cells)])


def _cell_row(cell: Cell) -> tuple[str, ...]:
    ratios = cell.ratios()
    return (
        cell.title,
        str(cell.connections),
        f"{median(ratios):.3f}",
        f"{min(ratios):.3f}",
        f"{max(ratios):.3f}",
        "-" if (by_cpu := cell.cpu_ratio()) is None else f"{by_cpu:.3f}",
        f"{cell.typical(1, 'per_second'):.0f}",
        f"{cell.typical(0, 'per_second'):.0f}",
        *(f"{cell.typical(side, figure):.2f}" for side in (1, 0) for figure in ("p50_ms", "p99_ms")),
        *(f"{median(spent):.0f}" if (spent := cell.cpu_us(side)) else "-" for side in (1, 0)),
        f"{cell.load_cpu():.0%}",
    )


def pauses_table(rows: Sequence[Row]) -> str:
    """Latencies of creating topups, beside how many payments."""
    heading = (f"latency in ms, {CONNECTIONS} connections", "payments", "p50", "p99", "p99.9", "max")
    return _aligned(
        [heading, *((row.title, f"{row.payments:,}", *(f"{ms:.2f}" for ms in row.figures())) for row in rows)]
    )


def pauses_document(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The same for `--json`."""
    names = ("p50_ms", "p99_ms", "p999_ms", "max_ms")
    return [
        {"title": row.title, "payments": row.payments, **dict(zip(names, row.figures(), strict=True))} for row in rows
    ]


def startup_table(startup: Startup) -> str:
    """The four times and their ratio."""
    rows: list[Sequence[str]] = [("start to first answer", "median ms", "min", "max")]
    for title, field in (
        ("ours, GET /_sim/health", "health_s"),
        ("ours, first signed answer", "signed_s"),
        ("bare server", "bare_s"),
        ("python -c pass", "python_s"),
    ):
        rows.append((title, *(f"{value * 1e3:.0f}" for value in _spread(getattr(startup, field)))))
    rows.append(("ours, signed - bare", *(f"{value * 1e3:.0f}" for value in _spread(startup.overheads_s()))))
    rows.append(("ratio, signed / bare", *(f"{value:.2f}" for value in _spread(startup.ratios()))))
    return _aligned(rows)


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return median(values), min(values), max(values)


def _aligned(rows: Iterable[Sequence[str]]) -> str:
    rows = list(rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column else text.ljust(width) for column, (text, width) in enumerate(cells)
        ).rstrip()
        for cells in (list(zip(row, widths, strict=True)) for row in rows)
    )


def machine(cores: Cores) -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "load_core": cores.load,
        "server_core": cores.server,
        "versions": {name: version(name) for name in LIBRARIES},
    }


def cell_document(cell: Cell) -> dict[str, Any]:
    """One cell for `--json`: medians, the spread of the ratio, and every round."""
    ratios = cell.ratios()
    return {
        "name": cell.name,
        "connections": cell.connections,
        "ratio": {"median": median(ratios), "min": min(ratios), "max": max(ratios)},
        "cpu_ratio": cell.cpu_ratio(),
        "load_cpu_max": cell.load_cpu(),
        "ours": _side_document(cell, 1),
        "bare": _side_document(cell, 0),
    }


def _side_document(cell: Cell, side: int) -> dict[str, Any]:
    return {
        "per_second": cell.typical(side, "per_second"),
        "p50_ms": cell.typical(side, "p50_ms"),
        "p99_ms": cell.typical(side, "p99_ms"),
        "cpu_us": median(spent) if (spent := cell.cpu_us(side)) else None,
        "rounds": [
            {
                "requests": pair[side].load.requests,
                "wall_s": pair[side].load.wall_s,
                "p50_ms": pair[side].load.p50_ms,
                "p99_ms": pair[side].load.p99_ms,
                "load_cpu_s": pair[side].load.cpu_s,
                "measured_cpu_s": pair[side].measured_cpu_s,
            }
            for pair in cell.pairs
        ],
    }


def startup_document(startup: Startup) -> dict[str, Any]:
    """The start times for `--json`: each run's seconds and the median ratio."""
    return {
        "health_s": startup.health_s,
        "signed_s": startup.signed_s,
        "bare_s": startup.bare_s,
        "python_s": startup.python_s,
        "ratio": median(startup.ratios()),
    }
