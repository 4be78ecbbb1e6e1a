"""Timelines: the statuses of a payment, of a rule or under a name, and whether their order is valid."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from simulator.domain.model.transactions import SETTLED, Status, Step, may_follow
from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import day
from simulator.scenario.sections.templates import templates
from simulator.scenario.sections.windows import clock_time
from simulator.wire.payments import STATUS_NAMES

# What a step may be; the status of a void is none.
STATUSES: Mapping[str, Status] = {
    name: status for status, name in STATUS_NAMES.items() if status is not Status.REFUNDED
}
TEXTS = ("remarks", "sn", "pin", "note", "voucherlink")
NAME_MAX = 100
TIMES = ("after", "at", "requery")

Timelines = Mapping[str, tuple[Step, ...]]
NO_TIMELINES: Timelines = MappingProxyType({})


def timelines(section: Reader) -> Timelines:
    """The timelines that rules may name."""
    for name, entry in section.entries():
        if not 0 < len(name) <= NAME_MAX:
            entry.problem("out_of_range", f"the name of a timeline has 1 to {NAME_MAX} characters", at_key=True)
    return MappingProxyType({name: steps(entry) for name, entry in section.entries()})


def steps(section: Reader) -> tuple[Step, ...]:
    """The steps of a `then`. Impossible ones are reported."""
    items = section.items()
    timeline = tuple(_step(item) for item in items)
    _check_times(items, timeline)
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
        at=item["at"].parsed(clock_time, "bad_clock_time"),
    )


def _check_times(items: list[Reader], timeline: tuple[Step, ...]) -> None:
    """The first step is the answer; each later one has one time, and neither kind of time decreases."""
    latest_after, latest_requery, has_waited = timedelta(0), 0, False
    for place, (item, step) in enumerate(zip(items, timeline, strict=True)):
        given = [key for key in TIMES if item.has(key)]
        if place == 0:
            for key in given:
                text = "the first step is the answer to the creating request and has no time"
                item[key].problem("timeline", text, at_key=True)
        elif len(given) > 1:
            text = f"a step has either {given[0]!r} or {given[1]!r}, not both"
            item[given[1]].problem("timeline", text, at_key=True)
        elif not given:
            item.problem("timeline", "a step after the first needs 'after', 'at' or 'requery'")
        if step.requery is not None:
            if step.requery < latest_requery:
                item["requery"].problem("timeline", f"re-query {step.requery} is before the step above")
            latest_requery = max(latest_requery, step.requery)
        elif step.after is not None:
            # A time of day comes later than the step above it, never together with it.
            if step.after < latest_after or (has_waited and step.after == latest_after):
                text = f"{item['after'].text()} is before the step above; 'after' counts from the creation"
                item["after"].problem("timeline", text)
            latest_after = max(latest_after, step.after)
        has_waited = has_waited or step.at is not None


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
