"""Every figure of a run as JSON, for a program."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from bench.pauses import Row
from bench.results import Results
from bench.rounds import Cell
from bench.startup import Startup
from bench.targets import judged


def of(results: Results) -> dict[str, Any]:
    """Everything for `--json`."""
    return {
        "machine": results.machine.document(),
        "cells": [cell_document(cell) for cell in results.cells],
        "tail": [tail.document() for tail in results.tails],
        "pauses": pauses_document(results.pauses),
        "startup": startup_document(results.startup) if results.startup else None,
        "peers": results.peers.document() if results.peers else None,
        "targets": [verdict.document() for verdict in judged(results)],
        "failures": results.failures,
    }


def pauses_document(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The same for `--json`."""
    names = ("p50_ms", "p99_ms", "p999_ms", "max_ms")
    return [
        {"title": row.title, "payments": row.payments, **dict(zip(names, row.figures(), strict=True))} for row in rows
    ]


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
    """The start times for `--json`: each run's seconds, the median ratio, and resident memory."""
    return {
        "health_s": startup.health_s,
        "signed_s": startup.signed_s,
        "bare_s": startup.bare_s,
        "python_s": startup.python_s,
        "exec_s": startup.exec_s,
        "answered_mib": startup.answered_mib,
        "settled_mib": startup.settled_mib,
        "ratio": median(startup.ratios()),
    }
