"""Lint of faults that no request meets: methods, paths and fields that the service, or an endpoint of it, lacks."""

from collections.abc import Callable, Collection, Iterable
from functools import cache

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.scenario.lint.admitted_values import STAR, Values, excludes, values
from simulator.scenario.lint.conditions import Condition, Conditions, When, count
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.matchers import BODY_FACTS, PATH
from simulator.scenario.sections.rule_sections import listed_values

LISTED_MAX = 3
ConditionReader = Callable[[Condition], ValueReader]  # where a finding about a condition is reported

FIELDS_COUNTED = BODY_FACTS | {"trxid"}  # values of `per` that only some endpoints have
FIELDS = {"new": "refid"}  # facts whose field has another name


def reached(conditions: Conditions) -> list[Endpoint]:
    """Return the endpoints that certain methods and paths may meet. Faults apply only to requests to an endpoint."""
    found = endpoints()
    for condition in conditions:
        if condition.key[0] == "method":
            found = tuple(one for one in found if condition.admits.test(one.method))
        if condition.key[0] == "path":
            found = tuple(one for one in found if may_have(one, condition.admits))
    return list(found)


def may_have(endpoint: Endpoint, path: Values) -> bool:
    """Return True unless certainly no path of the endpoint matches."""
    if path.listed is not None:
        return any(endpoint.has_path(str(text)) for text in path.listed)
    return not excludes(path, _paths(endpoint)) if endpoint.has_parameters else path.test(endpoint.path)


@cache
def _paths(endpoint: Endpoint) -> Values:
    """Return a superset of the endpoint's paths."""
    return values(endpoint.path.partition("{")[0] + STAR, PATH)


def lint_request(item: ValueReader, when: When) -> None:
    """Report conditions that no request to the service meets."""
    if not _lint_one(item["when"], when.conditions, when.conditions):
        return
    _lint_per(count(item, "per"), reached(when.conditions))
    for branch in when.branches:
        if branch.own:
            _lint_one(branch.at, branch.whole, branch.own)


def _lint_one(at: ValueReader, conditions: Conditions, own: Conditions) -> bool:
    """Report impossible conditions of a rule, or of an item `at` of its `any` with its `own` conditions and those
    beside `any`. Return whether a request may meet them."""

    def place(condition: Condition) -> ValueReader:
        return condition.at if any(condition is one for one in own) else at

    unknown = unknown_methods(listed_values(at["method"]))
    if unknown_paths(listed_values(at["path"])) or unknown:
        return False
    possible = reached(conditions)
    if not possible:
        _report_mismatch(at, [one.admits for one in conditions if one.key[0] == "path"])
        return False
    return _lint_fields(conditions, possible, place) and _lint_query(conditions, possible, place)


def unknown_methods(named: Iterable[ValueReader], others: Collection[str] = ()) -> bool:
    """Report methods that neither the service nor `others` has; return whether there were any."""
    methods = sorted({one.method for one in endpoints()})
    unknown = [value for value in named if value.text().upper() not in (*methods, *others)]
    for value in unknown:
        hint = suggestion(value.text().upper(), methods) or f"; its methods are {', '.join(methods)}"
        value.problem("unknown_method", f"the service has no method {shown(value.text())}{hint}")
    return bool(unknown)


def unknown_paths(named: Iterable[ValueReader]) -> bool:
    """Report paths that no endpoint has; return whether there were any."""
    paths = list(dict.fromkeys(one.path for one in endpoints()))
    unknown = [value for value in named if not is_path_of_service(value.text())]
    for value in unknown:
        text = value.text()
        value.problem("unknown_path", f"the service has no path {shown(text)}{suggestion(text, paths)}")
    return bool(unknown)


def is_path_of_service(matcher: object) -> bool:
    """Return True unless certainly no path of the service matches."""
    path = values(matcher, PATH)
    return any(may_have(one, path) for one in endpoints())


def _report_mismatch(when: ValueReader, paths: list[Values]) -> None:
    """Report that no endpoint has both a matching method and a matching path."""
    taken = sorted({one.method for one in endpoints() if all(may_have(one, path) for path in paths)})
    if not taken:
        when["path"].problem("impossible", "no request matches: the service has no such path")
        return
    listed = paths[0].listed if paths else None
    where = str(listed[0]) if listed and len(listed) == 1 else "what the path matches" if paths else "the service"
    when["method"].problem("impossible", f"no request matches: {where} takes {', '.join(taken)}")


def _lint_query(conditions: Conditions, possible: list[Endpoint], place: ConditionReader) -> bool:
    """Report parameters that the only possible endpoint lacks. Return True without such a parameter."""
    if len(possible) != 1:
        return True
    [only] = possible
    asked = [one for one in conditions if one.key[0] == "query" and not one.admits.test(None)]
    unknown = [one for one in asked if one.key[1] not in only.query]
    for one in unknown:
        having = f"; it has {', '.join(sorted(only.query))}" if only.query else " in its query"
        hint = suggestion(one.key[1], sorted(only.query)) or having
        place(one).problem("impossible", f"{only} has no parameter {shown(one.key[1])}{hint}", at_key=True)
    return not unknown


def _lint_per(per: ValueReader, possible: list[Endpoint]) -> None:
    """Report a `per` field that no possible endpoint has."""
    field = per.text()
    if field in FIELDS_COUNTED and not any(field in one.fields for one in possible):
        per.problem("impossible", f"no request matches: {_without(possible, field)}")


def _lint_fields(conditions: Conditions, possible: list[Endpoint], place: ConditionReader) -> bool:
    """Report the first condition on a field that no possible endpoint has. Return True without such a condition."""
    for condition in conditions:
        key = condition.key[0]
        field = FIELDS.get(key, key)
        if key not in BODY_FACTS or condition.admits.test(None if key in ("extras", "new") else ""):
            continue
        if not any(field in one.fields for one in possible):
            having = sorted(str(one) for one in endpoints() if field in one.fields)
            more = " and others" if len(having) > LISTED_MAX else ""
            have = f"{', '.join(having[:LISTED_MAX])}{more} {'have' if len(having) > 1 else 'has'} it"
            place(condition).problem("impossible", f"no request matches: {_without(possible, field)}; {have}")
            return False
    return True


def _without(possible: list[Endpoint], field: str) -> str:
    if len(possible) == 1:
        return f"{possible[0]} has no {field!r}"
    return f"none of the {len(possible)} endpoints that this rule matches has {field!r}"
