"""Bodies that are not a JSON object, or a strange one: at every endpoint that takes a body."""

import json

import pytest

from tests.support.bad_requests import (
    Operation,
    ask,
    control_operations,
    ids,
    operations,
    said,
)
from tests.support.bad_values import GOOD, NOT_AN_OBJECT
from tests.support.client import Client

BODILY = [one for one in operations() if one.needs_body]
CONTROLLED = [one for one in control_operations() if one.takes_body]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "body"), NOT_AN_OBJECT, ids=ids(NOT_AN_OBJECT))
def test_a_payment_in_no_json_object_is_an_invalid_request(client: Client, what: str, body: bytes) -> None:
    assert said(ask(client, "POST", "/v2/topup", body)) == "400 Invalid_Request"


@pytest.mark.parametrize("one", BODILY, ids=str)
def test_every_endpoint_refuses_a_body_other_than_a_json_object(client: Client, one: Operation) -> None:
    for what, body in NOT_AN_OBJECT:
        answer = ask(client, one.method, one.path, body)
        assert answer.status in ((400, 404) if one.names_nothing else (400,)), (what, answer.body[:300])
    assert ask(client, one.method, one.path).status in (400, 404)


@pytest.mark.slow
@pytest.mark.parametrize("one", CONTROLLED, ids=str)
def test_every_control_path_refuses_a_body_other_than_a_json_object(client: Client, one: Operation) -> None:
    for what, body in NOT_AN_OBJECT:
        answer = ask(client, one.method, one.path, body)
        assert said(answer) == "400 bad_request" or (one.names_nothing and answer.status == 404), what
    if one.needs_body:
        assert ask(client, one.method, one.path).status in ((400, 404) if one.names_nothing else (400,))


STRANGE_OBJECTS: list[tuple[str, bytes]] = [
    ("empty", b"{}"),
    ("an empty key", b'{"": 1}'),
    ("a key of NUL", b'{"\\u0000": 1}'),
    ("a key of 100,000 characters", b'{"' + b"k" * 100_000 + b'": 1}'),
    ("__proto__", b'{"__proto__": {"amount": 1}, "constructor": {"prototype": {}}}'),
    ("__class__", b'{"__class__": "Reseller", "__init__": {}, "self": 1}'),
    ("10,000 keys", b"{" + b",".join(b'"k%d": 1' % number for number in range(10_000)) + b"}"),
    ("30,000 empty arrays", b'{"a": [' + b"[]," * 30_000 + b"1]}"),
    ("20,000 fractions", b'{"a": [' + b"1.5," * 20_000 + b"1]}"),
    ("60,000 levels", b'{"a":' * 60_000 + b"1" + b"}" * 60_000),
    ("1e400", b'{"amount": 1e400}'),
    ("1e-400", b'{"amount": 1e-400}'),
    ("1e999999999", b'{"amount": 1e999999999}'),
    ("operators", b'{"refid": {"$ne": null}, "product": {"$gt": ""}}'),
]


@pytest.mark.slow
@pytest.mark.parametrize("one", BODILY, ids=str)
def test_every_endpoint_refuses_empty_objects(client: Client, one: Operation) -> None:
    for what, body in STRANGE_OBJECTS:
        answer = ask(client, one.method, one.path, body)
        assert answer.status in ((400, 404) if one.names_nothing else (400,)), (what, answer.body[:300])


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in CONTROLLED if one.needs_body], ids=str)
def test_every_control_path_refuses_empty_objects(client: Client, one: Operation) -> None:
    for what, body in STRANGE_OBJECTS:
        if (one.template.rpartition("/")[2], what) in ACCEPTED:
            continue
        answer = said(ask(client, one.method, one.path, body))
        assert answer in ("400 bad_request", "400 bad_scenario"), what


def test_a_control_body_may_have_more_structure_within_a_bound(client: Client) -> None:
    for count, said_of_it in ((100_000, "is not acceptable"), (200_000, "more than 524288 bytes outside its strings")):
        answer = ask(client, "POST", "/_sim/sandboxes/default/rules", b'{"path": [' + b"[]," * count + b"1]}")
        assert said(answer) == "400 bad_request"
        assert said_of_it in answer.json["message"]


ACCEPTED = {("clock", "empty"), ("settings", "empty")}  # every member is optional there


@pytest.mark.parametrize(
    ("what", "body", "expected"),
    [
        ("the same key twice", GOOD[:-1] + ', "amount": "7"}', "400 Invalid_Denomination"),
        ("the same key twice, escaped", GOOD[:-1] + ', "\\u0061mount": "7"}', "400 Invalid_Denomination"),
        ("another key's case", GOOD.replace("refid", "refId"), "400 Invalid_Request"),
        ("a list for an object", GOOD[:-1] + ', "extras": []}', "400 Invalid_Request"),
        ("text for an object", GOOD[:-1] + ', "extras": "{}"}', "400 Invalid_Request"),
        ("null for an amount", GOOD[:-1] + ', "amount": null}', "400 Invalid_Request"),
        ("51 extras", GOOD[:-1] + f', "extras": {json.dumps({str(n): n for n in range(51)})}}}', "400 Invalid_Request"),
        ("extras that are a list", GOOD[:-1] + ', "extras": ["biller_code"]}', "400 Invalid_Request"),
        (
            "64 levels within extras",
            GOOD[:-1] + ', "extras": {"a": ' + "[" * 64 + "]" * 64 + "}}",
            "400 Invalid_Request",
        ),
        ("within data", f'{{"data": {GOOD}}}', "400 Invalid_Request"),
    ],
)
def test_a_payment_in_a_strange_object(client: Client, what: str, body: str, expected: str) -> None:
    assert said(ask(client, "POST", "/v2/topup", body.encode())) == expected


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "\xff",
    ],
)
def test_the_content_type_of_a_payment_does_not_matter(client: Client, content_type: str) -> None:
    answer = ask(client, "POST", "/v2/topup", b"[]", {"Content-Type": content_type})
    assert said(answer) == "400 Invalid_Request"
