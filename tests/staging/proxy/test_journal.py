"""The proxy's journal: filtered by what a request has and has not, as HAR, and single requests as commands."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from simulator.contract.openapi import PROXY
from tests.support.broken_receivers import Exchange
from tests.support.contract_responses import response_problems
from tests.support.proxies import Proxied, parts, proxied

SECRET = "hush-hush-hush-hush"


async def replies(exchange: Exchange) -> None:
    """200 for a payment, 404 for the rest."""
    status = "200 OK" if "/v2/topup" in exchange.head[0] else "404 Not Found"
    exchange.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode())


async def send_some(one: Proxied) -> None:
    """A payment, and two requests of other kinds."""
    await one.get("/v2/topup", method="POST", body=b'{"refid":"a1"}')
    await one.get("/v2/balance?b=%20x&a")
    await one.get("/v2/options", method="DELETE")


async def text(one: Proxied, path: str) -> tuple[int, str]:
    """A text of the control API, held against its contract."""
    target = f"/_sim/sandboxes/default{path}"
    answer = await one.raw(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    status, head, body = parts(answer)
    kind = "text/plain" if status == 200 else "application/json"
    assert any(line.lower().startswith(f"content-type: {kind}".encode()) for line in head)
    assert response_problems(PROXY, "GET", target.partition("?")[0], status, kind, body) == []
    return status, body.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [3, 2, 1]),
        ("status_not=200", [3, 2]),
        ("status=200", [1]),
        ("status_min=400", [3, 2]),
        ("status_max=399", [1]),
        ("method_not=GET", [3, 1]),
        ("method_not=GET&method_not=GET&path_not=/v2/topup", [3]),
        ("refid_not=a1", [3, 2]),
        ("trxid_not=T1", [3, 2, 1]),
        ("error_not=unknown", [3, 2, 1]),
        ("path_not=/v2/balance&wait_for=2", [3, 1]),
    ],
)
def test_requests_are_found_by_values_that_they_lack(query: str, found: list[int]) -> None:
    async def main() -> None:
        async with proxied(replies) as one:
            await send_some(one)
            assert [row["n"] for row in (await one.sim(f"/requests?{query}"))["requests"]] == found
            entries = (await one.sim(f"/requests.har?{query.partition('&wait_for')[0]}"))["log"]["entries"]
            assert [entry["_n"] for entry in entries] == found[::-1]

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("status=2xx", "for several use status_min and status_max"),
        ("method=get", "must be a method of HTTP in capitals"),
        ("path=v2/topup", "must be a path that begins with /"),
        ("rule=x", "there is no parameter 'rule'"),
    ],
)
@pytest.mark.parametrize("path", ["/requests", "/requests.har"])
def test_a_filter_with_an_invalid_value_is_refused_with_what_it_must_be(path: str, query: str, said: str) -> None:
    async def main() -> None:
        async with proxied(replies) as one:
            answer: Any = await one.sim(f"{path}?{query}")
            assert said in answer["message"]

    asyncio.run(main())


@pytest.mark.slow
def test_a_har_has_what_was_sent_to_the_proxy_without_secrets() -> None:
    async def main() -> None:
        async with proxied(replies, key="k", secret="aHVzaC1odXNoLWh1c2gtaHVzaA==") as one:
            await send_some(one)
            await one.get("/v2/token?password=" + SECRET, "Authorization: Bearer " + SECRET)
            log = (await one.sim("/requests.har?limit=3"))["log"]
            assert log["comment"] == "Earlier requests are left out; the next page has cursor=2."
            query, _, token = log["entries"]
            assert query["request"]["url"] == "http://127.0.0.1/v2/balance?b=%20x&a"
            assert query["request"]["queryString"] == [{"name": "b", "value": " x"}, {"name": "a", "value": ""}]
            assert (query["response"]["status"], query["response"]["content"]["text"]) == (404, "{}")
            assert SECRET not in json.dumps(token)
            (first,) = (await one.sim("/requests.har?cursor=2"))["log"]["entries"]
            assert first["request"]["postData"]["text"] == '{"refid":"a1"}'

    asyncio.run(main())


@pytest.mark.slow
def test_a_request_is_a_command_that_sends_the_same_to_the_proxy() -> None:
    async def main() -> None:
        async with proxied(replies) as one:
            await send_some(one)
            await one.get("/v2/token", "Authorization: Bearer " + SECRET, method="POST", body=b"{}")
            status, shown = await text(one, "/requests/1.curl")
            assert status == 200
            assert shown.startswith("# Request 1 as it was sent: answered 200.\n")
            assert " -X POST http://127.0.0.1/v2/topup -H " in shown
            assert '{"refid":"a1"}' in shown.splitlines()[-1]
            _, hidden = await text(one, "/requests/4.curl")
            assert "# Fill in the secrets, which are shown as (not shown).\n" in hidden
            assert SECRET not in hidden
            for unknown in ("9", "x", "0"):
                status, said = await text(one, f"/requests/{unknown}.curl")
                assert (status, json.loads(said)["error"]) == (404, "unknown_request")

    asyncio.run(main())


@pytest.mark.slow
def test_a_packed_body_is_unpacked_in_the_command_and_one_that_was_not_kept_is_named() -> None:
    async def main() -> None:
        async with proxied(replies) as one:
            packed, bomb = gzip.compress(b'{"refid":"a1"}'), gzip.compress(b"[" * 5_000_000)
            for body in (packed, bomb):
                await one.get("/v2/topup", "Content-Encoding: gzip", method="POST", body=body)
            await one.sim("/requests?wait_for=2")
            _, shown = await text(one, "/requests/1.curl")
            assert "content-encoding" not in shown
            assert '{"refid":"a1"}' in shown.splitlines()[-1]
            _, missing = await text(one, "/requests/2.curl")
            assert f"# Its body of {len(bomb)} bytes was not kept. Both commands are without it.\n" in missing

    asyncio.run(main())


@pytest.mark.slow
def test_a_har_of_a_masked_query_has_a_url_without_blanks() -> None:
    async def main() -> None:
        async with proxied(replies) as one:
            await one.get("/v2/a%2Fb?q=%ff&token=hush-hush-hush-hush")
            entry = (await one.sim("/requests.har"))["log"]["entries"][0]
            assert entry["request"]["url"].endswith("/v2/a%2Fb?q=%ff&token=(not%20shown)")
            status, command = await text(one, "/requests/1.curl")
            assert (status, SECRET in command) == (200, False)

    asyncio.run(main())


@pytest.mark.slow
def test_a_har_hides_a_secret_in_what_a_call_is_about() -> None:
    async def main() -> None:
        secret = "aHVzaC1odXNoLWh1c2gtaHVzaA=="
        async with proxied(replies, key="k", secret=secret) as one:
            await one.get("/v2/dispute", method="POST", body=json.dumps({"trxid": secret}).encode())
            log = (await one.sim("/requests.har"))["log"]
            assert log["entries"][0]["_trxid"] == "(not shown)"
            assert secret not in json.dumps(log)

    asyncio.run(main())
