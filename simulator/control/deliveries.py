"""`/_sim/sandboxes/{id}/deliveries`: every webhook delivery with its attempts, and manual replay."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.callbacks import attempt
from simulator.control.filters import refuse_unknown_reseller
from simulator.control.http import error, page, reply, sandbox_of
from simulator.control.parameters import page_of, query_of, wait_of
from simulator.domain.commands import ReplayDelivery
from simulator.domain.model.effects import Job
from simulator.domain.model.webhooks import Delivery, DeliveryState, ReplayRefused
from simulator.redaction import redact_urls
from simulator.runtime.sent import SentRequests
from simulator.wire import webhooks

HTTP_STATUSES = {ReplayRefused.UNKNOWN: 404, ReplayRefused.LIMIT: 429}  # of refusals; 409 for all others


def row(one: Delivery, sent: SentRequests) -> dict[str, Any]:
    """One job with the attempts that have begun; `event` is the body that is sent."""
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
    """One delivery."""
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
