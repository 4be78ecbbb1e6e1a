"""What a rule of `payments` does: a timeline or a refusal, and how the callbacks are distorted."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from simulator.domain.model.likeness import nearest
from simulator.domain.model.transactions import Distortion, PaymentThen, Reason, Refusal, Status
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.timeline import NO_TIMELINES, STATUSES, Timelines, steps
from simulator.scenario.sections.variants import branches, refuse_misplaced
from simulator.wire.payments import STATUS_NAMES

# The statuses that callbacks tell, by the names that entries of `callbacks` use. Accepted has none.
TOLD: Mapping[str, Status] = {
    STATUS_NAMES[status]: status for status in (Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED, Status.REFUNDED)
}
NOT_TOLD = PaymentThen(())
UNDISTORTED = Distortion()


def payment_thens(
    then: Reader, distortion: Reader, timelines: Timelines, usual: PaymentThen = NOT_TOLD
) -> list[tuple[int, PaymentThen]]:
    """What a payment rule may do, each with its weight; `usual` is what an absent `then` means."""
    refuse_misplaced(then)
    found: list[tuple[int, PaymentThen]] = []
    for branch in branches(then):
        does = payment_then(branch.then, timelines) if branch.then.is_given else usual
        found.append((branch.weight, replace(does, callbacks=_callbacks(branch.callbacks or distortion))))
    for item, thens in distorted(then, distortion, found):
        _check_callbacks(item, thens)
    return found


def distorted(
    then: Reader, distortion: Reader, thens: list[tuple[int, PaymentThen]]
) -> Iterator[tuple[Reader, list[PaymentThen]]]:
    """Each `callbacks` of a rule with the outcomes that it distorts; `distortion` is that of all without their own."""
    common: list[PaymentThen] = []
    for branch, (_, does) in zip(branches(then), thens, strict=True):
        if branch.callbacks is None:
            common.append(does)
        else:
            yield branch.callbacks, [does]
    if distortion.is_given:
        yield distortion, common


def payment_then(then: Reader, timelines: Timelines = NO_TIMELINES) -> PaymentThen:
    """A timeline, written out or by its name, or a refusal; without callbacks."""
    if then.is_mapping:
        return PaymentThen((), refusal=_refusal(then))
    name = then.text()
    if not name:
        return PaymentThen(steps(then))
    if name not in timelines:
        meant = "" if nearest(name, timelines) else nearest(name, STATUSES)
        where = f"in this scenario; write [{{ status: {meant} }}] for this status" if meant else "in this scenario"
        then.unknown("timeline", name, where, timelines)
    return PaymentThen(timelines.get(name, ()))


def _refusal(item: Reader) -> Refusal:
    """`{refuse: Insufficient_Balance}`, optionally with its own code and remarks."""
    if not item["refuse"].is_given and not item["one_of"].is_given:
        item.problem("missing_key", "'refuse' is missing")
    names = {reason.value: reason for reason in Reason}
    reason = names.get(item["refuse"].text(), Reason.REQUEST)
    return Refusal(reason, item["statusCode"].optional_integer(), item["remarks"].text())


def _callbacks(item: Reader) -> Distortion:
    """An object distorts all callbacks; a list has an entry for each status, and one for all others."""
    if not item.is_list:
        return _distortion(item)
    by_status = {TOLD.get(entry["status"].text()): _distortion(entry) for entry in item.items()}
    others = by_status.pop(None, UNDISTORTED)
    return replace(others, by_status={status: one for status, one in by_status.items() if status is not None} or None)


def _distortion(item: Reader) -> Distortion:
    if not item.is_given:
        return UNDISTORTED
    return Distortion(
        drop=item["drop"].boolean(),
        duplicates=item["duplicate"].integer(0),
        delay=item["delay"].duration(),
        reverse=item["reverse"].boolean(),
        again_after=item["again_after"].optional_duration(),
    )


def _check_callbacks(item: Reader, thens: list[PaymentThen]) -> None:
    """Report callbacks that none of these outcomes can cause."""
    if thens and all(then.refusal is not None for then in thens):
        item.problem("misplaced", "a refused payment has no callbacks", at_key=True)
        return
    reachable = told(thens)
    seen: set[str] = set()
    for entry in item.items():
        name = entry["status"].text()
        if "" in seen:
            entry.problem("misplaced", "an entry without a status is for all others and comes last")
        elif name in seen:
            entry["status"].problem("duplicate", f"there is an entry for {name} already")
        elif name in TOLD and TOLD[name] not in reachable and any(then.steps for then in thens):
            entry["status"].problem("unreachable", _unreachable(name))
        seen.add(name)


def told(thens: Iterable[PaymentThen]) -> frozenset[Status]:
    """The statuses that callbacks of these outcomes may tell: those after the first, and the refund of a success."""
    later = {step.status for then in thens for step in then.steps[1:]}
    if any(step.status is Status.SUCCESSFUL for then in thens for step in then.steps):
        later.add(Status.REFUNDED)
    return frozenset(later & set(TOLD.values()))


def _unreachable(name: str) -> str:
    if TOLD[name] is Status.REFUNDED:
        return "the timeline has no Succesful, and only a success is voided"
    return f"the timeline never tells {name}: no step after the first has it"
