"""Parts of a rule that have no effect, whatever the rule meets: counts that exclude each other, steps that never come,
damage that another damage hides, callbacks that are never sent."""

from collections.abc import Callable, Mapping

import msgspec

from simulator.domain.model.faults import WITHOUT_BODY
from simulator.domain.model.transactions import STATUS_CODES, Status, may_follow
from simulator.scenario.lint.conditions import count
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.timeline import STATUSES
from simulator.wire.payments import STATUS_NAMES

# The codes that a final status cannot have, since they say something else; other codes may be a provider's own.
_OF_OTHERS: Mapping[str, frozenset[int]] = {
    STATUS_NAMES[Status.SUCCESSFUL]: frozenset(STATUS_CODES.values()) - {STATUS_CODES[Status.SUCCESSFUL]},
    STATUS_NAMES[Status.FAILED]: frozenset(
        STATUS_CODES[status] for status in (Status.ACCEPTED, Status.PROCESSING, Status.SUCCESSFUL)
    ),
}


class _Spoiler(msgspec.Struct, frozen=True):
    """Something in a `then` or in `callbacks` beside which `idle` keys have no effect, and why."""

    is_in: Callable[[Reader], bool]
    idle: tuple[str, ...]
    why: str


_NO_ANSWER = _Spoiler(
    lambda then: then["disconnect"].boolean() or then["disconnect"].text() == "head",
    ("status", "nonce_service", "internal_error"),
    "the connection is closed before any byte of an answer; remove {!r} or 'disconnect'",
)
_ANSWERED = _Spoiler(
    lambda then: then["status"].is_given,
    ("nonce_service", "internal_error"),
    "the answer is that of 'status'; remove {!r} or 'status'",
)
_WITHOUT_BODY = _Spoiler(
    lambda then: then["status"].optional_integer() in WITHOUT_BODY and then["body"].text(default="a value") != "",
    ("body",),
    "an answer with this status has no body; remove {!r} or write another status",
)
_NOT_EXECUTED = _Spoiler(
    lambda then: then["nonce_service"].is_given or then["internal_error"].boolean(),
    ("after_commit",),
    "authentication fails, so nothing is executed; remove {!r} or write two rules",
)
_ONE_DENIAL = _Spoiler(
    lambda then: then["nonce_service"].is_given,
    ("internal_error",),
    "the nonce service is asked first, and its error is the answer; remove {!r} or 'nonce_service'",
)
_NONE_SENT = _Spoiler(
    lambda callbacks: callbacks["drop"].boolean(),
    ("duplicate", "delay", "again_after", "reverse"),
    "no callback is sent with 'drop: true'; remove {!r} or 'drop'",
)
DAMAGE = (_NO_ANSWER, _ANSWERED, _WITHOUT_BODY, _ONE_DENIAL, _NOT_EXECUTED)


def lint_counts(item: Reader) -> None:
    """An `nth` that `every` or `times` excludes, and `per` without anything that is counted."""
    nth, every, times = (count(item, key) for key in ("nth", "every", "times"))
    per = count(item, "per")
    if per.is_given and not (nth.is_given or every.is_given or times.is_given):
        text = "'per' has no effect: it says what 'nth', 'every' or 'times' are counted by; write one of them beside it"
        per.problem("misplaced", text, at_key=True)
    value = nth.optional_integer()
    if value is None:
        return
    divisor, most = every.integer(1), times.optional_integer()
    if divisor and value % divisor:
        nth.problem("unreachable", f"this rule never acts: match {value} is not one of every {divisor}")
    elif most is not None and value > most:
        nth.problem("out_of_range", f"nth {value} is beyond times {most}; nth acts once, so leave 'times' out")


def lint_steps(then: Reader) -> None:
    """Re-query steps that a status which comes at once excludes, and a final status with the code of another."""
    items = then.items()
    for item in items:
        _lint_code(item)
    at_once = [item["status"].text() for item in items[1:] if item["after"].text() and not item["after"].duration()]
    reached = STATUSES.get(at_once[-1]) if at_once else None
    if reached is None:
        return
    for item in items[1:]:
        status = STATUSES.get(item["status"].text())
        if item["requery"].is_given and status is not None and not may_follow(reached, status):
            text = f"this step never comes: {at_once[-1]} comes at once, and this cannot follow"
            item["requery"].problem("unreachable", text)


def _lint_code(step: Reader) -> None:
    status, code = step["status"].text(), step["statusCode"].optional_integer()
    if code is None or code not in _OF_OTHERS.get(status, ()):
        return
    own = {STATUS_NAMES[one]: STATUS_CODES[one] for one in STATUS_NAMES}
    other = next((name for name, usual in own.items() if usual == code), "a refusal")
    step["statusCode"].problem("odd_code", f"{code} is the code of {other}; {status} has {own[status]}")


def lint_damage(then: Reader) -> None:
    """Parts of a fault that another part leaves without effect."""
    _lint_idle(then, DAMAGE)


def lint_callbacks(callbacks: Reader) -> None:
    """Callbacks that are never sent have no other distortion."""
    for item in callbacks.items() if callbacks.is_list else [callbacks]:
        _lint_idle(item, (_NONE_SENT,))


def _lint_idle(item: Reader, spoilers: tuple[_Spoiler, ...]) -> None:
    for spoiler in spoilers:
        if item.is_mapping and spoiler.is_in(item):
            for key in spoiler.idle:
                if item[key].is_given:
                    item[key].problem("misplaced", f"{key!r} has no effect: {spoiler.why.format(key)}", at_key=True)
