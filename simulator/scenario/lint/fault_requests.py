"""Lint of faults that no request meets: methods, paths and fields that the service, or an endpoint of it, lacks."""

from collections.abc import Collection, Iterable
from functools import cache

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.scenario.lint.admitted_values import STAR, Values, excludes, values
from simulator.scenario.lint.conditions import Alternative, Conditions, When, count
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.matchers import BODY_FACTS, PATH
from simulator.scenario.sections.rule_sections import listed_values

LISTED_MAX = 3

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
    for at in (item["when"], *(branch.at for branch in when.branches)):
        if unknown_methods(listed_values(at["method"])) or unknown_paths(listed_values(at["path"])):
            return
    for alternative in when.alternatives:
        _lint_alternative(alternative)
    per, possible = count(item, "per"), reached(when.conditions)
    if per.text() in FIELDS_COUNTED and not any(per.text() in one.fields for one in possible):
        per.problem("impossible", _lacking(possible, per.text()))


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


def _lint_alternative(one: Alternative) -> None:
    """Report a method that the path does not take, or else the first parameter or field that no possible endpoint has.
    A condition beside `any` is reported at the item of `any`."""
    possible = reached(one.whole)
    if not possible:
        paths = [condition.admits for condition in one.whole if condition.key[0] == "path"]
        taken = sorted({each.method for each in endpoints() if all(may_have(each, path) for path in paths)})
        text = f"the path takes {', '.join(taken)}" if taken else "the service has no such path"
        one.at["method" if taken else "path"].problem("impossible", f"no request matches: {text}")
        return
    for condition in one.whole:
        key, name = condition.key
        is_query = key == "query"
        field = name if is_query else FIELDS.get(key, key)
        absent = None if key in ("query", "extras", "new") else ""
        if not (is_query or key in BODY_FACTS) or condition.admits.test(absent):
            continue
        if not any(field in _members(each, is_query) for each in possible):
            place = condition.at if condition in one.own else one.at
            place.problem("impossible", _lacking(possible, field, is_query), at_key=is_query)
            return


def _members(endpoint: Endpoint, is_query: bool) -> Collection[str]:
    return endpoint.query if is_query else endpoint.fields


def _lacking(possible: list[Endpoint], name: str, is_query: bool = False) -> str:
    """Return the message about a parameter or field: a similar name, or else the endpoints that have it."""
    lacking = f"none of the {len(possible)} endpoints that this rule matches has" if len(possible) > 1 else ""
    text = f"no request matches: {lacking or f'{possible[0]} has no'} {'parameter ' * is_query}{name!r}"
    if hint := suggestion(name, {known for one in possible for known in _members(one, is_query)}):
        return text + hint
    having = sorted(str(one) for one in endpoints() if name in _members(one, is_query))
    more = " and others" if len(having) > LISTED_MAX else ""
    return (
        f"{text}; {', '.join(having[:LISTED_MAX])}{more} {'have' if len(having) > 1 else 'has'} it" if having else text
    )
