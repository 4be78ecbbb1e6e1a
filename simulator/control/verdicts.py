"""`/_sim/sandboxes/{id}/expectations`, `…/audit` and `…/coverage`: the verdicts on a run."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.audit.clauses import Obligation, as_json
from simulator.audit.client_traffic import Rate
from simulator.audit.obligations import audited
from simulator.contract.openapi import OPENAPI, load
from simulator.control import render
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import in_slices, reply, sandbox_of, sandboxes_of
from simulator.domain.model.expectations import Expectation, Verdict
from simulator.domain.model.outcomes import OUTCOMES, AnswerKind
from simulator.domain.reports.coverage import Coverage
from simulator.runtime.background import in_background, place
from simulator.runtime.expectation_verdicts import verdicts_in_slices
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.traffic_log import TrafficLog, log_in_slices, log_of
from simulator.wire.money import number


async def show_expectations(request: Request) -> Response:
    """Return every expectation of the scenario with its current verdict."""
    refuse_other_parameters(request)
    return reply(expectations_shown(await in_slices(verdicts_in_slices(sandbox_of(request)))))


def expectations_shown(verdicts: list[Verdict]) -> dict[str, Any]:
    """Return verdicts in the form of the control API."""
    return {"ok": all(one.ok for one in verdicts), "expectations": [_row(one) for one in verdicts]}


def _row(verdict: Verdict) -> dict[str, Any]:
    expectation = verdict.expectation
    return {
        **render.members(expectation, "name", "kind"),
        "place": render.place(expectation.place),
        "expected": _expected(expectation),
        **render.members(verdict, "actual", "ok", "message", "nearest", "pending"),
    }


def _expected(expectation: Expectation) -> Any:
    if expectation.amount is not None:
        return number(expectation.amount)
    bounds: dict[str, Any] = {"min": expectation.count.low, "max": expectation.count.high}
    if expectation.per:
        bounds["per"] = expectation.per
    if expectation.apart is not None:
        bounds["apart"] = expectation.apart.total_seconds()
    return bounds


async def show_audit(request: Request) -> Response:
    """Return every obligation, judged from the journal and the delivery logs."""
    refuse_other_parameters(request)
    live = sandbox_of(request)
    with place(0):
        [log] = await in_slices(log_in_slices(live))
        obligations = await in_background(judged, log, rate_of(live))
    sandboxes = sandboxes_of(request)
    # A refused request may have the credentials of another sandbox.
    owners = {one.owner for one in log.exchanges if one.owner}
    mask = sandboxes.mask_of(live, map(sandboxes.find, owners))
    return reply(as_json(obligations, left_out=log.left_out, shown=mask.text))


def judged(log: TrafficLog, rate: Rate | None) -> list[Obligation]:
    """Return the audit of a log."""
    return audited(log.calls(), log.notifications(), until=log.now, rate=rate)


def answer_of(live: LiveSandbox) -> dict[str, Any]:
    """Return the audit of a sandbox that no longer changes; its secrets are not hidden yet."""
    log = log_of(live)
    return as_json(judged(log, rate_of(live)), left_out=log.left_out)


def rate_of(live: LiveSandbox) -> Rate | None:
    """Return the sandbox's own rate limit."""
    limits = live.scenario.limits
    if limits.requests_per_interval is None:
        return None
    return Rate(limits.requests_per_interval, limits.rate_limit_interval)


NOT_AWAITED = frozenset({"405", "500"})
"""Statuses that no test has to meet at an endpoint: the answer to other methods, and the answer to an internal
error."""

METHODS = ("get", "put", "post", "delete", "patch")

MethodAndPath = tuple[str, str]


async def show_coverage(request: Request) -> Response:
    """Return the coverage of a sandbox since its start or last reset."""
    refuse_other_parameters(request)
    return reply(coverage_shown(sandbox_of(request).coverage()))


def coverage_shown(coverage: Coverage) -> dict[str, Any]:
    """Return coverage in the form of the control API."""
    parts = {
        "rules": [
            render.members(key, "scenario", "section", "id", "name") | render.members(count, "matched", "chosen")
            for key, count in coverage.rules.items()
        ],
        "magic": [
            {"digits": digits, "outcome": one.text, "met": one.met, "chosen": dict(one.chosen)}
            for digits, one in coverage.magic.items()
        ],
        "endpoints": list(_endpoints(coverage.answers)),
        "outcomes": [
            {"id": str(one.id), "group": one.group, "text": one.text, "met": count > 0, "count": count}
            for one in OUTCOMES
            for count in [coverage.outcomes[one.id]]
        ],
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


def _endpoints(answers: Counter[AnswerKind]) -> Iterator[dict[str, Any]]:
    """Yield the endpoints, first the contract's, each with its documented statuses that were not met."""
    by_endpoint: dict[MethodAndPath, list[tuple[AnswerKind, int]]] = {}
    for answered, count in sorted(answers.items()):
        by_endpoint.setdefault((answered.method, answered.path), []).append((answered, count))
    documented = _documented()
    for method, path in (*documented, *(found for found in by_endpoint if found not in documented)):
        sorts = by_endpoint.get((method, path), [])
        listed_answers = [
            {"status": 0 if answered.ending == "abort" else answered.status, "error": str(answered.error)}
            | {"ending": answered.ending, "count": count}
            for answered, count in sorts
        ]
        met = {str(one["status"]) for one in listed_answers}
        yield {
            "method": method,
            "path": path,
            "calls": sum(count for _, count in sorts),
            "answers": listed_answers,
            "never": [status for status in documented.get((method, path), ()) if status not in met],
        }


def _documented() -> dict[MethodAndPath, list[str]]:
    """Return the statuses in the contract that a test may meet, by method and path."""
    return {
        (method.upper(), path): [status for status in operation["responses"] if status not in NOT_AWAITED]
        for path, item in load(OPENAPI)["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }
