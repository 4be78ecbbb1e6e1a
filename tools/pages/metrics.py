"""Render docs/metrics.md: every metric of the server."""

from simulator.control.metrics import DEFINITIONS
from tools.tables import markdown

ABOUT = """<!-- Generated from simulator/control/metrics.py by `make docs`; change it there. -->

# Metrics

Look up the metrics of `GET /_sim/metrics`. [Operations](operations.md#metrics) shows how to read them.

"""


def as_markdown() -> str:
    """Return the content of the page."""
    rows = (
        (f"`{name}`", one.kind, ", ".join(f"`{label}`" for label in one.labels), one.about)
        for name, one in DEFINITIONS.items()
    )
    return ABOUT + markdown([("metric", "kind", "labels", "meaning"), *rows]) + "\n"
