"""Outcomes of payments and cases: timelines with valid order, refusals, callbacks, ends of voids, and `one_of`, from
which each match of a rule draws an outcome by weight."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import TypeVar

import msgspec
from msgspec import structs

from simulator.domain.model.cases import REFUND_AFTER, CaseThen
from simulator.domain.model.draw import Spread, typical
from simulator.domain.model.likeness import nearest
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import (
    SETTLED,
    Distortion,
    PaymentThen,
    Reason,
    Refusal,
    Status,
    Step,
    may_follow,
)
from simulator.scenario.reading.value_reader import ValueReader, day
from simulator.scenario.sections.templates import template, templates
from simulator.scenario.sections.times import clock_time, delay
from simulator.wire.payment_answers import STATUS_NAMES

Then = TypeVar("Then")
ONE_OF = "one_of"


class Branch(msgspec.Struct, frozen=True):
    """A possible `then` of a rule. `entry` is its item of `one_of`, or None without `one_of`."""

    then: ValueReader
    weight: int = 1
    entry: ValueReader | None = None

    @property
    def callbacks(self) -> ValueReader | None:
        """Return the entry's own `callbacks`; None when the rule's apply."""
        return self.entry["callbacks"] if self.entry is not None and self.entry["callbacks"].is_given else None


def branches(then: ValueReader) -> list[Branch]:
    """Return the possible `then` of a rule, in order; at least one."""
    found = [Branch(item["then"], item["weight"].integer(1), item) for item in then[ONE_OF].items()]
    return found or [Branch(then)]


def refuse_misplaced(then: ValueReader) -> None:
    """Report keys beside a `one_of`, and a `one_of` within another."""
    if not then.has(ONE_OF):
        return
    others = [key for key, _ in then.entries() if key != ONE_OF]
    then.misplaced("{!r} has no effect beside 'one_of'; write it in its entries", *others)
    for branch in branches(then):
        if branch.entry is not None and branch.then[ONE_OF].is_given:
            branch.then.problem(
                "nested", "'one_of' within 'one_of' is not supported; write all entries in a single list"
            )


def choices(then: ValueReader, read: Callable[[ValueReader], Then]) -> list[tuple[int, Then]]:
    """Return the possible outcomes of a rule with their weights; `read` parses a `then`."""
    refuse_misplaced(then)
    return [(branch.weight, read(branch.then)) for branch in branches(then)]


def with_variants(rule: Rule[Then], thens: Sequence[tuple[int, Then]]) -> Rule[Then]:
    """Return the rule with a variant for each of `thens`; a single outcome needs no variants."""
    if len(thens) == 1:
        return rule
    sums = accumulate(weight for weight, _ in thens)
    return replace(
        rule, variants=tuple((end, replace(rule, then=then)) for end, (_, then) in zip(sums, thens, strict=True))
    )


# The valid statuses of a step; a void's status is excluded.
STATUSES: Mapping[str, Status] = {
    name: status for status, name in STATUS_NAMES.items() if status is not Status.REFUNDED
}
TEXTS = ("remarks", "sn", "pin", "note", "voucherlink")
TIMES = ("after", "at", "requery")

Timelines = Mapping[str, tuple[Step, ...]]
NO_TIMELINES: Timelines = MappingProxyType({})


def timelines(section: ValueReader) -> Timelines:
    """Return the timelines that rules may name."""
    return MappingProxyType({name: steps(entry) for name, entry in section.entries()})


def steps(section: ValueReader) -> tuple[Step, ...]:
    """Return the steps of a `then`. Impossible steps are reported."""
    items = section.items()
    timeline = tuple(_step(item) for item in items)
    _check_times(items, timeline)
    _check_statuses(items, timeline)
    return timeline


def _step(item: ValueReader) -> Step:
    texts, after = templates(item, TEXTS), delay(item["after"])
    return Step(
        status=STATUSES.get(item["status"].text(), Status.ACCEPTED),
        after=typical(after) if item["after"].is_given else None,
        requery=item["requery"].optional_integer(),
        code=item["statusCode"].optional_integer(),
        texts=MappingProxyType(texts) if texts else None,
        expiry=item["expiry"].parsed(day, "bad_date"),
        at=item["at"].parsed(clock_time, "bad_clock_time"),
        spread=after if isinstance(after, Spread) else None,
    )


def _check_times(items: list[ValueReader], timeline: tuple[Step, ...]) -> None:
    """Report invalid times: the first step has none, each later step has a single time, and times never decrease."""
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
                shown = item["after"].text() or "the median"
                text = f"{shown} is before the step above; 'after' counts from the creation"
                item["after"].problem("timeline", text)
            latest_after = max(latest_after, step.after)
        has_waited = has_waited or step.at is not None


def _check_statuses(items: list[ValueReader], timeline: tuple[Step, ...]) -> None:
    """Report invalid sequences of dated steps, and of re-query steps. Between the two, the first to occur wins."""
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
            final = f"; {STATUS_NAMES[before]} is final" if before in SETTLED else ""
            item["status"].problem("timeline", text + final)
        else:
            reached[track] = step.status


# The statuses that callbacks report, by their names in entries of `callbacks`. Accepted is never reported.
TOLD: Mapping[str, Status] = {
    STATUS_NAMES[status]: status for status in (Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED, Status.REFUNDED)
}
NOT_TOLD = PaymentThen(())
UNDISTORTED = Distortion()


def payment_thens(
    then: ValueReader, distortion: ValueReader, timelines: Timelines, usual: PaymentThen = NOT_TOLD
) -> list[tuple[int, PaymentThen]]:
    """Return the possible outcomes of a payment rule with their weights; `usual` is the default `then`."""
    refuse_misplaced(then)
    found: list[tuple[int, PaymentThen]] = []
    for branch in branches(then):
        does = payment_then(branch.then, timelines) if branch.then.is_given else usual
        found.append((branch.weight, structs.replace(does, callbacks=_callbacks(branch.callbacks or distortion))))
    for item, thens in distorted(then, distortion, found):
        _check_callbacks(item, thens)
    return found


def distorted(
    then: ValueReader, distortion: ValueReader, thens: list[tuple[int, PaymentThen]]
) -> Iterator[tuple[ValueReader, list[PaymentThen]]]:
    """Yield each `callbacks` of a rule with the outcomes that it distorts; `distortion` applies to all others."""
    common: list[PaymentThen] = []
    for branch, (_, does) in zip(branches(then), thens, strict=True):
        if branch.callbacks is None:
            common.append(does)
        else:
            yield branch.callbacks, [does]
    if distortion.is_given:
        yield distortion, common


def payment_then(then: ValueReader, timelines: Timelines = NO_TIMELINES) -> PaymentThen:
    """Return a timeline, written out or by its name, or a refusal; without callbacks."""
    if then.is_mapping:
        return PaymentThen((), refusal=_refusal(then))
    name = then.text()
    if not name:
        return PaymentThen(steps(then))
    if name not in timelines:
        meant = "" if nearest(name, timelines) else nearest(name, STATUSES)
        if meant:
            hint = f"write [{{ status: {meant} }}] for this status"
            then.problem("unknown_timeline", f"there is no timeline {name!r} in this scenario; {hint}")
        else:
            then.refuse_unknown("timeline", timelines)
    return PaymentThen(timelines.get(name, ()))


def _refusal(item: ValueReader) -> Refusal:
    """Parse `{refuse: Insufficient_Balance}`, optionally with its own code and remarks."""
    if not item["refuse"].is_given and not item["one_of"].is_given:
        item.problem("missing_key", "'refuse' is missing")
    names = {reason.value: reason for reason in Reason}
    reason = names.get(item["refuse"].text(), Reason.REQUEST)
    return Refusal(reason, item["statusCode"].optional_integer(), item["remarks"].text())


def _callbacks(item: ValueReader) -> Distortion:
    """Return the distortion: an object distorts all callbacks, a list has entries for statuses and a catch-all."""
    if not item.is_list:
        return _distortion(item)
    by_status = {TOLD.get(entry["status"].text()): _distortion(entry) for entry in item.items()}
    others = by_status.pop(None, UNDISTORTED)
    return structs.replace(
        others, by_status={status: part for status, part in by_status.items() if status is not None} or None
    )


def _distortion(item: ValueReader) -> Distortion:
    if not item.is_given:
        return UNDISTORTED
    return Distortion(
        drop=item["drop"].boolean(),
        duplicates=item["duplicate"].integer(0),
        delay=delay(item["delay"]),
        reverse=item["reverse"].boolean(),
        again_after=item["again_after"].optional_duration(),
        hold=item["hold"].text(),
        concurrent=item["concurrent"].boolean(),
    )


def _check_callbacks(item: ValueReader, thens: list[PaymentThen]) -> None:
    """Report callbacks that none of these outcomes can cause."""
    if thens and all(then.refusal is not None for then in thens):
        item.problem("misplaced", "a refused payment has no callbacks", at_key=True)
        return
    reachable = told(thens)
    seen: set[str] = set()
    for entry in item.items():
        name = entry["status"].text()
        if "" in seen:
            entry.problem("misplaced", "an entry without 'status' applies to all others and must be the last entry")
        elif name in seen:
            entry["status"].problem("duplicate", f"there is an entry for {name} already")
        elif name in TOLD and TOLD[name] not in reachable and any(then.steps for then in thens):
            entry["status"].problem("unreachable", _unreachable(name))
        seen.add(name)


def told(thens: Iterable[PaymentThen]) -> frozenset[Status]:
    """Return the statuses that callbacks of these outcomes may report: all after the first, and a success's refund."""
    later = {step.status for then in thens for step in then.steps[1:]}
    if any(step.status is Status.SUCCESSFUL for then in thens for step in then.steps):
        later.add(Status.REFUNDED)
    return frozenset(later & set(TOLD.values()))


def _unreachable(name: str) -> str:
    if TOLD[name] is Status.REFUNDED:
        return "the timeline has no Succesful, and only successful payments can be voided"
    return f"no step of the timeline after the first has the status {name}"


ACCEPTED = "Success"


def void(item: ValueReader) -> CaseThen:
    """Return the `then` of a void. An accepted void ends after a delay, by default with a refund; a refused void ends
    at once."""
    answer = dispute(item)
    if not answer.is_accepted:
        item.misplaced("only a void with status Success ends later", "refund_after", "refused_after")
    if item["refund_after"].is_given:
        item.misplaced("a void ends with 'refund_after' or with 'refused_after', not both", "refused_after")
    is_refunded = answer.is_accepted and not item["refused_after"].is_given
    return structs.replace(
        answer,
        refund_after=item["refund_after"].duration(REFUND_AFTER) if is_refunded else None,
        refused_after=item["refused_after"].optional_duration(),
    )


def dispute(item: ValueReader) -> CaseThen:
    """Return the `then` of a dispute: the immediate answer."""
    if item.is_mapping and not item["status"].is_given:
        item.problem("missing_key", "'status' is missing")
    message = item["message"].parsed(partial(template, field_name="message"), "bad_template")
    return CaseThen(item["status"].text() == ACCEPTED, message)
