"""Answers that were none: the service's own errors, too many requests, connections that ended. They are counted."""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

from simulator.contract.endpoints import endpoints
from simulator.scenario.yaml import flow
from simulator.wire.traffic import Call

PATH_CHARS_MAX = 300
STATUS_MAX = 599
LEAST = Decimal("0.0001")
_PARAMETER = re.compile(r"\{[^{}]*\}")
TOO_MANY = 429
WRONG_FROM = 500


class Failures:
    """How often each endpoint was called, and how often it failed."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.failed: Counter[tuple[str, str, int]] = Counter()

    def note(self, call: Call) -> None:
        """Any call."""
        endpoint = _endpoint(call.method, call.path)
        if endpoint is None:
            return
        self.calls[endpoint] += 1
        if call.status in (0, TOO_MANY) or call.status >= WRONG_FROM:
            self.failed[(*endpoint, call.status)] += 1

    def lines(self) -> Iterator[str]:
        """A section `faults`, to be taken out of its comment by those who want it."""
        if not self.failed:
            return
        yield "What failed at the wire is not played again. For such failures remove `# ` from the lines below:"
        yield ""
        yield "faults:"
        for (method, path, status), count in sorted(self.failed.items()):
            total = self.calls[method, path]
            yield f"  - {flow(_fault(method, path, status, count, total))}    # {count} of {total}"


def _fault(method: str, path: str, status: int, count: int, total: int) -> dict[str, Any]:
    then: dict[str, Any] = {"status": min(status, STATUS_MAX)} if status else {"disconnect": True}
    share = {} if count >= total else {"chance": max(LEAST, (Decimal(count) / total).quantize(LEAST))}
    return {"when": {"method": method, "path": path}, **share, "then": then}


@cache
def _exact() -> dict[tuple[str, str], tuple[str, str]]:
    known = [(one.method, one.path) for one in endpoints() if not one.has_parameters]
    return {one: one for one in known}


def _endpoint(method: str, path: str) -> tuple[str, str] | None:
    """The method and the path of a known endpoint, with `*` for a parameter; None for another one."""
    found = _exact().get((method, path))
    if found is not None or len(path) > PATH_CHARS_MAX:
        return found
    matching = (one for one in endpoints() if one.has_parameters and one.method == method and one.has_path(path))
    return next(((method, _PARAMETER.sub("*", one.path)) for one in matching), None)
