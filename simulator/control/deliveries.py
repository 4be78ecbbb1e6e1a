"""`/_sim/sandboxes/{id}/deliveries` and `…/probes`: webhook deliveries, their replay, and adversarial deliveries."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.callbacks import attempt
from simulator.control.filters import page_of, query_of, refuse_unknown_reseller, wait_of
from simulator.control.http import InvalidInput, body_of, error, page, reply, sandbox_of
from simulator.domain.commands import ReplayDelivery
from simulator.domain.model.delivery_attempts import Job
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.webhooks import Delivery, DeliveryState, ReplayRefused
from simulator.domain.queries import reseller_of
from simulator.redaction import redact_urls
from simulator.runtime.attempt_log import SentRequests
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.probes import PROBES, ImpossibleProbe, ProbeResult, ReceiverProbe, send_probe
from simulator.wire import webhooks

HTTP_STATUSES = {ReplayRefused.UNKNOWN: 404, ReplayRefused.LIMIT: 429}  # of refusals; 409 for all others


def row(one: Delivery, sent: SentRequests) -> dict[str, Any]:
    """Return a job with the attempts that have begun; `event` is the body of the delivery."""
    return {
        "id": one.id,
        "event_id": one.event.id,
        "type": one.event.type,
        "reseller": one.reseller,
        "state": one.state.value,
        "error": one.error,
        "url": redact_urls(one.url),
        "created": render.moment(one.created),
        "completed": render.moment(one.completed),
        "original": one.original,
        "replays": one.event.replays,
        "retry_limit": one.retry_limit,
        "event": webhooks.event(one.event),
        "attempts": [attempt(each) for each in sent.begun_attempts(one)],
    }


async def list_all(request: Request) -> Response:
    """Deliveries, oldest first; with `wait_for`, once that many ended or the timeout passes."""
    live = sandbox_of(request)
    query = query_of(request, "sandbox-deliveries-query")
    refuse_unknown_reseller(live, query)
    asked = page_of(query)
    wait_for, timeout_s = wait_of(query)
    reseller, state, event = (query.get(name) for name in ("reseller", "state", "event"))
    log = live.core.state.deliveries

    def matches(one: Delivery) -> bool:
        return reseller in (None, one.reseller) and state in (None, one.state) and event in (None, one.event.id)

    def has_ended(one: Job) -> bool:
        return isinstance(one, Delivery) and one.state is not DeliveryState.UNDER_WAY and matches(one)

    complete = True
    if wait_for:
        ended = live.driver.ended.tally(has_ended, counted=sum(map(has_ended, log)))
        complete = await live.wait_until(lambda: ended.count() >= wait_for, timeout_s, live.driver.notifier)
    behind = (one for one in filter(matches, log) if one.serial > asked.cursor)
    left_out = log.left_out
    answer = await page("deliveries", asked, behind, lambda one: row(one, live.courier.sent), lambda one: one.serial)
    return reply(answer | {"left_out": left_out, "complete": complete})


async def show(request: Request) -> Response:
    """Return a delivery."""
    live = sandbox_of(request)
    found = live.core.state.deliveries.find(request.path_params["job"])
    if found is None:
        return _refused(ReplayRefused.UNKNOWN)
    return reply(row(found, live.courier.sent))


async def replay(request: Request) -> Response:
    """Create a new job for the event of a failed one; counts like every manual replay."""
    live = sandbox_of(request)
    outcome = await live.submit(ReplayDelivery(None, request.path_params["job"]))
    if isinstance(outcome, ReplayRefused):
        return _refused(outcome)
    return reply(row(outcome, live.courier.sent), 201)


def _refused(reason: ReplayRefused) -> Response:
    return error(HTTP_STATUSES.get(reason, 409), reason.value, webhooks.REPLAY_REFUSALS[reason])


_PROBES_BY_NAME = {probe.name: probe for probe in PROBES}


async def send_probes(request: Request) -> Response:
    """Send the named probes, or all of them, sequentially."""
    live = sandbox_of(request)
    wanted = await body_of(request, "probes-request", may_be_empty=True)
    await live.catch_up()
    reseller = _reseller(live, wanted.get("reseller"))
    timeout_s = float(wanted["timeout"]) if "timeout" in wanted else None
    names = wanted.get("probes", list(_PROBES_BY_NAME))
    rows = [await _probe_row(live, reseller, _PROBES_BY_NAME[name], timeout_s) for name in names]
    findings = sum(one["verdict"] == "finding" for one in rows)
    return reply({"reseller": reseller.code, "findings": findings, "probes": rows})


def _reseller(live: LiveSandbox, code: str | None) -> Reseller:
    """Return the named reseller, or the first reseller without a name."""
    if code is not None:
        return reseller_of(live.core.state, code)
    first = next(iter(live.core.state.resellers.values()), None)
    if first is None:
        raise InvalidInput("this sandbox has no reseller", "reseller")
    return first


async def _probe_row(
    live: LiveSandbox, reseller: Reseller, probe: ReceiverProbe, timeout_s: float | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"probe": probe.name, "about": probe.about}
    try:
        shots = probe.make(live, reseller)
    except ImpossibleProbe as skipped:
        return row | {"verdict": "skipped", "reason": str(skipped), "requests": []}
    results = await send_probe(live, probe.name, shots, timeout_s)
    verdicts = [one.verdict for one in results]
    worst = next((word for word in ("finding", "inconclusive") if word in verdicts), "ok")
    return row | {"verdict": worst, "reason": "", "requests": [_probe_request(one) for one in results]}


def _probe_request(one: ProbeResult) -> dict[str, Any]:
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
