"""Lint of faults that no request meets: methods, paths and fields that the service, or an endpoint of it, lacks."""

from collections.abc import Callable, Collection, Iterable

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.scenario.lint.conditions import Condition, When, count
from simulator.scenario.lint.reach import Reach, may_have, reach
from simulator.scenario.lint.values import PATH, values
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import shown
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.matchers import BODY_FACTS
from simulator.scenario.sections.rules import listed_values

LISTED_MAX = 3
ConditionReader = Callable[[Condition], Reader]  # where a finding about a condition is reported

FIELDS_COUNTED = BODY_FACTS | {"trxid"}  # values of `per` that only some endpoints have

# Facts whose field has another name.
FIELDS = {"new": "refid"}


def lint_request(item: Reader, when: When) -> None:
    """Report conditions that no request to the service meets."""
    if not _lint_one(item["when"], when, when.conditions):
        return
    assert when.reach is not None, "a fault is about requests"
    lint_per(count(item, "per"), when.reach.possible)
    for branch in when.branches:
        if branch.own:
            _lint_one(branch.at, branch.whole, branch.own)


def _lint_one(at: Reader, when: When, own: tuple[Condition, ...]) -> bool:
    """Report impossible conditions of a rule, or of an item `at` of its `any` with its `own` conditions and those
    beside `any`. Return whether a request may meet them."""

    def place(condition: Condition) -> Reader:
        return condition.at if any(condition is one for one in own) else at

    if _lint_names(at) or when.reach is None:
        return False
    if not when.reach.possible:
        _report_mismatch(at, when.reach)
        return False
    return _lint_fields(when, place) and _lint_query(when, place)


def _lint_names(when: Reader) -> bool:
    """Report unknown methods and paths; return whether there were any."""
    unknown = unknown_methods(listed_values(when["method"]))
    return unknown_paths(listed_values(when["path"])) or unknown


def unknown_methods(named: Iterable[Reader], others: Collection[str] = ()) -> bool:
    """Report methods that neither the service nor `others` has; return whether there were any."""
    methods = sorted({one.method for one in endpoints()})
    unknown = [value for value in named if value.text().upper() not in (*methods, *others)]
    for value in unknown:
        hint = suggestion(value.text().upper(), methods) or f"; its methods are {', '.join(methods)}"
        value.problem("unknown_method", f"the service has no method {shown(value.text())}{hint}")
    return bool(unknown)


def unknown_paths(named: Iterable[Reader]) -> bool:
    """Report paths that no endpoint has; return whether there were any."""
    paths = list(dict.fromkeys(one.path for one in endpoints()))
    unknown = [value for value in named if not reach(path=values(PATH, value.text())).possible]
    for value in unknown:
        text = value.text()
        value.problem("unknown_path", f"the service has no path {shown(text)}{suggestion(text, paths)}")
    return bool(unknown)


def _report_mismatch(when: Reader, reach: Reach) -> None:
    """Report that no endpoint has both a matching method and a matching path."""
    taken = sorted({one.method for one in endpoints() if may_have(one, reach.path)})
    if taken:
        when["method"].problem("impossible", f"no request matches: {_where(reach)} takes {', '.join(taken)}")
    else:
        when["path"].problem("impossible", "no request matches: the service has no such path")


def _where(reach: Reach) -> str:
    if reach.path.listed is not None and len(reach.path.listed) == 1:
        return str(reach.path.listed[0])
    return "what the path matches" if reach.path.parts else "the service"


def _lint_query(when: When, place: ConditionReader) -> bool:
    """Report parameters that the only possible endpoint lacks. Return True without such a parameter."""
    assert when.reach is not None, "a fault is about requests"
    if len(when.reach.possible) != 1:
        return True
    [only] = when.reach.possible
    unknown = [
        one
        for one in when.conditions
        if one.key[0] == "query" and one.key[1] not in only.query and not one.admits.test(None)
    ]
    for one in unknown:
        having = f"; it has {', '.join(sorted(only.query))}" if only.query else " in its query"
        hint = suggestion(one.key[1], sorted(only.query)) or having
        text = f"{only} has no parameter {shown(one.key[1])}{hint}"
        place(one).problem("impossible", text, at_key=True)
    return not unknown


def lint_per(per: Reader, possible: Collection[Endpoint]) -> None:
    """Report a `per` field that no possible endpoint has."""
    field = per.text()
    if field in FIELDS_COUNTED and not any(field in one.fields for one in possible):
        found = sorted(map(str, possible))
        who = (
            f"{found[0]} has no"
            if len(found) == 1
            else f"none of the {len(found)} endpoints that this rule matches has"
        )
        per.problem("impossible", f"no request matches: {who} {field!r}")


def _lint_fields(when: When, place: ConditionReader) -> bool:
    """Report the first condition on a field that no possible endpoint has together with the fields before it. Return
    True without such a condition."""
    assert when.reach is not None, "a fault is about requests"
    left: Iterable[Endpoint] = when.reach.possible
    asked: list[str] = []
    for condition in when.conditions:
        key = condition.key[0]
        if key not in BODY_FACTS or condition.admits.test(None if key in ("extras", "new") else ""):
            continue
        having = [one for one in left if FIELDS.get(key, key) in one.fields]
        if not having:
            _report_field(condition, place(condition), when.reach.possible, asked)
            return False
        left = having
        asked.append(key)
    return True


def _report_field(condition: Condition, at: Reader, matched: Iterable[Endpoint], asked: list[str]) -> None:
    key = condition.key[0]
    field, found = FIELDS.get(key, key), sorted(map(str, matched))
    having = [one for one in matched if field in one.fields]
    beside = f" beside {' and '.join(dict.fromkeys(asked))}" if having else ""
    who = found[0] if len(found) == 1 else f"none of the {len(found)} endpoints that this rule matches"
    text = f"no request matches: {who} has {'no ' if len(found) == 1 else ''}{field!r}{beside}"
    others = sorted(str(one) for one in endpoints() if field in one.fields)
    if not beside:
        more = " and others" if len(others) > LISTED_MAX else ""
        text += f"; {', '.join(others[:LISTED_MAX])}{more} {'have' if len(others) > 1 else 'has'} it"
    at.problem("impossible", text)
