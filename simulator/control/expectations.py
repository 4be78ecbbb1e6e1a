"""`/_sim/sandboxes/{id}/expectations`: the scenario's expectations and their verdicts."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import in_slices, refuse_other_parameters, reply, sandbox_of
from simulator.domain.model.expectations import Expectation, Verdict
from simulator.runtime.expectations import verdicts_in_slices
from simulator.wire.json import number


async def show(request: Request) -> Response:
    """Every expectation of the scenario with its current verdict."""
    refuse_other_parameters(request)
    rows = [_row(one) for one in await in_slices(verdicts_in_slices(sandbox_of(request)))]
    return reply({"ok": all(one["ok"] for one in rows), "expectations": rows})


def _row(verdict: Verdict) -> dict[str, Any]:
    expectation, actual = verdict.expectation, verdict.actual
    return {
        "name": expectation.name,
        "kind": expectation.kind.value,
        "expected": _expected(expectation),
        "actual": actual if isinstance(actual, int) else number(actual),
        "ok": verdict.ok,
        "message": verdict.message,
    }


def _expected(expectation: Expectation) -> Any:
    if expectation.amount is not None:
        return number(expectation.amount)
    return {"min": expectation.count.low, "max": expectation.count.high}
