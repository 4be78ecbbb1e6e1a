"""The courses of a product's payments: payments with similar statuses and callbacks share a course.

Times that differ by less than a second and a half, or by less than a third, are similar; a course has their medians.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from simulator.domain.model.transactions import SETTLED, STATUS_CODES, Status, may_follow
from simulator.staging.recorder.payment_record import RecordedStatus, SeenPayment
from simulator.staging.recorder.traffic_values import count_phrase, format_duration
from simulator.wire.payment_answers import STATUS_NAMES

STAMP_S = 1.0  # the service reports its times to the second
ALIKE_S = 1.5
ALIKE_SHARE = 0.33
COURSES_MAX = 20
PROMPT_S = 1.5  # a callback that arrives sooner has the time of its status


@dataclass(slots=True)
class CourseStep:
    """A status of a payment at its best known time; `is_said` if the service or a callback reported the time."""

    status: Status
    code: int | None
    remarks: str
    at_s: float
    is_said: bool
    after_s: float


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


def courses_of(payments: Sequence[SeenPayment]) -> tuple[list[Course], dict[int, int]]:
    """Return the courses, the fullest first, and the index of each payment's course by payment number. Payments without
    a status, or beyond `COURSES_MAX`, have no course."""
    courses: list[Course] = []
    of: dict[int, int] = {}
    for payment in sorted(payments, key=_fullest_first):
        steps = _steps(payment)
        if not steps:
            continue
        place = next((n for n, course in enumerate(courses) if _fits(steps, payment.last_s, course)), None)
        if place is None:
            if len(courses) >= COURSES_MAX:
                continue
            place = len(courses)
            courses.append(Course(steps, payment.last_s))
        courses[place].members.append(steps)
        of[payment.number] = place
    return courses, of


def _fullest_first(payment: SeenPayment) -> tuple[bool, int, int]:
    return not payment.is_settled, -len(payment.statuses), payment.number


def _steps(payment: SeenPayment) -> list[CourseStep]:
    """Return the statuses in a valid order; the first is the answer to the creation."""
    steps: list[CourseStep] = []
    for seen in sorted(payment.statuses, key=lambda seen: (time_of(seen)[0], list(Status).index(seen.status))):
        if seen.status is Status.REFUNDED or (steps and not may_follow(steps[-1].status, seen.status)):
            continue
        at_s, is_said = time_of(seen) if steps else (0.0, True)
        steps.append(CourseStep(seen.status, seen.code, seen.remarks, at_s, is_said, seen.after_s))
    return steps


def time_of(seen: RecordedStatus) -> tuple[float, bool]:
    """Return when a status began, and whether that time was reported. The service's time wins; a callback is more exact
    than its whole seconds, and an observation more exact than both."""
    arrived, said = seen.arrived_s, seen.stamp_s
    if said is None:
        return (arrived, True) if arrived is not None else (seen.seen_s, False)
    if arrived is not None and -STAMP_S <= arrived - said <= PROMPT_S:
        return arrived, True
    if 0 < said - seen.seen_s <= STAMP_S:
        return seen.seen_s, True
    return said, True


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
    tolerance = _tolerance(usual.at_s)
    if step.is_said:
        return abs(step.at_s - usual.at_s) <= tolerance
    return step.after_s - tolerance <= usual.at_s <= step.at_s + tolerance


def _tolerance(at_s: float) -> float:
    return max(ALIKE_S, ALIKE_SHARE * at_s)


def spread(times: Iterable[float]) -> str:
    """Return `2s`, or `2s to 3s, mostly 2.4s`, for users."""
    known = sorted(times)
    low, middle, high = (_short(time) for time in (known[0], median(known), known[-1]))
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


def described(course: Course) -> str:
    """Return the statuses with their observed times: the median, and the range."""
    parts = [STATUS_NAMES[course.steps[0].status]]
    parts += [
        f"{STATUS_NAMES[step.status]} after {spread(course.times(n))}" for n, step in enumerate(course.steps) if n
    ]
    text = f"{count_phrase(len(course.members), 'payment')}: {', '.join(parts)}"
    if course.steps[-1].status not in SETTLED:
        text += f", and no other status within {spread([course.last_s])}"
    return text
