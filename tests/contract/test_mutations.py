"""The running server follows the request schemas: with a changed one it refuses what it accepted, or accepts more.

A request that a story played is sent again under each change of its schema. Refusals by code beyond the schemas are in
a table, with the reason why no schema says it.
"""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlencode

import pytest

from simulator.contract import body, query, validator
from simulator.contract.openapi import CONTROL, OPENAPI, load
from simulator.contract.schemas import Schema, resolved, schema
from tests.support.client import Client, Response, running
from tests.support.control_queries import QUERIES
from tests.support.played import METHODS, Exchange, Player, player
from tests.support.stories import stories_with

CACHES = (validator.validator, query.parameters, query.parameter_names, body._optional_texts)
NEVER = "never-sent"
Way = tuple[str, ...]
Change = tuple[str, Callable[[Schema], None]]

REPLY = {"status": 200, "delay": 1, "body": "x", "headers": {"X-A": "b"}}
# Parts that no story sends, and keywords of nested members that have to be followed.
MORE: dict[str, dict[str, Any]] = {
    "topup-request": {
        "refid": "with-more",
        "remarks": "x",
        "extras": {"subproduct_code": "RELOAD-10", "ic_number": "900101145678", "biller_code": "1001", "ref2": "x"},
    },
    "inbox-replies-request": {
        "replies": [REPLY],
        "during": [REPLY | {"time": {"from": "12:00", "to": "12:10"}, "weekday": ["Sun"]}],
    },
    "probes-request": {"timeout": 1},
}
WITHIN = {
    "topup-request": {
        "extras.subproduct_code: type", "extras.ic_number: type", "extras.biller_code: type", "extras.ref2: type",
    },
    "void-request": {"user_email: items", "user_email.*: pattern"},
    "settings-request": {"ip_allowlist: items", "ip_allowlist.*: format"},
    "clock-request": {"rate: minimum"},
    "probes-request": {"probes.*: enum", "timeout: exclusiveMinimum"},
    "inbox-replies-request": {
        "replies.*.headers: minProperties", "replies.*.headers: maxProperties", "during.*.time.from: pattern",
        "during.*.weekday: items", "during.*.weekday.*: enum",
    },
}  # fmt: skip


class Ended(Exception):
    """Ends a story."""


def requests() -> Iterator[tuple[str, str, str, str, str]]:
    """Document, method and path of every operation with a request schema, whether of its body or query, and which."""
    for document in (OPENAPI, CONTROL):
        for path, item in load(document)["paths"].items():
            for method in (each for each in METHODS if each in item):
                operation = item[method]
                for content in operation.get("requestBody", {}).get("content", {}).values():
                    name = content["schema"]["$ref"].removeprefix("schemas/").removesuffix(".json")
                    if name not in ("scenario-text", "tape-file") and (name, "body") != ("api-key-request", "body"):
                        yield document, method, path, "body", name
                refs = [each["schema"]["$ref"] for each in operation.get("parameters", ()) if each.get("in") == "query"]
                if document == OPENAPI and refs:
                    yield document, method, path, "query", refs[0].removeprefix("schemas/").partition(".")[0]
                if (method, path) in QUERIES and document == CONTROL:
                    yield document, method, path, "query", QUERIES[method, path]


@contextmanager
def changed(name: str, change: Callable[[Schema], None]) -> Iterator[None]:
    """The contract with a schema changed, as the running server then reads it."""
    loaded = schema(name)
    before = copy.deepcopy(loaded)
    change(loaded)
    for cache in CACHES:
        cache.cache_clear()
    try:
        yield
    finally:
        loaded.clear()
        loaded.update(before)
        for cache in CACHES:
            cache.cache_clear()


def narrowed(name: str, sent: dict[str, Any]) -> Iterator[Change]:
    """Changes of each keyword after which the schema does not accept what was sent."""
    yield "required", requires_more
    for member in sent:
        if member in schema(name)["properties"]:
            yield f"{member}: not known", forgets(member)
    yield from narrower(name, schema(name), sent, ())


def narrower(name: str, part: Schema, value: Any, way: Way) -> Iterator[Change]:
    """Yield the keywords of the nested part of the schema at the keys of `way`."""
    if isinstance(value, list) and value and "items" in part:
        within: list[tuple[Way, Schema, Any]] = [(("items",), part["items"], value[0])]
    elif isinstance(value, dict):
        known = part.get("properties", {})
        within = [(("properties", key), known[key], each) for key, each in value.items() if key in known]
    else:
        return
    for keys, inner, each in within:
        here = (*way, *keys)
        for keyword, wanted in tighter(resolved(name, inner), each):
            yield f"{dotted(here)}: {keyword}", narrows(here, keyword, wanted)
        yield from narrower(name, inner, each, here)


def dotted(way: Way) -> str:
    """Return the member at the keys of a schema: `extras.biller_code`, `replies.*.status`."""
    return ".".join("*" if key == "items" else key for key in way if key != "properties")


def requires_more(whole: Schema) -> None:
    whole["properties"][NEVER] = {"description": "Never sent.", "type": "string"}
    whole["required"] = [*whole.get("required", ()), NEVER]


def narrows(way: Way, keyword: str, wanted: Any) -> Callable[[Schema], None]:
    def change(whole: Schema) -> None:
        for key in way:
            whole = whole[key]
        whole[keyword] = wanted

    return change


def forgets(member: str) -> Callable[[Schema], None]:
    def change(whole: Schema) -> None:
        del whole["properties"][member]
        whole["required"] = [each for each in whole.get("required", ()) if each != member]
        whole["additionalProperties"] = False

    return change


def tighter(part: Schema, value: Any) -> Iterator[tuple[str, Any]]:
    """For each keyword of a member's schema a value that `value` does not satisfy."""
    yield "type", "null"  # also where none exists yet
    if "const" in part:
        yield "const", NEVER
    if "enum" in part:
        yield "enum", [NEVER]
    if "pattern" in part and isinstance(value, str):
        yield "pattern", f"^{NEVER}$"
    if "maxLength" in part and value:
        yield "maxLength", len(value) - 1
    if "minLength" in part:
        yield "minLength", len(value) + 1
    if "maximum" in part and not isinstance(value, str):
        yield "maximum", value - 1
    if "minimum" in part and not isinstance(value, str):
        yield "minimum", value + 1
    if "exclusiveMinimum" in part and not isinstance(value, str):
        yield "exclusiveMinimum", value
    if "format" in part:
        yield "format", "json-pointer"  # which no address, time or URL is
    if "items" in part and isinstance(value, list) and value:
        yield "items", {"type": "null"}
    if "minProperties" in part and isinstance(value, dict):
        yield "minProperties", len(value) + 1
    if "maxProperties" in part and isinstance(value, dict):
        yield "maxProperties", len(value) - 1
    if "maxItems" in part and isinstance(value, list):
        yield "maxItems", len(value) - 1
    if "minItems" in part and isinstance(value, list):
        yield "minItems", len(value) + 1


def sent_by(exchange: Exchange, place: str, name: str) -> dict[str, Any] | None:
    """Return the sent value that the schema describes: a query of the control API with numbers as such."""
    if place == "body":
        return exchange.body if isinstance(exchange.body, dict) else None
    parts = {key: resolved(name, part) for key, part in schema(name)["properties"].items()}
    return {
        key: int(text) if parts.get(key, {}).get("type") in ("integer", "number") else text
        for key, text in exchange.query.items()
    }


def again(p: Player, exchange: Exchange, place: str, sent: dict[str, Any]) -> Response:
    """The request once more, with this in its body or query."""
    path = exchange.template
    for name, value in exchange.path_values.items():
        path = path.replace(f"{{{name}}}", value)
    values = sent if place == "query" else exchange.query
    target = f"{path}?{urlencode(values)}" if values else path
    content = sent if place == "body" else exchange.body
    if exchange.document == CONTROL or exchange.operation.get("security") == []:
        return p.send(exchange.method.upper(), target, content, **dict(exchange.sent_headers))
    return p.call(exchange.method.upper(), target, content)


@pytest.mark.slow
@pytest.mark.parametrize(("document", "method", "path", "place", "name"), list(requests()))
def test_the_server_follows_each_keyword(document: str, method: str, path: str, place: str, name: str) -> None:
    checked: list[str] = []

    def check(p: Player, exchange: Exchange) -> None:
        if (exchange.document, exchange.method, exchange.template) != (document, method, path):
            return
        sent = sent_by(exchange, place, name)
        if exchange.status >= 300 or not sent:
            return
        if name in MORE:
            sent = sent | MORE[name]  # a new one: the story sends its own again
            assert again(p, exchange, place, sent).status < 300
        checked.extend(follows(p, exchange, place, name, sent))
        raise Ended

    for story, needed in stories_with(document, method, path):
        play_until(story, needed, check)
    assert len(checked) >= 2, "no story sends what this schema is about"
    missing = WITHIN.get(name, set()) - set(checked)
    assert missing == set()


def follows(p: Player, exchange: Exchange, place: str, name: str, sent: dict[str, Any]) -> Iterator[str]:
    """Every change of the schema that the server followed; fails at one that it did not follow."""
    for what, change in narrowed(name, sent):
        with changed(name, change):
            response = again(p, exchange, place, sent)
        assert response.status == 400, f"{name}, {what}: {response.status} {response.body.decode()}"
        yield what
    stray = {NEVER: "x"} if schema(name).get("additionalProperties") is not False else {}
    for member in schema(name).get("required", ()):
        less = {key: value for key, value in sent.items() if key != member}
        for fewer in (
            less,
            less | stray,
        ):  # code looks at fewer and at more members than are required in different ways
            refused = again(p, exchange, place, fewer)
            assert refused.status == 400, f"{name} without {member}"
            accepted = b""
            with changed(name, optional(member)), suppress(AssertionError):  # what relies on it makes a mistake then
                accepted = again(p, exchange, place, fewer).body
            assert accepted != refused.body, f"{name} without {member}: code refuses it, the schema does not require it"
        yield f"{member} dropped"
    if schema(name).get("additionalProperties") is False:
        more = sent | {NEVER: "x"}
        refused = again(p, exchange, place, more)
        assert refused.status == 400, f"{name} with {NEVER}"
        assert NEVER in refused.body.decode() or "maxProperties" in schema(name)
        yield "a stray member"


def optional(member: str) -> Callable[[Schema], None]:
    return lambda whole: whole.update(required=[each for each in whole["required"] if each != member])


def play_until(story: Any, needed: dict[str, Any], check: Callable[[Player, Exchange], None]) -> None:
    """Play a story whose exchanges are checked; it ends with the first one that `check` ends it with."""
    is_checking = False

    def seen(exchange: Exchange) -> None:
        nonlocal is_checking
        if not is_checking:
            is_checking = True
            check(p, exchange)
            is_checking = False

    with player(seen, **needed) as p, suppress(Ended):
        story(p)


ONE = "/_sim/sandboxes/default"
BY_CODE = [
    ("the calendar decides", "GET", "/v2/balance-statement?date=2026-02-30", None),
    ("the calendar decides", "GET", "/v2/transactions?limit=1&date=2026-11-21%20-%202026-11-01", None),
    ("an amount is written in many ways", "POST", "/v2/low-balance-threshold?amount=0.10", None),
    ("an amount is written in many ways", "POST", "/v2/topup", {"amount": "ten"}),
    ("the state decides: this field has no options", "GET", "/v2/options?product_code=DATA&field_id=plan", None),
    ("ISO 8601 has many forms", "GET", "/v2/balance-webhook/deliveries?from=yesterday", None),
    ("a cursor is opaque", "GET", "/v2/balance-webhook/deliveries?cursor=none", None),
    ("ISO 8601 has many forms", "POST", f"{ONE}/clock/advance", {"to": "tomorrow"}),
    ("the state decides: the clock never goes back", "PUT", f"{ONE}/clock", {"now": "2020-01-01T00:00:00Z"}),
    ("the scenario's own check does, with positions", "POST", f"{ONE}/rules", {"section": "faults", "rule": {}}),
    ("the scenario's own check does, with positions", "POST", f"{ONE}/resellers", {"code": "RS9", "balanc": 1}),
    ("the scenario's own check does, with positions", "PATCH", f"{ONE}/catalog/groups/travel", {"nam": "x"}),
    ("the state decides: which scenarios there are", "POST", "/_sim/sandboxes", {"scenario": "none"}),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as made:
        yield made


@pytest.mark.parametrize(("reason", "method", "target", "sent"), BY_CODE)
def test_code_refuses_the_requests_that_no_schema_can_exclude(
    client: Client, reason: str, method: str, target: str, sent: Any
) -> None:
    if target == "/v2/topup":
        sent = {"refid": "r", "product": "RELOAD", "account": "0123456789"} | sent
    assert reason
    is_control = target.startswith("/_sim")
    response = (
        client.sim(method, target.removeprefix("/_sim"), sent) if is_control else client.call(method, target, sent)
    )
    assert response.status == 400, response.body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"X-Sim-Rule": "no such rule"}, 400),
        ({"X-API-Version": "whenever"}, 200),
        ({"X-Sim-Rule": " "}, 200),
    ],
)
def test_headers_are_judged_by_code(client: Client, headers: dict[str, str], status: int) -> None:
    """Which rules there are is the sandbox's affair, and a version that is no date is ignored."""
    assert client.call("GET", "/v2/balance", headers=headers).status == status
