"""The autopsy of refused signatures in the journal: its contents, its readers, and the secrets that it hides."""

import asyncio
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.client import Client, Response, running
from tests.support.mistaken_clients import (
    BARE,
    CLIENTS,
    KEY,
    NONCE,
    NOW,
    OLD_SECRET,
    OTHER_KEY,
    OTHER_SECRET,
    POST,
    SECRET,
    Mistaken,
    Request,
    Signer,
    sha256,
)

TOP_UP = Request(query="", body=b'{"refid":"r1","product":"RELOAD","account":"0123456789","amount":10}')


def send(client: Client, request: Request, **steps: Any) -> Response:
    """Send what a client with these steps signs, to the simulator's key and at its time."""
    now = str(int(client.wall().timestamp()))
    own = {"timestamp": lambda: now, "nonce": lambda: NONCE, "key": lambda: b64decode(client.secret)}
    sent = Signer(**{**own, **steps}).sign(request)
    headers = {"X-Api-Key": client.key, "X-Timestamp": now, "X-Nonce": NONCE, "X-Signature": sent}
    return client.send(request.method, request.path, request.query, request.body, headers)


def right_signature(client: Client, request: Request) -> str:
    """Return the signature that would be accepted now, in Base64."""
    now = str(int(client.wall().timestamp()))
    signer = Signer(timestamp=lambda: now, key=lambda: b64decode(client.secret))
    return signer.sign(request).removeprefix("v1=")


def autopsy(client: Client, refused: Response) -> Any:
    return exchange(client, refused)["autopsy"]


def exchange(client: Client, refused: Response) -> Any:
    return client.sim("GET", f"/sandboxes/default/requests/{refused.headers['x-sim-request-id']}").json


_SOME = (
    "method-in-lower-case", "query-not-sorted", "query-with-path", "body-hash-hexadecimal", "body-sorted", "line-feeds",
    "string-in-utf-16", "sha-512", "hash-without-secret", "signature-hexadecimal",
)  # fmt: skip
SOME = [next(one for one in CLIENTS if one.id == id_ and one.request == Request()) for id_ in _SOME]


@pytest.mark.parametrize("mistaken", SOME, ids=[one.id for one in SOME])
def test_the_journal_names_a_mistake(mistaken: Mistaken) -> None:
    with running() as client:
        refused = send(client, replace(TOP_UP, query="note=b%2Fc&account=1"), **mistaken.steps)
        assert refused.status == 401
        assert autopsy(client, refused)["mistakes"] == [mistaken.id]


def test_the_journal_names_two_mistakes_and_shows_where_the_strings_differ() -> None:
    with running() as client:
        refused = send(client, TOP_UP, method=str.lower, encode=bytes.hex)
        assert refused.headers["x-sim-diagnosis"].endswith("is it hexadecimal?")
        found = autopsy(client, refused)
        now = int(client.wall().timestamp())
        assert found == {
            "is_right": False,
            "mistakes": ["method-in-lower-case", "signature-hexadecimal"],
            "sentence": "the method is in lower case, and the signature is hexadecimal",
            "fix": "sign the method in capitals; encode the raw digest in Base64",
            "expected": {
                "canonical_string": f"v1:{now}:{NONCE}:POST::{sha256(TOP_UP.body)}",
                "parts": {
                    "timestamp": str(now),
                    "nonce": NONCE,
                    "method": "POST",
                    "query": "",
                    "body_hash": sha256(TOP_UP.body),
                },
            },
            "nearest": {
                "canonical_string": f"v1:{now}:{NONCE}:post::{sha256(TOP_UP.body)}",
                "differs": ["method", "encoding"],
                "at": len(f"v1:{now}:{NONCE}:"),
            },
            "compared": None,
        }


def test_another_resellers_secret_is_named_in_the_journal_alone() -> None:
    theirs = {"code": "RS777", "api_keys": [{"key": "their_key", "secret": OTHER_SECRET}]}
    with running() as client:
        assert client.sim("POST", "/sandboxes/default/resellers", theirs).status == 201
        refused = send(client, TOP_UP, key=lambda: b64decode(OTHER_SECRET))
        assert refused.headers["x-sim-diagnosis"].startswith("no common mistake was found in a short search")
        assert "RS777" not in refused.headers["x-sim-diagnosis"]
        found = autopsy(client, refused)
        assert found["mistakes"] == ["secret-of-another"]
        assert found["sentence"] == "the secret belongs to the key their_key of RS777"
        assert OTHER_SECRET not in str(found)


def test_a_secret_that_was_replaced_is_recognized() -> None:
    with running() as client:
        log = client.live.core.state.secrets
        log.add(OLD_SECRET)
        log.add(client.secret, replaced=OLD_SECRET)
        refused = send(client, TOP_UP, key=lambda: b64decode(OLD_SECRET))
        assert autopsy(client, refused)["mistakes"] == ["secret-replaced"]


def test_the_nonce_of_the_request_before_is_recognized() -> None:
    with running() as client:
        client.call("GET", "/v2/balance", nonce="the-nonce-of-before")
        refused = send(client, TOP_UP, nonce=lambda: "the-nonce-of-before")
        assert autopsy(client, refused)["mistakes"] == ["nonce-another"]


def test_a_signature_by_an_unknown_secret_is_compared_with_the_expected_string() -> None:
    with running() as client:
        refused = send(client, BARE, key=lambda: b"nobody's")
        found = autopsy(client, refused)
        assert found["mistakes"] == []
        assert found["nearest"] is None
        assert found["sentence"].startswith("no known mistake explains the signature")
        assert found["expected"]["canonical_string"].startswith("v1:")


def test_no_autopsy_has_a_signature_or_a_secret() -> None:
    """The nonce was not spent, so the right signature would be accepted."""
    with running() as client:
        query = f"account=1&token=hunter2hunter2&x={client.secret.rstrip('=')}"
        request = replace(POST, query=query)
        for steps in ({"method": str.lower}, {"hashed": bytes.decode}, {"query": lambda _: "x"}):
            refused = send(client, request, **steps)
            shown = str(exchange(client, refused)["autopsy"])
            assert right_signature(client, request) not in shown
            assert "hunter2" not in shown
            assert client.secret.rstrip("=") not in shown


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("z=1&token=hunter2hunter2", "token=(not shown)&z=1"),
        ("token=hunter2hunter2&flag&a=1", "a=1&token=(not shown)"),
    ],
)
def test_the_expected_string_is_sorted_also_where_the_query_has_a_secret(query: str, expected: str) -> None:
    with running() as client:
        refused = send(client, replace(POST, query=query), query=lambda _: query)
        shown = autopsy(client, refused)
    assert shown["mistakes"] in (["query-not-sorted"], ["query-as-sent"])
    assert shown["expected"]["parts"]["query"] == expected
    assert f":POST:{expected}:" in shown["expected"]["canonical_string"]
    assert "hunter2" not in str(shown)


def test_each_search_takes_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.runtime.background.PLACES", 1)
    with running() as client:
        refused = send(client, TOP_UP, method=str.lower)
        path = f"/sandboxes/default/requests/{refused.headers['x-sim-request-id']}"

        async def ask() -> list[Response]:
            return await asyncio.gather(*(client.asim("GET", f"{path}?string=other{n}") for n in range(20)))

        statuses = [one.status for one in client.run(ask())]
    assert set(statuses) == {200, 429}


def test_only_refused_signatures_have_an_autopsy() -> None:
    with running() as client:
        good, expired = client.call("GET", "/v2/balance"), client.call("GET", "/v2/balance", timestamp=1)
        assert [autopsy(client, one) for one in (good, expired)] == [None, None]


def test_a_body_that_was_not_read_has_no_autopsy() -> None:
    with running() as client:
        refused = send(client, TOP_UP, prefix=lambda text: text)
        assert refused.json["error"] == "invalid_signature_format"
        assert autopsy(client, refused) is None
        assert autopsy(client, send(client, BARE, prefix=lambda text: text))["mistakes"] == ["signature-without-v1"]


# Mistakes that need another address, another request or a rotated key, and refusals before the body is read.
ELSEWHERE = {"nonce-another", "query-is-path", "query-with-path", "query-is-url", "path-in-string", "secret-replaced"}
UNREAD = "invalid_signature_format"


@pytest.mark.slow
def test_the_journal_names_the_mistake_of_every_client() -> None:
    accounts = (("RS001", KEY, SECRET), ("THEM", OTHER_KEY, OTHER_SECRET))
    scenario = {
        "scenario": "every client",
        "extends": "default",
        "clock": {"mode": "manual", "start": datetime.fromtimestamp(NOW, UTC).isoformat(), "signature": "sandbox"},
        "resellers": [{"code": code, "api_keys": [{"key": key, "secret": secret}]} for code, key, secret in accounts],
    }
    named: set[str] = set()
    with running(scenario) as client:
        for one in CLIENTS:
            request = one.request
            headers = {"X-Api-Key": KEY, "X-Timestamp": str(NOW), "X-Nonce": NONCE, "X-Signature": one.sign()}
            refused = client.send(request.method, request.path, request.query, request.body, headers)
            found = exchange(client, refused)
            if found["error"] == UNREAD:
                assert found["autopsy"] is None
                assert found["diagnosis"], one.id
            elif one.id not in ELSEWHERE:
                assert found["autopsy"]["mistakes"] == [one.id]
                named.add(one.id)
    assert len(named) >= 80


def test_a_given_string_is_compared_with_the_expected_one() -> None:
    """The client signs with an unknown mistake; its string shows which."""
    with running() as client:
        now = str(int(client.wall().timestamp()))
        mine = f"v1:{now}:{NONCE}:POST:none:{sha256(TOP_UP.body)}"
        refused = send(client, TOP_UP, join=lambda *_: mine)
        assert autopsy(client, refused)["compared"] is None
        assert "--string" in autopsy(client, refused)["fix"]
        number = refused.headers["x-sim-request-id"]
        found = client.sim("GET", f"/sandboxes/default/requests/{number}?{urlencode({'string': mine})}").json["autopsy"]
        assert found["nearest"] is None
        assert found["compared"] == {
            "canonical_string": mine,
            "is_signed": True,
            "is_expected": False,
            "mistakes": [],
            "sentence": "your string was signed: the query is present, though none was sent",
            "fix": "sign what follows the ? as it is sent, sorted by key; nothing without a ?",
            "pieces": [{"name": "query", "expected": "", "given": "none"}],
            "at": mine.index("none"),
        }
        assert (found["sentence"], found["fix"]) == (found["compared"]["sentence"], found["compared"]["fix"])


def test_a_given_string_that_is_no_text_is_compared_by_its_bytes() -> None:
    with running() as client:
        now = str(int(client.wall().timestamp()))
        mine = f"v1:{now}:{NONCE}:POST:account=Jos\xe9:{sha256(TOP_UP.body)}".encode("latin-1")
        refused = send(client, TOP_UP, join=lambda *_: mine)
        number = refused.headers["x-sim-request-id"]
        found = client.sim("GET", f"/sandboxes/default/requests/{number}?{urlencode({'string': mine})}").json["autopsy"]
        assert found["compared"]["is_signed"]


def test_a_given_string_is_no_way_to_read_a_secret_of_the_query() -> None:
    with running() as client:
        request = replace(POST, query="token=hunter2hunter2")
        refused = send(client, request, key=lambda: b"nobody's")
        number, now = refused.headers["x-sim-request-id"], str(int(client.wall().timestamp()))
        ats = set()
        for guess in ("", "token=h", "token=hunter2", "token=hunter2hunter", "x"):
            mine = f"v1:{now}:{NONCE}:POST:{guess}:{sha256(request.body)}"
            shown = client.sim("GET", f"/sandboxes/default/requests/{number}?{urlencode({'string': mine})}").json
            compared = shown["autopsy"]["compared"]
            assert "hunter2hunter2" not in str(compared)
            ats.add(compared["at"])
        assert len(ats) == 1


@pytest.mark.parametrize("query", ["string=" + "x" * 4001, "strings=x"])
def test_a_string_that_is_too_long_or_misspelt_is_refused(query: str) -> None:
    with running() as client:
        client.call("GET", "/v2/balance")
        refused = client.sim("GET", f"/sandboxes/default/requests/1?{query}")
        assert (refused.status, refused.json["error"]) == (400, "bad_request")
