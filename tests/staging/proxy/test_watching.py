"""The proxy's view of traffic: departures, diagnoses, stories, callbacks, and no secret."""

import asyncio
import gzip
import hmac
import json
from base64 import b64encode
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from simulator.contract.openapi import PROXY, bundled
from simulator.staging.proxy.departures import of_callback
from simulator.staging.signed_requests import Credentials, SignedRequest, sign
from tests.support.broken_receivers import OK, Answer, Exchange, says
from tests.support.proxies import Proxied, parts, proxied
from tests.support.wall import START, Wall

KEY, SECRET = "key-of-the-operator", b64encode(b"a secret of thirty-two bytes ....").decode()
NOW = int(START.timestamp())
BALANCE = b'{"data":{"balance":5000,"currency":"MYR"}}'
RESULT = {
    "statusCode": 1,
    "status": "Accepted",
    "account": "0123456789",
    "product": "RELOAD",
    "productName": "Mobile Reload",
    "amount": 10,
    "sn": "",
    "pin": "",
    "expiry": "",
    "cost": 9.75,
    "balance": 4990.25,
    "remarks": "",
    "refid": "a1",
    "timestamp": "2026-11-21 12:00:00",
    "note": "",
    "voucherlink": "",
}
DONE = {**RESULT, "statusCode": 20, "status": "Succesful", "sn": "S1"}
RECORD = {
    "trxid": "T1",
    "date": "2026-11-21 12:00:00.000",
    "refid": "a1",
    "status_code": "20",
    "status_name": "Successful",
}


def answer(body: Any, status: int = 200, *lines: str) -> bytes:
    """An answer in JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f"HTTP/1.1 {status} Any", "Content-Type: application/json", f"Content-Length: {len(data)}", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + data


def by_target(answers: dict[str, bytes]) -> Answer:
    """Each path has its answer, the empty one all others."""

    async def reply(exchange: Exchange) -> None:
        exchange.write(answers.get(exchange.head[0].split(" ")[1].partition("?")[0]) or answers[""])

    return reply


def signed(method: str, target: str, body: bytes = b"", **more: Any) -> SignedRequest:
    return sign(method, "http://proxy", target, body, Credentials(KEY, SECRET), **{"timestamp": NOW, **more})


async def send(one: Proxied, request: SignedRequest, **changed: str) -> bytes:
    lines = [f"{name}: {value}" for name, value in (request.headers | changed).items()]
    target = request.url.removeprefix("http://proxy")
    return await one.get(target, *lines, method=request.method, body=request.body)


async def diagnosis(
    upstream: bytes, request: SignedRequest, changed: dict[str, str] | None = None, *, is_given: bool = True
) -> str:
    key, secret = (KEY, SECRET) if is_given else (None, None)
    async with proxied(says(upstream), wall=Wall(), key=key, secret=secret) as one:
        await send(one, request, **(changed or {}))
        row: dict[str, Any] = (await one.sim("/requests"))["requests"][0]
        return str(row["diagnosis"])


def refused(code: str) -> bytes:
    return answer({"error": code, "message": "No."}, 401)


SIGNED = signed("GET", "/v2/balance")
OTHER = signed("GET", "/v2/balance", nonce="n" * 16).headers["X-Signature"]
ACCEPTED = answer(BALANCE)

DIAGNOSES: list[tuple[str, bytes, dict[str, str], str]] = [
    ("a right one that is accepted", ACCEPTED, {}, ""),
    ("a wrong one", refused("invalid_signature"), {"X-Signature": OTHER}, "no common mistake was found"),
    (
        "a right one that is refused",
        refused("invalid_signature"),
        {},
        "by the contract headers and signature are right",
    ),
    (
        "a wrong one that is accepted",
        ACCEPTED,
        {"X-Signature": OTHER},
        "the service accepted it, though by the contract",
    ),
    ("a late one", refused("timestamp_expired"), {"X-Timestamp": str(NOW - 400)}, "400 s behind the server"),
    ("another code", refused("invalid_signature"), {"X-Nonce": "short"}, "the service says invalid_signature; by the"),
    ("another key", refused("invalid_signature"), {"X-Api-Key": "other"}, "the request has another key than --key"),
    ("no signature", refused("missing_hmac_headers"), {"X-Signature": ""}, "the service says missing_hmac_headers"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("upstream", "changed", "words"), [row[1:] for row in DIAGNOSES], ids=[row[0] for row in DIAGNOSES]
)
def test_a_signature_is_explained(upstream: bytes, changed: dict[str, str], words: str) -> None:
    said = asyncio.run(diagnosis(upstream, SIGNED, changed))
    assert words in said
    assert bool(words) == bool(said)


@pytest.mark.slow
def test_a_known_mistake_of_clients_is_named() -> None:
    raw = hmac.digest(b"a secret of thirty-two bytes ....", SIGNED.canonical.encode(), "sha256")
    said = asyncio.run(diagnosis(refused("invalid_signature"), SIGNED, {"X-Signature": f"v1={raw.hex()}"}))
    assert said == "the signature is hexadecimal; encode the raw digest in Base64"


@pytest.mark.slow
def test_without_the_secret_the_headers_are_explained_alone() -> None:
    late = asyncio.run(diagnosis(refused("timestamp_expired"), SIGNED, {"X-Timestamp": "1"}, is_given=False))
    assert "behind the server's clock" in late
    wrong = asyncio.run(diagnosis(refused("invalid_signature"), SIGNED, is_given=False))
    assert wrong.endswith("only the secret can verify the signature: give --key and --secret")
    assert asyncio.run(diagnosis(ACCEPTED, SIGNED, is_given=False)) == ""


@pytest.mark.slow
def test_a_nonce_that_was_sent_before_is_named() -> None:
    async def main() -> None:
        async with proxied(says(ACCEPTED), wall=Wall(), key=KEY, secret=SECRET) as one:
            await send(one, SIGNED)
            one.upstream._answer = says(refused("nonce_reused"))
            await send(one, SIGNED)
            row = (await one.sim("/requests"))["requests"][0]
            assert row["error"] == "nonce_reused"
            assert row["diagnosis"].startswith("this nonce was sent at 04:00:00.000000 UTC before")

    asyncio.run(main())


DEPARTURES: list[tuple[str, str, bytes, list[tuple[str, str, str]]]] = [
    ("a right answer", "/v2/balance", ACCEPTED, []),
    ("a documented refusal", "/v2/balance", refused("missing_api_key"), []),
    (
        "a status that is not documented",
        "/v2/balance",
        answer({}, 418),
        [("the status", "one that the contract has", "418")],
    ),
    (
        "a path that is not documented",
        "/v2/secret",
        answer({}),
        [("the path", "one that the contract has", "/v2/secret")],
    ),
    ("no JSON", "/v2/balance", answer(b"{"), [("the body", "JSON", "…")]),
    (
        "another type",
        "/v2/topup",
        answer({"data": {**RESULT, "cost": "9.75"}}),
        [("data.cost", "must be a number", "'9.75'")],
    ),
    (
        "a whole amount with a point",
        "/v2/topup",
        answer(json.dumps({"data": RESULT}).replace('"amount": 10', '"amount": 10.0').encode()),
        [("data.amount", "an integer when whole", "10.0")],
    ),
    (
        "a page instead of JSON",
        "/v2/balance",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\nx",
        [("the header Content-Type", "application/json", "text/html")],
    ),
    (
        "an unknown member",
        "/v2/topup",
        answer({"data": {**RESULT, "rating": 5}}),
        [("data.rating", "not in the contract", "present")],
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "upstream", "wanted"), [row[1:] for row in DEPARTURES], ids=[row[0] for row in DEPARTURES]
)
def test_an_answer_is_held_against_the_contract(path: str, upstream: bytes, wanted: list[tuple[str, str, str]]) -> None:
    async def main() -> None:
        async with proxied(says(upstream)) as one:
            method = "POST" if path == "/v2/topup" else "GET"
            await one.get(path, method=method, body=b'{"refid":"a1"}' if method == "POST" else b"")
            found = (await one.sim("/departures"))["departures"]
            assert [(row["field"], row["expected"]) for row in found] == [row[:2] for row in wanted]
            assert all(row[2] in ("…", shown["actual"]) for row, shown in zip(wanted, found, strict=True))
            assert all((row["request"], row["operation"]) == (1, f"{method} {path}") for row in found)
            assert (await one.sim("/requests"))["requests"][0]["departed"] == len(wanted)
            assert len((await one.sim("/requests/1"))["departures"]) == len(wanted)

    asyncio.run(main())


@pytest.mark.slow
def test_a_packed_answer_is_read_within_bounds() -> None:
    async def main() -> None:
        packed, bomb = gzip.compress(b'{"data":{"balance":"many","currency":"MYR"}}'), gzip.compress(b"0" * 20_000_000)
        answers = {"/v2/balance": answer(packed, 200, "Content-Encoding: gzip")}
        answers[""] = answer(bomb, 200, "Content-Encoding: gzip")
        async with proxied(by_target(answers)) as one:
            assert (await one.get("/v2/balance")).endswith(packed)
            assert (await one.get("/bomb")).endswith(bomb)
            newest, first = (await one.sim("/requests?wait_for=2"))["requests"]
            assert "Content-Encoding cannot be undone" in newest["diagnosis"]
            shown = await one.sim(f"/requests/{first['n']}")
            assert shown["response"] | {"headers": 0} == {
                "headers": 0,
                "body": '{"data":{"balance":"many","currency":"MYR"}}',
                "body_bytes": len(packed),
            }
            assert [row["field"] for row in shown["departures"]] == ["data.balance"]

    asyncio.run(main())


@pytest.mark.slow
def test_a_body_that_unpacks_to_too_much_is_not_decoded_on_either_side() -> None:
    async def main() -> None:
        bomb = gzip.compress(b'{"data":[' + b"[]," * 5_000_000 + b"[]]}")
        upstream = {"/v2/balance": answer(bomb, 200, "Content-Encoding: gzip"), "": answer(BALANCE)}
        async with proxied(by_target(upstream)) as one:
            assert (await one.get("/v2/balance")).endswith(bomb)
            await one.get("/v2/topup", "Content-Encoding: gzip", method="POST", body=bomb)
            rows = (await one.sim("/requests?wait_for=2"))["requests"]
            assert ["too large to judge" in row["diagnosis"] for row in rows] == [True, True]
            assert all(not seen.call.answer.startswith(b'{"data":[[') for seen in one.proxy.watcher.log.calls)
            assert all(seen.call.body == b"" for seen in one.proxy.watcher.log.calls)
            answered = {row["path"]: row["departed"] for row in rows}
            assert answered["/v2/balance"] == 0
            assert answered["/v2/topup"] > 0  # the small answer to a large request is judged

    asyncio.run(main())


@pytest.mark.slow
def test_a_message_of_any_size_has_a_few_departures() -> None:
    async def main() -> None:
        rows = answer(b'{"data":[' + b'{"refid":"a","trxid":"b"},' * 20_000 + b"{}]}")
        async with proxied(by_target({"": rows})) as one:
            await one.get("/v2/transactions")
            (row,) = (await one.sim("/requests?wait_for=1"))["requests"]
            assert 0 < row["departed"] <= 50

    asyncio.run(main())


async def call_back(one: Proxied, data: Any, *lines: str, path: str = "", method: str = "POST") -> bytes:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    return await one.get(f"/_sim/callbacks{path}", "Content-Type: application/json", *lines, method=method, body=body)


@pytest.mark.slow
def test_the_proxy_serves_its_own_contract_and_links_it_from_unknown_paths() -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one:
            document = json.loads((await one.get("/_sim/openapi.json")).partition(b"\r\n\r\n")[2])
            assert document == json.loads(json.dumps(bundled(PROXY)))
            for path in ("/_sim", "/_sim/nothing"):
                head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                lost = await one.raw(head.encode())
                assert lost.startswith(b"HTTP/1.1 404")
                assert b"docs/proxy.md has its paths" in lost

    asyncio.run(main())


@pytest.mark.slow
def test_a_payment_has_a_story_of_requests_statuses_and_callbacks() -> None:
    answers = {"/v2/topup": answer({"data": RESULT}), "/v2/transactions": answer({"data": [RECORD], "meta": {}})}

    async def main() -> None:
        async with proxied(by_target(answers), says(OK)) as one:
            await one.get("/v2/topup", method="POST", body=b'{"refid":"a1","product":"RELOAD"}')
            assert (await call_back(one, {"data": DONE})).endswith(b"ok")
            await one.get("/v2/transactions?limit=10&date=2026-11-21")
            story = await one.sim("/transactions/a1")
            assert story == await one.sim("/transactions/T1")
            facts = ("trxid", "refid", "product", "account", "amount", "cost", "status", "status_code")
            assert [story[name] for name in facts] == ["T1", "a1", "RELOAD", "0123456789", 10, 9.75, "Succesful", 20]
            steps = [(each["status"], each["source"], each["n"]) for each in story["statuses"]]
            assert steps == [("Accepted", "answer", 1), ("Succesful", "callback", 1)]
            assert [each["n"] for each in story["requests"]] == [1]
            (called,) = story["callbacks"]
            assert (called["status"], called["payment_status"], called["departures"]) == (200, "Succesful", [])
            assert called["url"] == one.receiver.url
            (row,) = (await one.sim("/transactions?refid=a1"))["transactions"]
            assert row == {name: story[name] for name in row}
            assert (await one.sim("/requests?refid=a1"))["requests"] == story["requests"]
            assert (await one.sim("/transactions?trxid=T2"))["transactions"] == []

    asyncio.run(main())


@pytest.mark.slow
def test_a_payment_without_an_answer_is_in_the_story_too() -> None:
    async def main() -> None:
        async with proxied(says(b"", close=True)) as one:
            await one.get("/v2/topup", method="POST", body=b'{"refid":"lost"}')
            story = await one.sim("/transactions/lost")
            assert (story["status"], story["statuses"]) == ("", [])
            assert story["requests"][0]["error"] == "upstream_broke_off"

    asyncio.run(main())


@pytest.mark.slow
def test_callbacks_arrive_byte_for_byte_and_the_answer_goes_back() -> None:
    async def main() -> None:
        reply = b"HTTP/1.1 599 Mine\r\nX-B: 1\r\nContent-Length: 3\r\n\r\nyes"
        async with proxied(says(OK), says(reply)) as one:
            body = b'{ "data" : 1 }\n'
            got = await call_back(one, body, "X-Source: s", path="/deep/er?x=%7E&y")
            assert got.replace(b"\r\nconnection: close", b"") == reply
            (seen,) = one.receiver.requests
            assert seen.head[0] == "POST /callback/deep/er?x=%7E&y HTTP/1.1"
            assert f"host: 127.0.0.1:{one.receiver.port}" in seen.head
            assert "x-source: s" in seen.head
            assert seen.body == body
            assert one.upstream.requests == []
            (row,) = (await one.sim("/callbacks?kind=callback"))["callbacks"]
            assert (row["status"], row["body"]) == (599, "yes")
            assert row["departures"] != []
            assert {each["callback"] for each in (await one.sim("/departures"))["departures"]} == {1}

    asyncio.run(main())


@pytest.mark.slow
def test_a_callback_by_get_is_read_from_its_query() -> None:
    async def main() -> None:
        message = json.dumps({**DONE, "timestamp": "2026-11-21 12:00:00.000"})
        async with proxied(says(OK), says(OK)) as one:
            await one.get(f"/_sim/callbacks?refid=a1&status=20&price=9.75&message={quote(message)}")
            await one.get("/_sim/callbacks?refid=a2&status=20&price=9.75&message=%7B")
            story = await one.sim("/transactions/a1")
            assert (story["status"], story["callbacks"][0]["departures"]) == ("Succesful", [])
            (row,) = (await one.sim("/callbacks?refid=a2"))["callbacks"]
            assert [each["field"] for each in row["departures"]] == ["message: the body"]

    asyncio.run(main())


TOLD = {**DONE, "timestamp": "2026-11-21 12:00:00.000"}
PARAMETERS = {"refid": "a1", "status": "20", "price": "9.75", "message": json.dumps(TOLD)}
BY_GET: list[tuple[str, dict[str, str | None], list[tuple[str, str, str]]]] = [
    ("a right one", {}, []),
    ("the price with another number of digits", {"price": "9.750"}, []),
    ("no refid", {"refid": None}, [("refid", "a parameter", "absent")]),
    ("no status", {"status": None}, [("status", "a parameter", "absent")]),
    ("no price", {"price": None}, [("price", "a parameter", "absent")]),
    ("no message", {"message": None}, [("message", "a parameter", "absent")]),
    (
        "a time without milliseconds",
        {"message": json.dumps(DONE)},
        [("message: timestamp", "must ", "'2026-11-21 12:00:00'")],
    ),
    (
        "a whole amount with a point",
        {"message": json.dumps({**TOLD, "amount": 10.0})},
        [("message: amount", "an integer when whole", "10.0")],
    ),
]


@pytest.mark.parametrize(("changed", "wanted"), [row[1:] for row in BY_GET], ids=[row[0] for row in BY_GET])
def test_each_parameter_of_a_callback_by_get_is_judged(
    changed: dict[str, str | None], wanted: list[tuple[str, str, str]]
) -> None:
    sent = {name: value for name, value in (PARAMETERS | changed).items() if value is not None}
    found = list(of_callback("GET", urlencode(sent).encode(), b""))
    assert [(one.field, one.actual) for one in found] == [(field, actual) for field, _, actual in wanted]
    assert all(words in one.expected for one, (_, words, _) in zip(found, wanted, strict=True))


def test_a_whole_amount_of_a_callback_by_post_is_an_integer() -> None:
    (found,) = of_callback("POST", b"", json.dumps({"data": {**DONE, "amount": 10.0}}).encode())
    assert found == ("data.amount", "an integer when whole", "10.0", False)
    assert list(of_callback("POST", b"", json.dumps({"data": {**DONE, "amount": 10.5}}).encode())) == []


EVENT_DATA = {"resellerCode": "R", "amount": 1, "balance": 2, "description": "d"}
EVENT = {
    "type": "balance.added",
    "version": "1.0",
    "id": "e1",
    "created_at": "2026-11-21T04:00:00.000Z",
    "data": EVENT_DATA,
}
WEBHOOK_SECRET = "5e" * 32


@pytest.mark.slow
def test_a_webhook_is_verified_with_the_secret_that_went_by() -> None:
    body = json.dumps(EVENT).encode()
    right = hmac.digest(bytes.fromhex(WEBHOOK_SECRET), b"e1.1700000000." + body, "sha256")
    standard = ["webhook-id: e1", "webhook-timestamp: 1700000000"]
    created = answer({"webhook_url": "http://x/", "webhook_secret": WEBHOOK_SECRET})

    async def main() -> None:
        async with proxied(says(created), says(OK)) as one:
            await call_back(one, EVENT, *standard, "webhook-signature: v1,AAAA")
            await one.get("/v2/balance-webhook", method="PUT", body=b'{"url":"http://x/"}')
            await call_back(one, EVENT, *standard, f"webhook-signature: v1,{b64encode(right).decode()}")
            await call_back(one, EVENT, *standard, "webhook-signature: v1,AAAA")
            plain = hmac.digest(WEBHOOK_SECRET.encode(), body, "sha256").hex()
            await call_back(one, EVENT, f"X-Signature: sha256={plain}")
            await call_back(one, EVENT)
            rows = (await one.sim("/callbacks?kind=webhook"))["callbacks"]
            assert [row["signature"] for row in reversed(rows)] == ["unknown", "right", "wrong", "right", ""]
            assert {len(row["departures"]) for row in rows} == {0}

    asyncio.run(main())


GROUP = {"id": "g", "name": "Group", "icon_url": "", "categories": []}
CHANGED = {**EVENT, "type": "group.updated", "data": GROUP}
WEBHOOKS: list[tuple[str, Any, list[str]]] = [
    ("a deposit", EVENT, []),
    ("a deposit without an amount", {**EVENT, "data": {**EVENT_DATA, "amount": "1"}}, ["data"]),
    ("a change of the catalog", CHANGED, []),
    ("a change of the catalog with the data of a deposit", {**CHANGED, "data": EVENT_DATA}, ["data"]),
    ("a deposit with the data of the catalog", {**EVENT, "data": GROUP}, ["data"]),
    ("an event that is not documented", {**EVENT, "type": "balance.removed"}, ["data", "type"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("event", "wanted"), [row[1:] for row in WEBHOOKS], ids=[row[0] for row in WEBHOOKS])
def test_each_kind_of_event_is_held_against_its_own_schema(event: Any, wanted: list[str]) -> None:
    async def main() -> None:
        async with proxied(says(OK), says(OK)) as one:
            await call_back(one, event)
            (row,) = (await one.sim("/callbacks?kind=webhook"))["callbacks"]
            assert sorted({each["field"].partition(".")[0] for each in row["departures"]}) == wanted
            found = (await one.sim("/departures"))["departures"]
            assert len(found) == len(row["departures"])

    asyncio.run(main())


@pytest.mark.slow
def test_no_shown_value_has_a_secret() -> None:
    created = answer({"webhook_url": "http://x/", "webhook_secret": WEBHOOK_SECRET})
    token = "header.bmV2ZXItc2Vlbi1hbnl3aGVyZQ.signature"
    tokens = answer({"AuthenticationResult": {"AccessToken": token, "IdToken": "i." + token}})

    async def main() -> None:
        async with proxied(by_target({"/v2/token": tokens, "": created}), says(OK), key=KEY, secret=SECRET) as one:
            await one.get("/v2/token", method="POST", body=b'{"username":"u","password":"hush-hush-hush"}')
            await one.get("/v2/balance-webhook", method="PUT", body=b'{"url":"http://x/"}')
            await one.get(
                f"/v2/x?a={SECRET}&token={token}", f"Authorization: Bearer {token}", f"X-Mine: {WEBHOOK_SECRET}"
            )
            await one.get(f"/v2/{WEBHOOK_SECRET}", method="POST", body=json.dumps({"refid": SECRET}).encode())
            await call_back(one, {"data": {"refid": token, "hush": "hush-hush-hush"}}, path=f"?s={SECRET}")
            paths = [
                "/requests",
                "/callbacks",
                "/departures",
                "/transactions",
                *(f"/requests/{n}" for n in range(1, 5)),
            ]
            shown = json.dumps([await one.sim(path) for path in paths])
            for secret in (SECRET.rstrip("="), WEBHOOK_SECRET, token, "hush-hush-hush"):
                assert secret not in shown

    asyncio.run(main())


@pytest.mark.slow
def test_without_an_address_callbacks_are_refused_in_a_sentence() -> None:
    async def main() -> None:
        async with proxied(says(OK), has_callbacks=False) as one:
            status, _, body = parts(await call_back(one, {}))
            assert (status, json.loads(body)["error"]) == (404, "no_callbacks")
            assert "--callbacks-to" in json.loads(body)["message"]

    asyncio.run(main())


@pytest.mark.slow
def test_the_client_cannot_choose_where_a_request_goes() -> None:
    async def main() -> None:
        async with proxied(says(OK), says(OK)) as one:
            await one.get("http://elsewhere.invalid/x", "X-Forwarded-Host: elsewhere.invalid")
            await one.get("/_sim/callbacks/http://elsewhere.invalid/x")
            await one.get("/_sim/callbacks//elsewhere.invalid/x")
            assert [each.head[0] for each in one.upstream.requests] == ["GET /x HTTP/1.1"]
            targets = [each.head[0].split(" ")[1] for each in one.receiver.requests]
            assert targets == ["/callback/http://elsewhere.invalid/x", "/callback//elsewhere.invalid/x"]

    asyncio.run(main())


@pytest.mark.slow
def test_lists_are_paged_filtered_and_waited_for() -> None:
    async def main() -> None:
        async with proxied(says(answer({}, 418))) as one:
            for n in range(5):
                await one.get(f"/v2/{n % 2}")
            first = await one.sim("/requests?limit=2&path=/v2/0")
            assert [row["n"] for row in first["requests"]] == [5, 3]
            rest = await one.sim(f"/requests?limit=2&path=/v2/0&cursor={first['cursor']}")
            assert ([row["n"] for row in rest["requests"]], rest["has_more"]) == ([1], False)
            assert (await one.sim("/requests?wait_for=6&timeout=0"))["complete"] is False
            waiting = asyncio.create_task(one.sim("/requests?wait_for=6&status=418"))
            await one.get("/v2/6")
            assert (await waiting)["complete"] is True
            assert len((await one.sim("/departures?request=3"))["departures"]) == 1
            assert len((await one.sim("/departures?operation=GET%20/v2/1"))["departures"]) == 2
            for bad in (
                "/requests?rule=x",
                "/requests?limit=0",
                "/departures?wait_for=x",
                "/transactions/none",
                "/nowhere",
            ):
                assert "error" in await one.sim(bad)

    asyncio.run(main())


@pytest.mark.slow
def test_the_audit_sees_the_stored_requests() -> None:
    async def main() -> None:
        async with proxied(says(ACCEPTED), says(OK)) as one:
            for _ in range(2):
                await one.get("/v2/balance", "X-Api-Key: a", "X-Nonce: once", "X-Timestamp: 1", "X-Signature: v1=b")
            found = await one.sim("/audit")
            assert (found["ok"], found["left_out"]) == (False, 0)
            by_id = {each["id"]: each for each in found["obligations"]}
            assert (by_id["unique-nonces"]["state"], by_id["unique-nonces"]["evidence"]) == ("violated", [1, 2])

    asyncio.run(main())


@pytest.mark.slow
def test_the_control_api_is_guarded_and_callbacks_are_open() -> None:
    async def main() -> None:
        async with proxied(says(OK), says(OK), token="let-me-in") as one:
            path = "/_sim/sandboxes/default/requests"
            assert parts(await one.get(path, "Authorization: Bearer let-me-in"))[0] == 403  # the host is proxy.local
            assert (
                parts(await one.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()))[0]
                == 401
            )
            assert parts(await one.get("/_sim/health"))[0] == 200
            assert parts(await one.get("/_sim/callbacks"))[0] == 200

    asyncio.run(main())


PASSWORDS = [
    ("/v2/token", '{"username":"u","password":"hush-%d"}'),
    ("/v2/token/", '{"username":"u","password":"hush-%d"}'),
    ("/v2/token/", '{"username":"u","passphrase":"hush-%d"}'),
    ("/v2/%%74oken", '{"username":"u","password":"hush-%d"}'),
    ("/v2//token/refresh", '{"refresh_token":"hush-%d"}'),
    ("/v2/topup", '{"extra":{"password":"hush-%d"}}'),
    ("/login", "user=u&password=hush-%d"),
    ("/login", '{"secret":"hush-%d"'),
]


@pytest.mark.slow
def test_a_password_is_shown_nowhere_wherever_it_was_sent() -> None:
    async def main() -> None:
        async with proxied(says(answer(BALANCE))) as one:
            for number, (target, body) in enumerate(PASSWORDS):
                sent = (body % number).encode()
                await one.get(target.replace("%%", "%"), method="POST", body=sent)
            journal = [await one.sim(f"/requests/{n}") for n in range(1, len(PASSWORDS) + 1)]
            for exchange in journal:
                assert "hush" not in exchange["request"]["body"], exchange

    asyncio.run(main())
