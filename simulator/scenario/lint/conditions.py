"""Conditions of a rule's `when`, as sets of admitted values, and detection of rules that an earlier rule hides."""

from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from simulator.domain.model.inboxes import MIDNIGHT
from simulator.scenario.lint.reach import ANY_METHOD, ANY_PATH, Reach, reach
from simulator.scenario.lint.values import AMOUNT, METHOD, PATH, TEXT, Comparison, Values, covers, opaque, values
from simulator.scenario.reading.document import shown
from simulator.scenario.reading.reader import ONE, Reader
from simulator.scenario.sections.matchers import COUNTS, OUTSTANDING, exceeds_outstanding
from simulator.scenario.sections.windows import DAYS, KEYS, time_of_day

# How each condition compares values. A condition that is missing here is covered only by an equal condition.
KINDS: Mapping[str, Comparison] = {
    "method": METHOD,
    "path": PATH,
    "amount": AMOUNT,
    **dict.fromkeys(("reseller", "product", "account", "refid", "trxid", "refund_type", "new", "weekday"), TEXT),
}
# Conditions with named members: the matcher of each, and the normalization of names.
GROUPS: Mapping[str, Callable[[str], str]] = {"extras": str, "headers": str.lower, "query": str}
SPANS = ("since", "until")

# The members of a rule that do not limit when it applies.
WITHOUT_LIMIT = frozenset({"id", "name", "when", "then", "callbacks", "fallback", *SPANS})

# Work limits: comparisons with earlier rules per rule, and comparisons per scenario.
PAIRS_MAX = 50  # of alternatives of two rules
COMPARED_RULES_MAX = 200
COMPARISONS_MAX = 100_000

Key = tuple[str, str]
ABOVE_OUTSTANDING: Key = ("amount", OUTSTANDING)


class Condition(msgspec.Struct, frozen=True):
    """A single test of a `when`: its key, with the member's name in a group, its admitted values and its position."""

    key: Key
    admits: Values
    at: Reader

    @property
    def holds_always(self) -> bool:
        """Return True for a window that is all the time."""
        match self.key[0]:
            case "weekday":
                return set(DAYS) <= set(self.admits.listed or ())
            case "since":
                return not self.at.duration()
            case "time":
                [(_, found)] = self.admits.parts
                return bool(found.spans() == ((MIDNIGHT, None),))
        return False


class When(msgspec.Struct, frozen=True):
    """The conditions of a rule. `branches` are the alternatives in `any`; `reach` are the endpoints of a fault, if they
    are known."""

    conditions: tuple[Condition, ...]
    reach: Reach | None = None
    branches: tuple["Alternative", ...] = ()

    def of(self, key: str) -> Values | None:
        """Return the values that a plain condition admits; None without such a condition."""
        return next((one.admits for one in self.conditions if one.key == (key, "")), None)

    @property
    def alternatives(self) -> "tuple[When, ...]":
        """Return equivalent conditions without `any`: the rule matches when at least one alternative matches."""
        return tuple(branch.whole for branch in self.branches) or (self,)


class Alternative(msgspec.Struct, frozen=True):
    """An item of `any`: its own conditions, and `whole`, which adds the conditions beside `any`."""

    at: Reader
    own: tuple[Condition, ...]
    whole: When


class Placed(msgspec.Struct, frozen=True):
    """A rule and its conditions."""

    item: Reader
    when: When


def when_of(item: Reader, section: str) -> When | None:
    """Return the conditions of a rule, without its counts; None for an invalid rule."""
    if not item.is_valid:
        return None
    found = _whole((*_conditions(item["when"]), *_written(item, SPANS)), section)
    return replace(found, branches=tuple(_branch(one, found, section) for one in item["when"]["any"].items()))


def _branch(at: Reader, beside: When, section: str) -> Alternative:
    own = tuple(_conditions(at))
    return Alternative(at, own, _whole((*own, *beside.conditions), section))


def _whole(conditions: tuple[Condition, ...], section: str) -> When:
    """Return the conditions with the endpoints of a fault, unless two conditions are about them."""
    found, keys = When(conditions), [one.key[0] for one in conditions]
    if section != "faults" or any(keys.count(key) > 1 for key in ("method", "path")):
        return found
    return replace(found, reach=reach(found.of("method") or ANY_METHOD, found.of("path") or ANY_PATH))


def conditions_of(about: Reader) -> When:
    """Return the conditions of an expectation on its calls, payments and so on; it must be valid."""
    return When(tuple(_conditions(about)))


def window_of(item: Reader) -> When | None:
    """Return the conditions of an item that has its own window and no `when`; None for an invalid item."""
    return When(tuple(_written(item, KEYS))) if item.is_valid else None


def _written(item: Reader, keys: tuple[str, ...]) -> Iterator[Condition]:
    return (Condition((key, ""), _values(key, item[key]), item[key]) for key in keys if item[key].is_given)


def _conditions(when: Reader) -> Iterator[Condition]:
    for key, entry in when.entries():
        if key in COUNTS or key == "any" or entry.node is None:
            continue
        if key in GROUPS:
            for name, member in entry.entries():
                assert member.node is not None, "it is written"
                yield Condition((key, GROUPS[key](name)), values(TEXT, member.node.plain()), member)
        elif exceeds_outstanding(entry.node.plain()):
            yield Condition(ABOVE_OUTSTANDING, opaque(OUTSTANDING), entry["more_than"])
            others = {name: wanted for name, wanted in entry.node.plain().items() if name != "more_than"}
            if others:
                yield Condition(("amount", ""), values(AMOUNT, others), entry)
        else:
            yield Condition((key, ""), _values(key, entry), entry)


def _values(key: str, entry: Reader) -> Values:
    assert entry.node is not None, "it is written"
    if key in SPANS:
        return opaque(entry.duration())
    if key == "time":
        return opaque(time_of_day(entry.node.plain()))
    return values(KINDS[key], entry.node.plain()) if key in KINDS else opaque(entry.node.plain())


def count(item: Reader, key: str) -> Reader:
    """Return `nth`, `every`, `times` or `chance`, which may be beside `when` or in it."""
    return item[key] if item[key].is_given else item["when"][key]


def applies_always(item: Reader) -> bool:
    """Return True if a rule applies whenever its conditions hold."""
    limits = {key for key, _ in item.entries()} - WITHOUT_LIMIT
    limits |= {key for key in COUNTS if item["when"][key].is_given}
    if not limits <= {"every", "chance"}:
        return False
    return count(item, "every").integer(1) == 1 and count(item, "chance").amount(ONE) == ONE


def hides(wide: When, narrow: When) -> bool:
    """Return True if `wide` provably matches everything that `narrow` matches."""
    alternatives, others = wide.alternatives, narrow.alternatives
    if len(alternatives) * len(others) > PAIRS_MAX:
        return False
    return all(any(_hides(one, other) for one in alternatives) for other in others)


def _hides(wide: When, narrow: When) -> bool:
    return all(
        one.holds_always
        or any(one.key == other.key and covers(one.admits, other.admits) for other in narrow.conditions)
        for one in wide.conditions
    )


def lint_order(rules: list[Placed], source: str, comparisons_max: int = COMPARISONS_MAX) -> int:
    """Report the hidden rules of `source`. Inherited rules may hide rules, but are not reported. Return how many
    comparisons are left of `comparisons_max`.

    A rule with a name and without conditions is exempt: requests select it by X-Sim-Rule.
    """
    earlier: list[Placed] = []
    left = comparisons_max
    for placed in sorted(rules, key=lambda one: _is_fallback(one.item)):
        item, when = placed.item, placed.when
        if not item["when"].is_valid:
            continue  # matches no request: another finding
        left -= len(earlier)
        if left < 0:
            return 0
        hiding = next((one for one in earlier if hides(one.when, when)), None)
        if hiding is None:
            if applies_always(item) and len(earlier) < COMPARED_RULES_MAX:
                earlier.append(placed)
        elif item.position.source == source and (when.conditions or when.branches or not item["name"].is_given):
            item.problem("unreachable", _text(hiding, placed))
    return left


def _text(hiding: Placed, hidden: Placed) -> str:
    text = f"this rule never applies: {_named(hiding.item, hidden.item)} matches everything that it matches"
    if hides(hidden.when, hiding.when):
        return f"{text}, and nothing else; remove one of them"
    if _is_fallback(hidden.item) and not _is_fallback(hiding.item):
        return f"{text}, and a fallback comes after all other rules"
    return f"{text}; put this one above it"


def _is_fallback(item: Reader) -> bool:
    return item["fallback"].boolean()


def _named(hiding: Reader, hidden: Reader) -> str:
    """Return the hiding rule's name and line, with the file when the files differ."""
    name = hiding["name"].text() or hiding["id"].text()
    place = hiding.position
    where = f"on line {place.line}" if place.source == hidden.position.source else f"in {place.source}:{place.line}"
    return f"rule {shown(name)} {where}" if name else f"the one {where}"
