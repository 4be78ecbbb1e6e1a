"""A course of payments as `then` and `callbacks` of a rule, and in words."""

from typing import Any

from simulator.domain.model.transactions import SETTLED, STATUS_CODES
from simulator.staging.recorder.courses import Course, Telling, spread
from simulator.staging.recorder.writing import counted, duration
from simulator.wire.payments import STATUS_NAMES


def steps(course: Course) -> list[dict[str, Any]]:
    """The timeline."""
    made: list[dict[str, Any]] = []
    latest = 0.0
    for place, step in enumerate(course.steps):
        shown: dict[str, Any] = {"status": STATUS_NAMES[step.status]}
        if number := course.requery(place):
            shown = {"requery": number, **shown}
        elif place:
            latest = max(latest, course.after(place))
            shown = {"after": duration(latest), **shown}
        if step.code is not None and step.code != STATUS_CODES[step.status]:
            shown["statusCode"] = step.code
        if step.remarks:
            shown["remarks"] = step.remarks
        made.append(shown)
    return made


def callbacks(course: Course) -> Any:
    """How its callbacks are distorted; None when they are not."""
    if course.is_reversed:
        return {"reverse": True, **_distorted(course.telling(len(course.steps) - 1))}
    entries = []
    for place, step in enumerate(course.steps):
        shown = _distorted(course.telling(place)) if place else {}
        if shown:
            entries.append({"status": STATUS_NAMES[step.status], **shown})
    return entries or None


def _distorted(telling: Telling) -> dict[str, Any]:
    if telling.count == 0:
        return {"drop": True}
    shown: dict[str, Any] = {}
    if telling.count > 1:
        shown["duplicate"] = min(telling.count - 1, 100)
    if telling.delay_s > 0:
        shown["delay"] = duration(telling.delay_s)
    if telling.again_s is not None:
        shown["again_after"] = duration(telling.again_s)
    return shown


def words(course: Course) -> str:
    """Statuses with their times as they were seen: the median, and from when to when."""
    parts = [STATUS_NAMES[course.steps[0].status]]
    parts += [f"{STATUS_NAMES[one.status]} {_when(course, n)}" for n, one in enumerate(course.steps) if n]
    text = f"{counted(len(course.members), 'payment')}: {', '.join(parts)}"
    if course.steps[-1].status not in SETTLED:
        text += f", and no other status within {spread([course.last_s])}"
    return text


def _when(course: Course, place: int) -> str:
    number = course.requery(place)
    return f"with re-query {number}" if number else f"after {spread(course.times(place))}"
