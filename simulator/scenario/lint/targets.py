"""Addresses of callbacks and webhooks that no delivery is sent to: each attempt at them ends as blocked."""

from collections.abc import Iterator

from simulator.http_client.targets import reason_to_refuse
from simulator.scenario.reading.reader import Reader


def lint_targets(root: Reader, source: str) -> None:
    """Report the addresses of `source` that are never called."""
    for url in _urls(root):
        if url.text() and url.position.source == source and (reason := reason_to_refuse(url.text())):
            url.problem("never_called", f"nothing is sent there: {reason}")


def _urls(root: Reader) -> Iterator[Reader]:
    """Each target of callbacks, balance webhooks and catalog events."""
    for reseller in root["resellers"].items():
        yield reseller["callback"]["url"]
        yield reseller["balance_webhook"]["url"]
    yield root["webhooks"]["catalog"]["url"]
    for planned in root["schedule"].items():
        yield planned["settings"]["callback"]["url"]
        yield planned["webhook"]["url"]
