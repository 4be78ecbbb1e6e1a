"""`/_sim/sandboxes/{id}/coverage`: which rules, endpoints and outcomes were met, and which were not."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.contract.openapi import OPENAPI, load
from simulator.control.http import reply, sandbox_of
from simulator.control.parameters import refuse_other_parameters
from simulator.domain.model.outcomes import OUTCOMES, AnswerKind
from simulator.domain.reports.coverage import Coverage

NOT_AWAITED = frozenset({"405", "500"})
"""Statuses that no test has to meet at an endpoint: the answer to other methods, and to a mistake of the simulator."""

METHODS = ("get", "put", "post", "delete", "patch")

MethodAndPath = tuple[str, str]


async def show(request: Request) -> Response:
    """The coverage of one sandbox since its start or last reset."""
    refuse_other_parameters(request)
    return reply(rendered(sandbox_of(request).coverage()))


def rendered(coverage: Coverage) -> dict[str, Any]:
    """Coverage in the form of the control API."""
    parts = {
        "rules": _rules(coverage),
        "magic": _magic(coverage),
        "endpoints": list(_endpoints(coverage.answers)),
        "outcomes": _outcomes(coverage),
    }
    summary = {
        "rules": _share(rule["chosen"] for rule in parts["rules"]),
        "magic": _share(one["met"] for one in parts["magic"]),
        "endpoints": _share(one["calls"] for one in parts["endpoints"] if "*" not in (one["method"], one["path"])),
        "outcomes": _share(one["met"] for one in parts["outcomes"]),
    }
    return {"summary": summary, **parts}


def _share(met: Iterator[int]) -> dict[str, int]:
    counts = list(met)
    return {"met": sum(1 for count in counts if count), "total": len(counts)}


def _rules(coverage: Coverage) -> list[dict[str, Any]]:
    return [
        {"scenario": key.scenario, "section": key.section, "id": key.id, "name": key.name}
        | {"matched": count.matched, "chosen": count.chosen}
        for key, count in coverage.rules.items()
    ]


def _magic(coverage: Coverage) -> list[dict[str, Any]]:
    return [
        {"digits": digits, "outcome": one.text, "met": one.met, "chosen": dict(one.chosen)}
        for digits, one in coverage.magic.items()
    ]


def _outcomes(coverage: Coverage) -> list[dict[str, Any]]:
    return [
        {"id": str(one.id), "group": one.group, "text": one.text, "met": count > 0, "count": count}
        for one in OUTCOMES
        for count in [coverage.outcomes[one.id]]
    ]


def _endpoints(answers: Counter[AnswerKind]) -> Iterator[dict[str, Any]]:
    """Those of the contract first, each with its documented statuses that were not met."""
    by_endpoint: dict[MethodAndPath, list[tuple[AnswerKind, int]]] = {}
    for answered, count in sorted(answers.items()):
        by_endpoint.setdefault((answered.method, answered.path), []).append((answered, count))
    documented = _documented()
    for method, path in (*documented, *(found for found in by_endpoint if found not in documented)):
        sorts = by_endpoint.get((method, path), [])
        listed_answers = [_answer(answered, count) for answered, count in sorts]
        met = {str(one["status"]) for one in listed_answers}
        yield {
            "method": method,
            "path": path,
            "calls": sum(count for _, count in sorts),
            "answers": listed_answers,
            "never": [status for status in documented.get((method, path), ()) if status not in met],
        }


def _answer(answered: AnswerKind, count: int) -> dict[str, Any]:
    status = 0 if answered.ending == "abort" else answered.status
    return {"status": status, "error": str(answered.error), "ending": answered.ending, "count": count}


def _documented() -> dict[MethodAndPath, list[str]]:
    """The statuses in the contract that a test may meet, by method and path."""
    return {
        (method.upper(), path): [status for status in operation["responses"] if status not in NOT_AWAITED]
        for path, item in load(OPENAPI)["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }
