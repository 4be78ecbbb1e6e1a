"""`/v2/balance-webhook/deliveries`: the log of deliveries, and replays (SPEC 4.20)."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from simulator.api.call import ApiCall, Reply
from simulator.api.notes import note, note_each, note_filters
from simulator.api.refusals import refuse_input, refuse_parameters
from simulator.contract.surplus import first_of
from simulator.domain.commands import ReplayDelivery
from simulator.domain.model.webhooks import Delivery, ReplayRefused
from simulator.wire import error_bodies, webhook_bodies
from simulator.wire.diagnoses import shown
from simulator.wire.formats import moment

PAGE_DEFAULT = 50
FILTERS = ("status", "from", "to", "search")
DEFAULTS = {"status": "all", "search": ""}


class BadParameter(ValueError):
    """The name of a parameter, and the reason why it is refused."""


def list_all(call: ApiCall) -> Reply:
    """Return 200 with a page of ended deliveries, latest first; 400 for an invalid time or cursor."""
    filters = {name: call.fields[name] for name in FILTERS if call.fields.get(name)}
    limit = int(call.fields.get("limit") or PAGE_DEFAULT)
    before: int | None = None
    try:
        if sent := call.fields.get("cursor"):
            before, filters = _resume(call, sent, filters)
        begin, end = _moment(filters, "from"), _moment(filters, "to")
    except BadParameter as bad:
        name, reason = bad.args
        return refuse_input(call, {name: [reason]})
    if begin is not None and end is not None and begin > end:
        note(call, "from is later than to, so no delivery matches")
    page = list(islice(_matching(call, filters, (begin, end), before), limit + 1))
    if not page and before is None and filters:
        note_filters(call, filters, sum(1 for _ in _matching(call, {}, (None, None), None)), "delivery")
    jobs, has_more = page[:limit], len(page) > limit
    cursor = webhook_bodies.PageEnd(jobs[-1].id, filters).cursor() if has_more else ""
    body = {"deliveries": [_record(call, delivery) for delivery in jobs], "cursor": cursor, "hasMore": has_more}
    return Reply(200, body)


def show(call: ApiCall) -> Reply:
    """Return 200 with a record; 404 when this reseller has no delivery with this id."""
    found = call.sandbox.core.state.deliveries.find(call.path_parameters["jobId"])
    if found is None or found.reseller != call.owner.code:
        return _refused(call, call.path_parameters["jobId"], ReplayRefused.UNKNOWN)
    return Reply(200, _record(call, found))


def replay(call: ApiCall) -> Reply:
    """Return 200 with the new job; 404, 400 or 429 when the delivery is not replayed."""
    job = call.path_parameters["jobId"]
    outcome = _replayed(call, job)
    if isinstance(outcome, Delivery):
        return Reply(200, webhook_bodies.replayed(outcome))
    call.exchange.error = outcome.value
    return _refused(call, job, outcome)


def _refused(call: ApiCall, job: str, outcome: ReplayRefused) -> Reply:
    note(call, _explained(call, job, outcome))
    text = webhook_bodies.REPLAY_REFUSALS[outcome]
    sentence = f"{text[0].upper()}{text[1:]}."
    match outcome:
        case ReplayRefused.UNKNOWN | ReplayRefused.NO_WEBHOOK:
            return Reply(404, error_bodies.parameters(sentence, {}))
        case ReplayRefused.LIMIT:
            return Reply(429, error_bodies.coded(outcome.value, sentence))
    return refuse_parameters({"jobId": [text]})


def replay_bulk(call: ApiCall) -> Reply:
    """Return 200 with one result per job, in order; each is judged as if it came alone."""
    results, refused = [], []
    for job in call.fields["job_ids"]:
        outcome = _replayed(call, job)
        if isinstance(outcome, Delivery):
            results.append(webhook_bodies.bulk_done(job, outcome))
        else:
            results.append(webhook_bodies.bulk_refused(job, webhook_bodies.REPLAY_REFUSALS[outcome]))
            refused.append((job, outcome))
    note_each(call, first_of((_explained(call, *each) for each in refused), len(refused), "failed"))
    return Reply(200, {"results": results})


def _record(call: ApiCall, delivery: Delivery) -> dict[str, Any]:
    counts_attempts = call.sandbox.core.state.assumes("retry-count", "attempts")
    return webhook_bodies.record(delivery, counts_attempts=counts_attempts)


def _replayed(call: ApiCall, job: str) -> Delivery | ReplayRefused:
    outcome: Delivery | ReplayRefused = call.sandbox.apply(ReplayDelivery(call.owner.code, job), call.now)
    return outcome


def _explained(call: ApiCall, job: str, refused: ReplayRefused) -> str:
    """Return the refusal for the diagnosis, which has more details of an unknown delivery than the answer."""
    return _no_delivery(call, job) if refused is ReplayRefused.UNKNOWN else webhook_bodies.REPLAY_REFUSALS[refused]


def _resume(call: ApiCall, cursor: str, filters: dict[str, str]) -> tuple[int, dict[str, str]]:
    """Return the number of the previous page's last job, and the filters. Raise `BadParameter` when the cursor is
    invalid, the job was evicted, or other filters were sent."""
    try:
        place = webhook_bodies.page_end(cursor)
    except ValueError as foreign:
        raise BadParameter("cursor", str(foreign)) from None
    last = call.sandbox.core.state.deliveries.find(place.job)
    if last is None or last.reseller != call.owner.code:
        raise BadParameter("cursor", "leads to deliveries that were evicted from the log; start again without a cursor")
    if differing := [name for name in filters if _normalized(filters, name) != _normalized(place.filters, name)]:
        text = ", ".join(differing)
        raise BadParameter("cursor", f"belongs to another {text}; omit the filters, or start again without the cursor")
    return last.n, place.filters


def _normalized(filters: dict[str, str], name: str) -> str | datetime | None:
    """Return the value of a filter, the same for every notation; its default when it is omitted. Raise
    `BadParameter`."""
    return filters.get(name, DEFAULTS[name]) if name in DEFAULTS else _moment(filters, name)


def _matching(
    call: ApiCall, filters: dict[str, str], span: tuple[datetime | None, datetime | None], before: int | None
) -> Iterator[Delivery]:
    """Yield deliveries of this reseller that ended, under the filters; `span` has the values of `from` and `to`."""
    begin, end = span
    status, search = (filters.get(name, default) for name, default in DEFAULTS.items())
    code = call.owner.code
    return (
        delivery
        for delivery in call.sandbox.core.state.deliveries.ended(before)
        if delivery.reseller == code
        and status in ("all", delivery.state)
        and search in delivery.event.id
        and (begin is None or begin <= _to_milliseconds(delivery.created))
        and (end is None or _to_milliseconds(delivery.created) <= end)
    )


def _to_milliseconds(at: datetime) -> datetime:
    """Round down to milliseconds, as `createdAt` shows, so that a returned time finds its delivery."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _moment(filters: dict[str, str], name: str) -> datetime | None:
    """Return the time of a filter, None when it is omitted. Raise `BadParameter`."""
    text = filters.get(name)
    try:
        return None if text is None else moment(text, is_end=name == "to")
    except ValueError as bad:
        raise BadParameter(name, str(bad)) from None


def _no_delivery(call: ApiCall, job: str) -> str:
    """Return why this reseller has no delivery with this id."""
    log, owner = call.sandbox.core.state.deliveries, call.owner.code
    if log.find(job):
        return f"delivery {job} does not belong to reseller {owner}"
    of_event = (delivery for delivery in reversed(log) if delivery.event.id == job and delivery.reseller == owner)
    if latest := next(of_event, None):
        return f"{job} is the id of an event; its latest delivery is {latest.id}"
    return f"no delivery {shown(job)}"
