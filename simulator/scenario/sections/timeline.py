"""Timelines: the statuses of a payment rule, and whether their order is valid."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from simulator.domain.model.transactions import SETTLED, Status, Step, may_follow
from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import day
from simulator.scenario.sections.templates import templates
from simulator.wire.payments import STATUS_NAMES

# What a step may be; the status of a void is none.
STATUSES: Mapping[str, Status] = {
    name: status for status, name in STATUS_NAMES.items() if status is not Status.REFUNDED
}
TEXTS = ("remarks", "sn", "pin", "note", "voucherlink")


def steps(section: Reader) -> tuple[Step, ...]:
    """The steps of a `then`. Impossible ones are reported."""
    items = section.items()
    timeline = tuple(_step(item) for item in items)
    _check_times(items)
    _check_statuses(items, timeline)
    return timeline


def _step(item: Reader) -> Step:
    texts = templates(item, TEXTS)
    return Step(
        status=STATUSES.get(item["status"].text(), Status.ACCEPTED),
        after=item["after"].optional_duration(),
        requery=item["requery"].optional_integer(),
        code=item["statusCode"].optional_integer(),
        texts=MappingProxyType(texts) if texts else None,
        expiry=item["expiry"].parsed(day, "bad_date"),
    )


def _check_times(items: list[Reader]) -> None:
    """The first step is the answer; each later one has one time, and neither kind of time decreases."""
    latest_after, latest_requery = timedelta(0), 0
    for place, item in enumerate(items):
        after, requery = item["after"], item["requery"]
        if place == 0:
            for given in (after, requery):
                if given.is_given:
                    text = "the first step is the answer to the creating request and has no time"
                    given.problem("timeline", text, at_key=True)
        elif after.is_given and requery.is_given:
            requery.problem("timeline", "a step has either 'after' or 'requery', not both", at_key=True)
        elif not after.is_given and not requery.is_given:
            item.problem("timeline", "a step after the first needs 'after' or 'requery'")
        if after.duration(latest_after) < latest_after:
            after.problem("timeline", f"{after.text()} is before the step above; 'after' counts from the creation")
        if requery.integer(latest_requery) < latest_requery:
            requery.problem("timeline", f"re-query {requery.text()} is before the step above")
        latest_after = max(latest_after, after.duration(latest_after))
        latest_requery = max(latest_requery, requery.integer(latest_requery))


def _check_statuses(items: list[Reader], timeline: tuple[Step, ...]) -> None:
    """Dated steps must be a valid sequence, and so must re-query steps; between the two whichever comes first wins."""
    if not timeline:
        return
    reached = {"after": timeline[0].status, "requery": timeline[0].status}
    for item, step in zip(items[1:], timeline[1:], strict=True):
        track = "requery" if step.requery is not None else "after"
        if item["status"].text() not in STATUSES:
            continue
        if not may_follow(reached[track], step.status):
            before = reached[track]
            text = f"{item['status'].text()} cannot follow {STATUS_NAMES[before]}"
            final = "; it is final" if before in SETTLED else ""
            item["status"].problem("timeline", text + final)
        else:
            reached[track] = step.status
