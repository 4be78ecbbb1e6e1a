"""`POST /_sim/sandboxes/{id}/probes`: adversarial deliveries to a reseller's receivers, and their answers."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import InvalidInput, body_of, reply, sandbox_of
from simulator.domain.model.resellers import Reseller
from simulator.domain.queries import reseller_of
from simulator.redaction import redact_urls
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.probes import PROBES, Probe, ProbeResult, Skipped, send_probe

_BY_NAME = {probe.name: probe for probe in PROBES}


async def send(request: Request) -> Response:
    """Send the named probes, or all of them, sequentially."""
    live = sandbox_of(request)
    wanted = await body_of(request, "probes-request", may_be_empty=True)
    await live.catch_up()
    reseller = _reseller(live, wanted.get("reseller"))
    timeout_s = float(wanted["timeout"]) if "timeout" in wanted else None
    names = wanted.get("probes", list(_BY_NAME))
    rows = [await _one(live, reseller, _BY_NAME[name], timeout_s) for name in names]
    findings = sum(one["verdict"] == "finding" for one in rows)
    return reply({"reseller": reseller.code, "findings": findings, "probes": rows})


def _reseller(live: LiveSandbox, code: str | None) -> Reseller:
    """The named reseller, else the first one."""
    if code is not None:
        return reseller_of(live.core.state, code)
    first = next(iter(live.core.state.resellers.values()), None)
    if first is None:
        raise InvalidInput("this sandbox has no reseller", "reseller")
    return first


async def _one(live: LiveSandbox, reseller: Reseller, probe: Probe, timeout_s: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {"probe": probe.name, "about": probe.about}
    try:
        shots = probe.make(live, reseller)
    except Skipped as skipped:
        return row | {"verdict": "skipped", "reason": str(skipped), "requests": []}
    results = await send_probe(live, probe.name, shots, timeout_s)
    verdicts = [one.verdict for one in results]
    worst = next((word for word in ("finding", "inconclusive") if word in verdicts), "ok")
    return row | {"verdict": worst, "reason": "", "requests": [_request(one) for one in results]}


def _request(one: ProbeResult) -> dict[str, Any]:
    result = one.result
    return {
        "url": redact_urls(one.sent.job.url),
        "method": one.sent.request.method,
        "should_accept": one.sent.accept,
        "verdict": one.verdict,
        "ending": result.kind.value,
        "status": result.status,
        "error": result.error,
        "body": result.body,
    }
