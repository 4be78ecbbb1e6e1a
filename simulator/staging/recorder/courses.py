"""The courses of a product's payments: payments with similar statuses and callbacks share a course.

Times that differ by less than a second and a half, or by less than a third, are similar; a course has their medians.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from simulator.domain.model.transactions import SETTLED, STATUS_CODES, Status, may_follow
from simulator.staging.recorder.payments import RecordedStatus, SeenPayment
from simulator.staging.recorder.values import counted, format_duration
from simulator.wire.payments import STATUS_NAMES

STAMP_S = 1.0  # the service reports its times to the second
ALIKE_S = 1.5
ALIKE_SHARE = 0.33
COURSES_MAX = 20
PROMPT_S = 1.5  # a callback that arrives sooner was not delayed
COPIES_S = 5.0  # copies that arrive sooner are duplicates, later copies are repetitions
RETRY_S = 10.0  # an attempt that follows a failed attempt later is another attempt of the same callback
WAITED_S = 120.0  # a callback that did not arrive within this time was not sent


@dataclass(frozen=True, slots=True)
class CallbackTiming:
    """The arrival of a status's callbacks: how many at once, after how many seconds, and the time until a repetition.
    `count` is -1 if unknown, 0 for a callback that never arrived."""

    count: int = -1
    delay_s: float = 0.0
    again_s: float | None = None

    @property
    def kind(self) -> tuple[int, bool, bool]:
        """Return the facts that distinguish two timings."""
        return self.count, self.delay_s > 0, self.again_s is not None


@dataclass(slots=True)
class CourseStep:
    """A status of a payment at its best known time; `is_said` if the service or a callback reported the time."""

    status: Status
    code: int | None
    remarks: str
    at_s: float
    is_said: bool
    after_s: float
    timing: CallbackTiming = CallbackTiming()


@dataclass(slots=True)
class Course:
    """Payments with similar statuses. `steps` are the statuses of the first payment, `members` of all payments."""

    steps: list[CourseStep]
    last_s: float
    members: list[list[CourseStep]] = field(default_factory=list)

    def times(self, place: int) -> list[float]:
        """Return the sorted times of the status at `place` in all payments: only reported times, if there are any."""
        status = self.steps[place].status
        of = [step for steps in self.members for step in steps if step.status is status]
        return sorted([step.at_s for step in of if step.is_said] or [step.at_s for step in of])

    def after(self, place: int) -> float:
        """Return the median of `times`."""
        return median(self.times(place)) if place else 0.0

    def timing(self, place: int) -> CallbackTiming:
        """Return how callbacks of the status at `place` arrived; delays are medians."""
        status = self.steps[place].status
        known = [
            step.timing for one in self.members for step in one if step.status is status and step.timing.count >= 0
        ]
        if not known:
            return CallbackTiming()
        agains = [one.again_s for one in known if one.again_s is not None]
        return CallbackTiming(known[0].count, median(one.delay_s for one in known), median(agains) if agains else None)


def courses_of(payments: Sequence[SeenPayment], *, has_callbacks: bool) -> tuple[list[Course], dict[int, int]]:
    """Return the courses, the fullest first, and the index of each payment's course by payment number. `has_callbacks`
    is True if any callbacks were observed. Payments without a status, or beyond `COURSES_MAX`, have no course."""
    courses: list[Course] = []
    of: dict[int, int] = {}
    for one in sorted(payments, key=_fullest_first):
        steps = _steps(one, has_callbacks=has_callbacks)
        if not steps:
            continue
        place = next((n for n, course in enumerate(courses) if _fits(steps, one.last_s, course)), None)
        if place is None:
            if len(courses) >= COURSES_MAX:
                continue
            place = len(courses)
            courses.append(Course(steps, one.last_s))
        courses[place].members.append(steps)
        of[one.number] = place
    return courses, of


def _fullest_first(one: SeenPayment) -> tuple[bool, int, int]:
    return not one.is_settled, -len(one.statuses), one.number


def _steps(one: SeenPayment, *, has_callbacks: bool) -> list[CourseStep]:
    """Return the statuses in a valid order; the first is the answer to the creation."""
    steps: list[CourseStep] = []
    for seen in sorted(one.statuses, key=lambda seen: (_time(seen)[0], list(Status).index(seen.status))):
        if seen.status is Status.REFUNDED or (steps and not may_follow(steps[-1].status, seen.status)):
            continue
        at_s, is_said = _time(seen) if steps else (0.0, True)
        timing = _callback_timing(seen, at_s, one, has_callbacks=has_callbacks) if steps else CallbackTiming()
        steps.append(CourseStep(seen.status, seen.code, seen.remarks, at_s, is_said, seen.after_s, timing))
    return steps


def _time(seen: RecordedStatus) -> tuple[float, bool]:
    """Return when a status began, and whether that time was reported. The service's time wins; a callback is more exact
    than its whole seconds, and an observation more exact than both."""
    arrived = min((one.at_s for one in seen.arrivals), default=None)
    said = seen.stamp_s
    if said is None:
        return (arrived, True) if arrived is not None else (seen.seen_s, False)
    if arrived is not None and -STAMP_S <= arrived - said <= PROMPT_S:
        return arrived, True
    if 0 < said - seen.seen_s <= STAMP_S:
        return seen.seen_s, True
    return said, True


def _callback_timing(seen: RecordedStatus, at_s: float, one: SeenPayment, *, has_callbacks: bool) -> CallbackTiming:
    if not seen.arrivals:
        has_waited = one.last_s - at_s > WAITED_S or any(other.arrivals for other in one.statuses)
        return CallbackTiming(0) if has_callbacks and has_waited else CallbackTiming()
    arrivals: list[float] = []
    failed: list[float] = []
    for arrival in sorted(seen.arrivals, key=lambda arrival: arrival.at_s):
        if failed and arrival.at_s - failed[0] >= RETRY_S:
            failed.pop(0)
        else:
            arrivals.append(arrival.at_s)
        if arrival.is_retried:
            failed.append(arrival.at_s)
    copies = [at for at in arrivals if at - arrivals[0] <= COPIES_S]
    agains = [at for at in arrivals if at - arrivals[0] > COPIES_S]
    delay_s = arrivals[0] - at_s
    return CallbackTiming(
        len(copies), delay_s if delay_s > PROMPT_S else 0.0, agains[0] - arrivals[0] if agains else None
    )


def _fits(steps: list[CourseStep], last_s: float, course: Course) -> bool:
    """Return whether a payment may have taken this course, as far as it was observed."""
    place = 0
    for step in steps:
        while place < len(course.steps) and course.steps[place].status is not step.status:
            place += 1
        if place == len(course.steps) or not _is_alike(step, course.steps[place]):
            return False
        place += 1
    if place < len(course.steps) and steps[-1].status not in SETTLED:
        following = course.steps[place].at_s
        return last_s <= following + _tolerance(following)
    return place == len(course.steps)


def _is_alike(step: CourseStep, usual: CourseStep) -> bool:
    if (step.code, step.remarks) != (usual.code, usual.remarks):
        return False
    if -1 not in (step.timing.count, usual.timing.count) and step.timing.kind != usual.timing.kind:
        return False
    tolerance = _tolerance(usual.at_s)
    if step.is_said:
        return abs(step.at_s - usual.at_s) <= tolerance
    return step.after_s - tolerance <= usual.at_s <= step.at_s + tolerance


def _tolerance(at_s: float) -> float:
    return max(ALIKE_S, ALIKE_SHARE * at_s)


def spread(times: Iterable[float]) -> str:
    """Return `2s`, or `2s to 3s, mostly 2.4s`, for users."""
    known = sorted(times)
    low, middle, high = (_short(one) for one in (known[0], median(known), known[-1]))
    return middle if low == high else f"{middle} ({low} to {high})"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") + " s"


def timeline(course: Course) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    latest = 0.0
    for place, step in enumerate(course.steps):
        shown: dict[str, Any] = {"status": STATUS_NAMES[step.status]}
        if place:
            latest = max(latest, course.after(place))
            shown = {"after": format_duration(latest), **shown}
        if step.code is not None and step.code != STATUS_CODES[step.status]:
            shown["statusCode"] = step.code
        if step.remarks:
            shown["remarks"] = step.remarks
        made.append(shown)
    return made


def distorted_callbacks(course: Course) -> Any:
    """Return the distortion of the course's callbacks; None without a distortion."""
    entries = []
    for place, step in enumerate(course.steps):
        shown = _distorted(course.timing(place)) if place else {}
        if shown:
            entries.append({"status": STATUS_NAMES[step.status], **shown})
    return entries or None


def _distorted(timing: CallbackTiming) -> dict[str, Any]:
    if timing.count == 0:
        return {"drop": True}
    shown: dict[str, Any] = {}
    if timing.count > 1:
        shown["duplicate"] = min(timing.count - 1, 100)
    if timing.delay_s > 0:
        shown["delay"] = format_duration(timing.delay_s)
    if timing.again_s is not None:
        shown["again_after"] = format_duration(timing.again_s)
    return shown


def described(course: Course) -> str:
    """Return the statuses with their observed times: the median, and the range."""
    parts = [STATUS_NAMES[course.steps[0].status]]
    parts += [f"{STATUS_NAMES[one.status]} after {spread(course.times(n))}" for n, one in enumerate(course.steps) if n]
    text = f"{counted(len(course.members), 'payment')}: {', '.join(parts)}"
    if course.steps[-1].status not in SETTLED:
        text += f", and no other status within {spread([course.last_s])}"
    return text
