"""Lint of parts without effect: counts that exclude each other, steps and replies that never come, hidden damage,
unused inboxes."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from simulator.domain.model.fault_kinds import WITHOUT_BODY
from simulator.domain.model.inbox_programs import INBOX_SCHEME
from simulator.domain.model.transactions import STATUS_CODES, Status, may_follow
from simulator.scenario.lint.conditions import count, lint_conditions, window_of
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import Node, shown
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.timelines import (
    NOT_TOLD,
    STATUSES,
    Timelines,
    branches,
    distorted,
    payment_then,
    payment_thens,
    told,
)
from simulator.wire.payment_answers import STATUS_NAMES

# The codes that a final status cannot have, since they mean something else; other codes may be a provider's own.
_OF_OTHERS: Mapping[str, frozenset[int]] = {
    STATUS_NAMES[Status.SUCCESSFUL]: frozenset(STATUS_CODES.values()) - {STATUS_CODES[Status.SUCCESSFUL]},
    STATUS_NAMES[Status.FAILED]: frozenset(
        STATUS_CODES[status] for status in (Status.ACCEPTED, Status.PROCESSING, Status.SUCCESSFUL)
    ),
}


class _Spoiler(msgspec.Struct, frozen=True):
    """A part of a `then` or of `callbacks` beside which the `idle` keys have no effect, and the reason."""

    is_in: Callable[[ValueReader], bool]
    idle: tuple[str, ...]
    why: str


DAMAGE = (
    _Spoiler(
        lambda then: then["disconnect"].boolean() or then["disconnect"].text() == "head",
        ("status", "nonce_service", "internal_error"),
        "the connection is closed before any byte of an answer; remove {0!r} or 'disconnect'",
    ),
    _Spoiler(
        lambda then: then["status"].is_given,
        ("nonce_service", "internal_error"),
        "'status' decides the answer; remove {0!r} or 'status'",
    ),
    _Spoiler(
        lambda then: then["status"].optional_integer() in WITHOUT_BODY and then["body"].text(default="a value") != "",
        ("body",),
        "an answer with this status has no body; remove {0!r} or write another status",
    ),
    _Spoiler(
        lambda then: then["nonce_service"].is_given,
        ("internal_error",),
        "the nonce service is asked first, and its error is the answer; remove {0!r} or 'nonce_service'",
    ),
    _Spoiler(
        lambda then: then["nonce_service"].is_given or then["internal_error"].boolean(),
        ("after_commit",),
        "authentication fails, so nothing is executed; remove {0!r} or write two rules",
    ),
)
_NONE_SENT = _Spoiler(
    lambda callbacks: callbacks["drop"].boolean(),
    ("duplicate", "delay", "again_after", "reverse", "hold", "concurrent"),
    "no callback is sent with 'drop: true'; remove {0!r} or 'drop'",
)


def lint_counts(item: ValueReader) -> None:
    """Report an `nth` that `every` or `times` excludes, and `per` without a count."""
    nth, every, times = (count(item, key) for key in ("nth", "every", "times"))
    per = count(item, "per")
    if per.is_given and not (nth.is_given or every.is_given or times.is_given):
        text = "'per' has no effect without 'nth', 'every' or 'times'; write one of these keys beside 'per'"
        per.problem("misplaced", text, at_key=True)
    value = nth.optional_integer()
    if value is None:
        return
    divisor, most = every.integer(1), times.optional_integer()
    if divisor and value % divisor:
        nth.problem("unreachable", f"this rule never applies: 'every' {divisor} skips match {value}")
    elif most is not None and value > most:
        nth.problem(
            "out_of_range", f"'nth' {value} is above 'times' {most}; remove 'times': a rule with 'nth' applies once"
        )


def lint_steps(then: ValueReader) -> None:
    """Report re-query steps after a status that comes at once, and a final status with the code of another status."""
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
            text = f"this step never happens: {at_once[-1]} comes at once, and {item['status'].text()} cannot follow"
            item["requery"].problem("unreachable", text)


def _lint_code(step: ValueReader) -> None:
    status, code = step["status"].text(), step["statusCode"].optional_integer()
    if code is None or code not in _OF_OTHERS.get(status, ()):
        return
    own = {STATUS_NAMES[one]: STATUS_CODES[one] for one in STATUS_NAMES}
    other = next((name for name, usual in own.items() if usual == code), "a refusal")
    step["statusCode"].problem("odd_code", f"{code} is the code of {other}; {status} has {own[status]}")


def lint_idle(item: ValueReader, spoilers: Iterable[_Spoiler] = DAMAGE) -> None:
    """Report parts of a fault, or of `callbacks`, that another part leaves without effect."""
    for spoiler in spoilers:
        if item.is_mapping and spoiler.is_in(item):
            item.misplaced("{0!r} has no effect: " + spoiler.why, *spoiler.idle)


def lint_payment(item: ValueReader, timelines: Timelines | None, usual: ValueReader | None = None) -> None:
    """Lint the timelines and callbacks of a payment rule. `usual` is the timeline of a rule without its own. Without
    `timelines`, when the scenario has errors, the effect of callbacks is not checked."""
    for branch in branches(item["then"]):
        lint_steps(branch.then)
        callbacks = branch.callbacks or item["callbacks"]
        for entry in callbacks.items() or [callbacks]:
            lint_idle(entry, (_NONE_SENT,))
    if timelines is None or not item.is_valid:
        return
    absent = payment_then(usual, timelines) if usual is not None else NOT_TOLD
    thens = payment_thens(item["then"], item["callbacks"], timelines, absent)
    for callbacks, met in distorted(item["then"], item["callbacks"], thens):
        if not told(met):
            why = "no step after the first" if met else "every entry of 'one_of' has its own"
            callbacks.problem("unreachable", f"these callbacks are never sent: {why}", at_key=True)


def lint_inboxes(root: ValueReader) -> None:
    """Report inboxes that no URL of the scenario names, and windows of their replies that never come."""
    assert root.node is not None, "a document has a root"
    named = {text.removeprefix(INBOX_SCHEME) for text in _texts(root.node) if text.startswith(INBOX_SCHEME)}
    for name, entry in root["inboxes"].entries():
        if name not in named:
            hint = suggestion(name, named) or f"; set the url of a callback or webhook to inbox:{name}"
            entry.problem("unused_inbox", f"no sender is configured for the inbox {shown(name)}{hint}", at_key=True)
        for item in entry["during"].items():
            if (window := window_of(item)) is not None:
                lint_conditions(window)


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node.value, dict | list):
        for below in node.value.values() if isinstance(node.value, dict) else node.value:
            yield from _texts(below)
    elif isinstance(node.value, str):
        yield node.value
