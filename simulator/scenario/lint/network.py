"""Network statuses that the service's staging never reports (SPEC 7.3)."""

from collections.abc import Iterator

from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.network import INTERRUPTED


def lint_network(root: Reader, source: str) -> None:
    """Report statuses of `source` by which that product is healthy in a staging."""
    if root["environment"].text("staging") != "staging":
        return
    for status in _statuses(root):
        if status.text() == "Healthy" and status.position.source == source:
            text = f"staging reports an interruption of {INTERRUPTED} at all times; `environment: production` need not"
            status.problem("always_interrupted", text)
    for item in root["network"][INTERRUPTED].items()[:1]:
        if item["at"].duration() and item["at"].position.source == source:
            text = f"{INTERRUPTED} is healthy before this, but staging reports an interruption at all times"
            item["at"].problem("always_interrupted", f"{text}; begin at 0s")


def _statuses(root: Reader) -> Iterator[Reader]:
    planned = root["network"][INTERRUPTED]
    if planned.is_list:
        yield from (item["status"] for item in planned.items())
    else:
        yield planned
    for item in root["schedule"].items():
        if item["network"]["product"].text() == INTERRUPTED:
            yield item["network"]["status"]
