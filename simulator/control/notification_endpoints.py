"""`/_sim/sandboxes/{id}/callbacks`, `…/deliveries`, `…/probes` and `…/notifications`: what a sandbox sends.

These are transaction callbacks and webhook deliveries with their attempts, the replay of a delivery, adversarial
deliveries, and e-mails that the service would have sent.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.filters import list_query, query_of, waited
from simulator.control.http import InvalidInput, body_of, cursor_of, error, page, reply
from simulator.control.render import members
from simulator.domain.commands import ReplayDelivery, SendCallback
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import Attempt, Job
from simulator.domain.model.domain_events import EmailNotification
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.webhooks import Delivery, DeliveryState, ReplayRefused
from simulator.domain.queries import reseller_of
from simulator.redaction import redact_urls
from simulator.runtime.attempt_log import AttemptLog
from simulator.runtime.journal import Tally
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.probes import PROBES, ImpossibleProbe, ReceiverProbe, send_probe
from simulator.wire import webhook_bodies
from simulator.wire.payment_answers import CALLBACK_STATUS_NAMES

ATTEMPTS_MAX = 1_000
"""More attempts than any callback has, for any `limits.callback_retries`."""


def attempt_fields(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt as JSON; `ending`, the kind of its result, is null while it is in flight."""
    result = attempt.result
    ending: dict[str, Any] = {"ending": result.kind.value if result else None}
    ending |= members(result, "status", "error", "body") if result else {"status": None, "error": "", "body": ""}
    return members(attempt, "number", "at") | ending


def callback_row(callback: Callback, sent: AttemptLog) -> dict[str, Any]:
    """Return a callback as JSON, with the attempts that have begun."""
    return _callback_fields(callback) | {"attempts": [attempt_fields(each) for each in sent.begun_attempts(callback)]}


def _callback_fields(callback: Callback) -> dict[str, Any]:
    shown = members(callback, "id", "state", "url", "method", "copy")
    return shown | {"url": redact_urls(callback.url), "payment_status": CALLBACK_STATUS_NAMES[callback.result.status]}


def attempt_row(callback: Callback, tried: Attempt) -> dict[str, Any]:
    """Return an attempt in the form of the control API's list."""
    whole, fields = _callback_fields(callback), attempt_fields(tried)
    ids = {"callback": whole.pop("id"), "attempt": fields.pop("number")}
    return ids | members(callback.transaction, "trxid", "refid", "reseller") | whole | fields


def _place(callback: Callback, tried: Attempt) -> int:
    """Return the place of an attempt in the list; it is not affected by later attempts and evictions."""
    return callback.serial * ATTEMPTS_MAX + tried.number


def _begun_after(callbacks: Iterable[Callback], sent: AttemptLog, cursor: int) -> Iterator[tuple[Callback, Attempt]]:
    """Yield the attempts that have begun, after the place `cursor`."""
    serial = cursor // ATTEMPTS_MAX
    for one in callbacks:
        if one.serial >= serial:
            yield from ((one, tried) for tried in sent.begun_attempts(one) if _place(one, tried) > cursor)


async def send_callback(request: Request, live: LiveSandbox) -> Response:
    """Send the callback of a payment's present status again now."""
    repeat: Callback = await live.settle_and_apply(SendCallback(request.path_params["trxid"]))
    return reply(callback_row(repeat, live.courier.sent), 201)


async def list_callbacks(request: Request, live: LiveSandbox) -> Response:
    """List the attempts, oldest callback first; with `wait_for`, wait until that many ended or the timeout passes."""
    query = query_of(request, "callbacks-query")
    spelling = live.core.state.spelling or str  # refids that the scenario compares as equal are equal here, too
    refid, trxid = query.get("refid"), query.get("trxid")
    wanted = refid and spelling(refid)

    def matches(job: Job) -> bool:
        if not isinstance(job, Callback):
            return False
        paid = job.transaction
        return trxid in (None, paid.trxid) and (wanted is None or spelling(paid.refid) == wanted)

    def counter() -> Callable[[], int]:
        matching = filter(matches, live.core.state.callbacks)
        counted = sum(1 for one in matching for tried in one.attempts if tried.result is not None)
        return live.driver.job_ends.tally(matches, counted).count

    complete = await waited(request, live, query, counter, live.driver.notifier)
    callbacks = live.core.state.callbacks
    rows, left_out = _begun_after(filter(matches, callbacks), live.courier.sent, cursor_of(query)), callbacks.left_out
    answer = await page("callbacks", query, rows, lambda each: attempt_row(*each), lambda each: _place(*each))
    return reply(answer | {"left_out": left_out, "complete": complete})


HTTP_STATUSES = {ReplayRefused.UNKNOWN: 404, ReplayRefused.LIMIT: 429}  # of refusals; 409 for all others


def delivery_row(delivery: Delivery, sent: AttemptLog) -> dict[str, Any]:
    """Return a job with the attempts that have begun; `event` is the body of the delivery."""
    return {
        "id": delivery.id,
        "event_id": delivery.event.id,
        "type": delivery.event.type,
        **members(delivery, "reseller", "state", "error", "url", "created", "completed", "original"),
        "url": redact_urls(delivery.url),
        "replays": delivery.event.replays,
        "retry_limit": delivery.retry_limit,
        "event": webhook_bodies.event(delivery.event),
        "attempts": [attempt_fields(each) for each in sent.begun_attempts(delivery)],
    }


async def list_deliveries(request: Request, live: LiveSandbox) -> Response:
    """List the deliveries, oldest first; with `wait_for`, wait until that many ended or the timeout passes."""
    query = list_query(request, live, "sandbox-deliveries-query")
    reseller, state, event = (query.get(name) for name in ("reseller", "state", "event"))
    log = live.core.state.deliveries

    def matches(one: Delivery) -> bool:
        return reseller in (None, one.reseller) and state in (None, one.state) and event in (None, one.event.id)

    def has_ended(job: Job) -> bool:
        return isinstance(job, Delivery) and job.state is not DeliveryState.UNDER_WAY and matches(job)

    def counter() -> Callable[[], int]:
        return live.driver.job_ends.tally(has_ended, counted=sum(map(has_ended, log))).count

    complete = await waited(request, live, query, counter, live.driver.notifier)
    cursor, left_out, sent = cursor_of(query), log.left_out, live.courier.sent
    later = (delivery for delivery in filter(matches, log) if delivery.serial > cursor)
    answer = await page("deliveries", query, later, lambda one: delivery_row(one, sent), lambda one: one.serial)
    return reply(answer | {"left_out": left_out, "complete": complete})


async def show_delivery(request: Request, live: LiveSandbox) -> Response:
    found = live.core.state.deliveries.find(request.path_params["job"])
    return _replay_refusal(ReplayRefused.UNKNOWN) if found is None else reply(delivery_row(found, live.courier.sent))


async def replay(request: Request, live: LiveSandbox) -> Response:
    """Create a new job for the event of a failed job; counts like every manual replay."""
    outcome = await live.settle_and_apply(ReplayDelivery(None, request.path_params["job"]))
    if isinstance(outcome, ReplayRefused):
        return _replay_refusal(outcome)
    return reply(delivery_row(outcome, live.courier.sent), 201)


def _replay_refusal(reason: ReplayRefused) -> Response:
    return error(HTTP_STATUSES.get(reason, 409), reason.value, webhook_bodies.REPLAY_REFUSALS[reason])


_PROBES_BY_NAME = {probe.name: probe for probe in PROBES}


async def send_probes(request: Request, live: LiveSandbox) -> Response:
    """Send the named probes, or all of them, sequentially."""
    wanted = await body_of(request, "probes-request", may_be_empty=True)
    await live.process_due()
    state = live.core.state
    first = next(iter(state.resellers.values()), None)
    reseller = reseller_of(state, wanted["reseller"]) if "reseller" in wanted else first
    if reseller is None:
        raise InvalidInput("this sandbox has no reseller", "reseller")
    timeout_s = float(wanted["timeout"]) if "timeout" in wanted else None
    names = wanted.get("probes", list(_PROBES_BY_NAME))
    rows = [await _probe_row(live, reseller, _PROBES_BY_NAME[name], timeout_s) for name in names]
    findings = sum(row["verdict"] == "finding" for row in rows)
    return reply({"reseller": reseller.code, "findings": findings, "probes": rows})


async def _probe_row(
    live: LiveSandbox, reseller: Reseller, probe: ReceiverProbe, timeout_s: float | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"probe": probe.name, "about": probe.about}
    try:
        shots = probe.make(live, reseller)
    except ImpossibleProbe as skipped:
        return row | {"verdict": "skipped", "reason": str(skipped), "requests": []}
    results = await send_probe(live, probe.name, shots, timeout_s)
    verdicts = [result.verdict for result in results]
    worst = next((word for word in ("finding", "inconclusive") if word in verdicts), "ok")
    requests = [
        {
            "url": redact_urls(result.sent.job.url),
            "method": result.sent.request.method,
            "should_accept": result.sent.accept,
            "verdict": result.verdict,
            "ending": result.result.kind.value,
            **members(result.result, "status", "error", "body"),
        }
        for result in results
    ]
    return row | {"verdict": worst, "reason": "", "requests": requests}


def notification_row(notification: EmailNotification) -> dict[str, Any]:
    """Return an e-mail as JSON."""
    return members(notification, "n", "at", "kind", "reseller", "to", "subject", "text", "trxid", "refid")


async def list_notifications(request: Request, live: LiveSandbox) -> Response:
    """List the e-mails, oldest first; with `wait_for`, wait until that many match or the timeout passes."""
    query = list_query(request, live, "notifications-query")
    kind, reseller = (query.get(name) for name in ("kind", "reseller"))
    log = live.core.state.notifications

    def matches(notification: EmailNotification) -> bool:
        return kind in (None, notification.kind) and reseller in (None, notification.reseller)

    # Both requests and the agenda cause notifications.
    notifiers = live.driver.notifier, live.journal.notifier
    complete = await waited(request, live, query, lambda: Tally(log, matches).count, *notifiers)
    cursor, left_out = cursor_of(query), log.left_out
    later = (job for job in filter(matches, log) if job.n > cursor)
    answer = await page("notifications", query, later, notification_row, lambda mail: mail.n)
    return reply(answer | {"left_out": left_out, "complete": complete})
