"""Clients that sign a query wrongly: the autopsy's advice, followed to the letter by a client, makes it right, at the
latest after three rounds.

The signer here shares no code with ours: it follows each step of a query's form literally, and each mistake's fix
changes the steps that its sentence speaks of.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest

from simulator.auth.autopsy.report import Autopsy, autopsy
from simulator.auth.autopsy.search import BY_ID
from simulator.auth.canonical import QueryRules, canonical_queries
from tests.support.mistaken_clients import Request, Signer
from tests.support.signed_requests import facts, header

KEEP, DROP, CUT, ADD = "keep", "drop", "cut", "add"
SENT, VALUE = "sent", "value"
TRIES = 3


@dataclass(frozen=True)
class Client:
    """How a client makes the query that it signs; as it stands, the way that the rules want."""

    bare: str = DROP
    empty: str = KEEP
    order: str = "key"
    ties: str = SENT
    spelling: str = "sent"
    before: str = ""
    whole: str = ""
    once: bool = False

    def sign(self, request: Request) -> str:
        """The text that stands for the query."""
        if self.whole:
            return {"left-out": "", "path": request.path, "null": "null"}[self.whole]
        parts = [made for part in request.query.split("&") for made in self._kept(part)]
        if self.once:
            parts = list({part.partition("=")[0]: part for part in parts}.values())
        if self.ties == VALUE and self.order != "sent":
            parts = sorted(parts)
        parts = _ORDERS[self.order](parts)
        text = "&".join(_SPELLINGS[self.spelling](part) for part in parts)
        before = {"?": "?", "path": request.path + "?", "url": f"http://sim.test{request.path}?"}.get(self.before, "")
        return before + text

    def _kept(self, part: str) -> Iterable[str]:
        name, equals, value = part.partition("=")
        if not equals:
            return {KEEP: [part], DROP: [], ADD: [part + "="] if part else []}[self.bare]
        if not value:
            return {KEEP: [part], DROP: [], CUT: [name]}[self.empty]
        return [part]


def _key(part: str) -> str:
    return part.partition("=")[0]


_ORDERS: dict[str, Callable[[list[str]], list[str]]] = {
    "key": lambda parts: sorted(parts, key=_key),
    "sent": lambda parts: parts,
    "case": lambda parts: sorted(parts, key=lambda part: _key(part).lower()),
    "value": lambda parts: sorted(parts, key=lambda part: part.partition("=")[2]),
    "descending": lambda parts: sorted(parts, key=_key, reverse=True),
    "whole": sorted,
}
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "sent": lambda part: part,
    "decoded": lambda part: unquote_to_bytes(part).decode("latin-1"),
    "twice": lambda part: quote(part, safe="="),
    "lower": str.lower,
    "plus": lambda part: part.replace("%20", "+"),
}
_SORTED = {"order": "key"}
_AS_SENT = {"spelling": "sent"}
_RULES_OF = {"whole": "", "bare": DROP, **_SORTED, **_AS_SENT}
FIXES: dict[str, dict[str, Any]] = {
    "query-not-sorted": _SORTED,
    "query-sorted-by-value": _SORTED,
    "query-sorted-descending": _SORTED,
    "query-ignoring-case": _SORTED,
    "query-as-sent": _SORTED | {"bare": DROP},
    "query-left-out": _RULES_OF,
    "query-is-path": _RULES_OF,
    "query-is-literal": _RULES_OF,
    "query-with-path": _SORTED | {"before": ""},
    "query-is-url": _SORTED | {"before": ""},
    "query-with-question-mark": {"before": ""},
    "parameter-without-equals": {"bare": DROP},
    "query-decoded": _AS_SENT,
    "query-encoded-otherwise": _SORTED | _AS_SENT,
    "query-encoded-twice": _SORTED | _AS_SENT,
    "query-in-lower-case": _SORTED | _AS_SENT,
    "repeated-key-once": {"once": False},
    "empty-value-without-equals": {"empty": KEEP},
    "repeated-keys-by-value": _SORTED | {"ties": SENT},
    "repeated-keys-as-sent": _SORTED | {"ties": VALUE},
    "empty-values-in": {"empty": DROP},
    "empty-values-out": {"empty": KEEP, "whole": ""},
}

# The steps of single mistakes; the right value of each comes from `Client` or from the rules.
MISTAKES: list[dict[str, Any]] = [
    {"bare": KEEP},
    {"bare": ADD},
    {"empty": KEEP},
    {"empty": DROP},
    {"empty": CUT},
    {"order": "sent"},
    {"order": "sent", "bare": KEEP},
    {"order": "case"},
    {"order": "value"},
    {"order": "descending"},
    {"order": "whole"},
    {"ties": SENT},
    {"ties": VALUE},
    {"spelling": "decoded"},
    {"spelling": "twice"},
    {"spelling": "lower"},
    {"spelling": "plus"},
    {"before": "?"},
    {"before": "path"},
    {"before": "url"},
    {"whole": "left-out"},
    {"whole": "path"},
    {"whole": "null"},
    {"once": True},
]
RULES = [
    QueryRules(order, empty) for order in ("either", "as_sent", "sorted") for empty in ("either", "with", "without")
]
SHOWN = [
    "product_code=RELOAD&verbose&debug",
    "product_code=A%20B&verbose&debug",
    "product_code=RELOAD&debug",
    "product_code=",
    "a=b%3Dc&flag",
    "s=2&a=1&s=1",
    "s=1&a=1&s=2&s=2",
    "s=2&b=&s=1&c=&a=%2F&b=3&flag",
    "B=2&a=1&flag&b=",
    "a=2&a1=1&&x",
]


def right_client(rules: QueryRules) -> Client:
    return Client(
        empty=DROP if rules.empty_values == "without" else KEEP, ties=VALUE if rules.repeated_keys == "sorted" else SENT
    )


def told_of(request: Request, text: str, rules: QueryRules) -> Autopsy:
    return autopsy(facts(request, Signer(query=lambda _: text).sign(request), rules))


def mended(client: Client, made: Autopsy) -> Client:
    """The client after it followed the advice."""
    for one in made.found:
        client = replace(client, **FIXES[one.id])
    return client


def unmended(query: str, rules: QueryRules, client: Client) -> str:
    """Return the advice that does not mend a client; empty when it does."""
    request = Request("GET", "/v2/catalog", query, b"")
    forms = {form.decode() for form in canonical_queries(query.encode(), rules)}
    told: list[list[str]] = []
    for _ in range(TRIES):
        text = client.sign(request)
        if text in forms:
            return ""
        made = told_of(request, text, rules)
        told.append([one.id for one in made.found])
        client = mended(client, made)
    return "" if client.sign(request) in forms else f"{rules} {query!r}: {told}"


def random_query(source: random.Random) -> str:
    keys = ["a", "s", "s", "B", "flag", "a1", "k%2F"]
    values = ["=", "=1", "=2", "=A%20b", "=b%3Dc", "", "=x+y", "=B%2fc"]
    return "&".join(source.choice(keys) + source.choice(values) for _ in range(source.randint(1, 6)))


@pytest.mark.slow
@pytest.mark.parametrize("query", SHOWN)
def test_a_client_that_follows_the_advice_for_one_mistake_signs_rightly(query: str) -> None:
    wrong = [
        unmended(query, rules, replace(right_client(rules), **mistake)) for rules, mistake in product(RULES, MISTAKES)
    ]
    assert list(filter(None, wrong)) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_client_that_follows_the_advice_signs_any_query_rightly(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311 - examples, no secret
    wrong = []
    for mistake in MISTAKES:
        query, rules = random_query(source), source.choice(RULES)
        wrong.append(unmended(query, rules, replace(right_client(rules), **mistake)))
    assert list(filter(None, wrong)) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_client_that_follows_the_advice_for_two_mistakes_signs_rightly(seed: int) -> None:
    source = random.Random(100 + seed)  # noqa: S311 - examples, no secret
    usual = [one for one in MISTAKES if not one.keys() & {"whole", "once"} and one.get("spelling") != "lower"]
    wrong = []
    for _ in range(25):
        one, other = source.sample(usual, 2)
        query, rules = random_query(source), source.choice(RULES)
        client = replace(right_client(rules), **(other | one))
        wrong.append(unmended(query, rules, client))
    assert list(filter(None, wrong)) == []


BARE = "parameter-without-equals"


@pytest.mark.parametrize(
    ("query", "signed", "found"),
    [
        ("product_code=RELOAD&verbose&debug", "product_code=RELOAD&verbose&debug", ["query-as-sent"]),
        ("product_code=A%20B&verbose", "product_code=A%20B&verbose", [BARE]),
        ("product_code=RELOAD&debug", "/v2/catalog?product_code=RELOAD&debug", ["query-with-path"]),
        ("a=b%3Dc&flag", "a=b%253Dc", ["query-encoded-twice"]),
        ("product_code=", "product_code", ["empty-value-without-equals"]),
    ],
)
def test_a_parameter_without_equals_and_an_empty_value_are_distinguished(
    query: str, signed: str, found: list[str]
) -> None:
    request = Request("GET", "/v2/catalog", query, b"")
    assert [one.id for one in told_of(request, signed, QueryRules()).found] == found
    said = header(request, Signer(query=lambda _: signed).sign(request))
    assert all(BY_ID[name].fix in said for name in found), said
