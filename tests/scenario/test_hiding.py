"""Claims of `check` about two rules, against the rules' own tests: no request disproves them."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from simulator.contract.endpoints import endpoints
from simulator.domain.model.money import SERVICE_ZONE
from simulator.scenario.lint.conditions import Alternative, When, covers, excludes, hides, is_empty, values, when_of
from simulator.scenario.lint.rule_matches import reached
from simulator.scenario.reading.nodes import ProblemReport
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.reading.yaml_parser import load_object
from simulator.scenario.sections.matchers import AMOUNT, METHOD, PATH, TEXT, Comparison, compile_when
from tests.support.tiers import examples

# Few and alike, so that two matchers often have to do with each other.
TEXTS = ("1", "10", "10.0", "101", "01", "48", "0148", "a", "ab", "b", "*", "a*", "true", "")
AMOUNTS = ("1", 10, "10.00", "10.001", "10.0010", 48, "100", "0.5", "-1")
PATHS = (
    "/v2/topup", "/v2/*", "*", "/v2/t*", "*up", "/v2/balance*", "/v2/balance-webhook/deliveries/*", "*/replay",
    "/v2/balance-webhook/deliveries/7", "/v2/*/deliveries/7/replay", "/v3/*", "/v2/transactions/*", "/v2/transactions",
)  # fmt: skip
METHODS = ("POST", "post", "GET", "DELETE", "PATCH", "HEAD")
NUMBERS = (1, 10, "10.00", "10.5", 48, -1)
PARTS = ("1", "10", 0, "01", "a", "ab", "8", "/v2", "/v2/balance", "up", "replay", "p", ".00", "P")
PATTERNS = ("^1", "0$", "a", "^/v2/", "T")


def matchers(plain: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    value = st.sampled_from(plain)
    listed = st.lists(value, min_size=1, max_size=3)
    parts = [
        st.tuples(st.sampled_from(["prefix", "suffix"]), st.sampled_from(PARTS)),
        st.tuples(st.sampled_from(["min", "max", "more_than"]), st.sampled_from(NUMBERS)),
        st.tuples(st.just("pattern"), st.sampled_from(PATTERNS)),
        st.tuples(st.just("in"), listed),
    ]
    flat = value | listed | st.lists(st.one_of(parts), min_size=1, max_size=3).map(dict)
    negated = st.lists(st.one_of(*parts, st.tuples(st.just("not"), flat)), min_size=1, max_size=3).map(dict)
    return flat | negated | negated.map(lambda inner: {"not": inner})


PAYMENT_WHEN = st.fixed_dictionaries(
    {},
    optional={
        "account": matchers(TEXTS),
        "amount": matchers(AMOUNTS),
        "extras": st.dictionaries(st.sampled_from(["x", "X"]), matchers(TEXTS), max_size=2),
    },
)
FAULT_WHEN = st.fixed_dictionaries(
    {},
    optional={
        "method": matchers(METHODS),
        "path": matchers(PATHS),
        "account": matchers(TEXTS),
        "amount": matchers(AMOUNTS),
        "headers": st.dictionaries(st.sampled_from(["A", "a"]), matchers(TEXTS), max_size=2),
        "new": st.booleans(),
    },
)
TIMES = [{"from": "12:00", "to": "13:00"}, {"from": "22:00", "to": "06:00"}, {"from": "12:30"}, {"to": "12:10"}]
ALTERNATIVE = st.fixed_dictionaries(
    {},
    optional={
        "account": st.sampled_from(["1", ["1", "10"], {"not": "1"}, {"prefix": "1"}]),
        "amount": st.sampled_from([10, {"more_than": "outstanding"}, {"more_than": "outstanding", "max": 48}]),
        "time": st.sampled_from([*TIMES, {"from": "12:00", "to": "12:00"}]),
        "weekday": st.sampled_from(["Sun", ["Sat", "Sun"], ["Mon"]]),
        "since": st.sampled_from(["0s", "1h", "12h"]),
        "until": st.sampled_from(["1h", "12h", "2d"]),
    },
)
TIMED_WHEN = st.builds(
    lambda when, items: when | ({"any": items} if items else {}), ALTERNATIVE, st.lists(ALTERNATIVE, max_size=3)
)
FAULT_ALTERNATIVE = st.fixed_dictionaries(
    {},
    optional={
        "method": st.sampled_from(["POST", ["GET", "POST"]]),
        "path": st.sampled_from(["/v2/topup", "/v2/*", "/v2/callback-url", {"prefix": "/v2/balance"}]),
        "query": st.sampled_from([{"a": "10"}, {"a": ["10", "ab"]}, {"A": "10", "a": {"prefix": "a"}}]),
        "account": st.sampled_from(["10", {"prefix": "1"}]),
    },
)
FAULT_WITH_ANY = st.builds(
    lambda when, items: when | ({"any": items} if items else {}),
    FAULT_ALTERNATIVE,
    st.lists(FAULT_ALTERNATIVE, max_size=3),
)
SENT_TEXTS = (None, *TEXTS, "1010", "aab", "100148", "8", "-1")
SENT_AMOUNTS = (None, "", "x", "1", "10", "10.0", "1e1", "10.001", "10.00100", "48.00", "0.50", "100", "-1", "0")
SENT_PATHS = tuple(
    (one.method, path)
    for one in endpoints()
    for path in ([one.path.replace("{jobId}", job) for job in ("7", "x", "a*")] if one.has_parameters else [one.path])
)
MEMBERS: tuple[dict[str, str], ...] = ({}, {"x": "10"}, {"X": "a"}, {"x": "ab", "X": "1"}, {"a": "10"}, {"a": "0148"})
PAYMENTS = [
    {"account": account, "amount": amount, "extras": extras}
    for account, amount, extras in product(SENT_TEXTS, SENT_AMOUNTS, MEMBERS)
]
REQUESTS = [
    {"method": method, "path": path, "account": account, "amount": amount, "headers": headers, **new}
    for (method, path), account, amount, headers, new in product(
        SENT_PATHS, ("", "10", "ab", "0148"), ("", "10.00", "48"), MEMBERS[3:], ({}, {"new": "true"}, {"new": "false"})
    )
]
START = datetime(2027, 1, 9, 12, tzinfo=SERVICE_ZONE)  # a Saturday
TIMED = [
    {
        "account": account,
        "amount": amount,
        "outstanding": lambda: 20,
        "start": START,
        "now": START + timedelta(minutes=30 * at),
    }
    for account, amount, at in product((None, "1", "10", "2"), ("10", "48", "100"), range(130))
]
QUERIES = [request | {"query": request["headers"]} for request in REQUESTS if request["account"] in ("", "10")]
KINDS = [
    ("text", TEXT, TEXTS, SENT_TEXTS),
    ("amount", AMOUNT, AMOUNTS, SENT_AMOUNTS),
    ("path", PATH, PATHS, tuple(path for _, path in SENT_PATHS)),
    ("method", METHOD, METHODS, (*(method for method, _ in SENT_PATHS), "post", "head")),
]


def read(when: Any) -> When:
    document = load_object({"when": when})
    found = when_of(ValueReader.of(document.root, ProblemReport(document.problems)))
    assert found is not None
    return found


def narrowed(whens: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
    """Two of them, the second often with some conditions of the first."""
    return st.builds(
        lambda wide, other, kept: (wide, other | {key: wide[key] for key in kept if key in wide}),
        whens,
        whens,
        st.sets(st.sampled_from(["account", "extras", "headers", "path", "any", "time", "weekday", "since", "until"])),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "plain", "sent"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS])
@settings(max_examples=examples(150))
@given(data=st.data())
def test_a_proof_about_two_matchers_holds_for_every_value(
    data: st.DataObject, kind: Comparison, plain: tuple[Any, ...], sent: tuple[Any, ...]
) -> None:
    one, other = (values(data.draw(matchers(plain)), kind) for _ in range(2))
    passed = [(one.test(value), other.test(value)) for value in sent]
    event(f"covered: {covers(one, other)}, excluded: {excludes(one, other)}, empty: {is_empty(other)}")
    assert not (covers(one, other) and (False, True) in passed)
    assert not (excludes(one, other) and (True, True) in passed)
    assert not (is_empty(other) and any(second for _, second in passed))


def passed(test: Callable[[Any], bool], sent: Iterable[Any]) -> int:
    """Which of the values pass, as bits."""
    return sum(1 << at for at, value in enumerate(sent) if test(value))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "plain", "sent"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS])
def test_a_proof_about_any_two_single_parts_holds_for_every_value(
    kind: Comparison, plain: tuple[Any, ...], sent: tuple[Any, ...]
) -> None:
    single: list[Any] = [*plain, list(plain[:3]), list(plain[2:5])]
    single += [{name: text} for name in ("prefix", "suffix") for text in PARTS]
    single += [{name: number} for name in ("min", "max", "more_than") for number in NUMBERS]
    single += [{"pattern": pattern} for pattern in PATTERNS]
    found = [values(matcher, kind) for one in single for matcher in (one, {"not": one})]
    bits = [(one, passed(one.test, sent)) for one in found]
    assert [one.parts for one, mask in bits if is_empty(one) and mask] == []
    claims = [(covers(one, other), excludes(one, other), wide, narrow) for one, wide in bits for other, narrow in bits]
    assert not any(covered and narrow & ~wide for covered, _, wide, narrow in claims)
    assert not any(excluded and narrow & wide for _, excluded, wide, narrow in claims)
    assert sum(covered for covered, *_ in claims) > len(found)


@pytest.mark.slow
def test_a_proof_about_any_two_faults_holds_for_every_request() -> None:
    methods: list[Any] = [{}, {"method": "post"}, {"method": ["GET", "DELETE"]}]
    parts = [{"prefix": "/v2/balance"}, {"suffix": "/replay"}, {"not": "/v2/topup"}]
    paths: list[Any] = [{}, *({"path": path} for path in (*PATHS, list(PATHS[2:5]), *parts))]
    headers: list[Any] = [{}, {"headers": {"A": "10"}}, {"headers": {"b": "10"}}]
    whens = [method | path | header for method, path, header in product(methods, paths, headers)]
    sent = [
        {"method": method, "path": path, "headers": named}
        for (method, path), named in product(SENT_PATHS, ({}, {"a": "10"}, {"b": "10"}))
    ]
    bits = [(read(when), passed(compile_when(when), sent)) for when in whens]
    assert [one for one, mask in bits if not reached(one.conditions) and mask] == []
    claims = [(hides(one, other), wide, narrow) for one, wide in bits for other, narrow in bits]
    assert not any(hidden and narrow & ~wide for hidden, wide, narrow in claims)
    assert sum(hidden for hidden, *_ in claims) > 3 * len(whens)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(whens=narrowed(PAYMENT_WHEN))
def test_no_payment_reaches_a_rule_that_is_called_hidden(whens: tuple[Any, Any]) -> None:
    wide, narrow = whens
    if hides(read(wide), read(narrow)):
        hiding, hidden = compile_when(wide), compile_when(narrow)
        assert next((one for one in PAYMENTS if hidden(one) and not hiding(one)), None) is None


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(whens=narrowed(TIMED_WHEN))
def test_no_payment_reaches_a_rule_that_is_called_hidden_at_any_time(whens: tuple[Any, Any]) -> None:
    wide, narrow = whens
    if hides(read(wide), read(narrow)):
        event("hidden")
        hiding, hidden = compile_when(wide), compile_when(narrow)
        assert next((one for one in TIMED if hidden(one) and not hiding(one)), None) is None


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(whens=narrowed(FAULT_WITH_ANY))
def test_no_request_reaches_a_fault_with_alternatives_that_is_called_hidden(whens: tuple[Any, Any]) -> None:
    wide, narrow = whens
    found = read(narrow)
    hiding, hidden = compile_when(wide), compile_when(narrow)
    if hides(read(wide), found):
        event("hidden")
        assert next((one for one in QUERIES if hidden(one) and not hiding(one)), None) is None
    for branch in found.branches:
        if not reached(branch.whole):
            assert not any(map(compile_when({**narrow, "any": [plain_of(branch)]}), QUERIES))


def plain_of(branch: Alternative) -> Any:
    assert branch.at.node is not None
    return branch.at.node.plain()


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(whens=narrowed(FAULT_WHEN))
def test_no_request_reaches_a_fault_that_is_called_hidden(whens: tuple[Any, Any]) -> None:
    wide, narrow = whens
    found = read(narrow)
    hiding, hidden = compile_when(wide), compile_when(narrow)
    if hides(read(wide), found):
        assert next((one for one in REQUESTS if hidden(one) and not hiding(one)), None) is None
    if not reached(found.conditions):
        assert not any(map(hidden, REQUESTS))
