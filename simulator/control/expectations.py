"""`/_sim/sandboxes/{id}/expectations`: the scenario's expectations and their verdicts."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.http import in_slices, reply, sandbox_of
from simulator.control.parameters import refuse_other_parameters
from simulator.domain.model.expectations import Expectation, Verdict
from simulator.runtime.expectations import verdicts_in_slices
from simulator.wire.json import number


async def show(request: Request) -> Response:
    """Every expectation of the scenario with its current verdict."""
    refuse_other_parameters(request)
    return reply(rendered(await in_slices(verdicts_in_slices(sandbox_of(request)))))


def rendered(verdicts: list[Verdict]) -> dict[str, Any]:
    """Verdicts in the form of the control API."""
    return {"ok": all(one.ok for one in verdicts), "expectations": [_row(one) for one in verdicts]}


def _row(verdict: Verdict) -> dict[str, Any]:
    expectation, actual = verdict.expectation, verdict.actual
    return {
        "name": expectation.name,
        "kind": expectation.kind.value,
        "place": render.place(expectation.place),
        "expected": _expected(expectation),
        "actual": actual if isinstance(actual, int) else number(actual),
        "ok": verdict.ok,
        "message": verdict.message,
        "nearest": list(verdict.nearest),
        "pending": list(verdict.pending),
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
