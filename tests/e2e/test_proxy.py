"""The proxy as a process between a client and a simulator: what passes is what the simulator says, to the byte."""

import asyncio
import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.staging.signed_requests import Credentials, sign
from tests.support.connections import connected
from tests.support.endpoints import ENDPOINTS
from tests.support.processes import Serving, ask, serving
from tests.support.runner import invoke

pytestmark = pytest.mark.slow

SERVE = ("--port", "0", "--json", "--clock", "manual", "--start", "2026-11-21T04:00:00Z", "--seed", "7")
PAYMENT = {"refid": "r1", "product": "RELOAD", "account": "0123456789", "amount": 10}
INBOX = "http://127.0.0.1:{}/_sim/inbox/default/mine"

# The requests of a client, in this order, with queries and bodies in unusual forms.
REQUESTS: list[tuple[str, str, str]] = [
    ("POST", "/v2/token", '{"username": "rs001", "password": "x"}'),
    ("POST", "/v2/token/refresh", '{"refresh_token":"x"}'),
    ("GET", "/v2/catalog", ""),
    ("GET", "/v2/catalog?include_inactive=true&&x", ""),
    ("GET", "/v2/options?product_code=DATA&field_id=plan", ""),
    ("GET", "/v2/options?limit=1&field_id=plan&product_code=D%41TA&page=2", ""),
    ("GET", "/v1/interbank/billers?limit=3", ""),
    ("GET", "/v2/product-list", ""),
    ("GET", "/v2/subproducts?product=DATA", ""),
    ("GET", "/v2/networkstatus?product_code=RELOAD", ""),
    ("GET", "/v2/bill-presentment?product_code=ELECTRIC&account=1", ""),
    ("POST", "/v2/topup", json.dumps(PAYMENT)),
    ("POST", "/v2/topup", " \n" + json.dumps(PAYMENT, indent=3)),
    ("POST", "/v2/topup", '{"refid":"\\u00e9","product":"RELOAD","account":"0123456789","amount":"1e1"}'),
    ("POST", "/v2/transactions/check", '{"refid":"r1","user_email":["a@example.com"]}'),
    ("POST", "/v2/transactions/void", '{"refid":"r1","user_email":[],"refund_type":1}'),
    ("GET", "/v2/transactions?limit=10&date=2026-11-21%20-%202026-11-22&status=PENDING&status=FAILED", ""),
    ("GET", "/v2/balance?", ""),
    ("GET", "/v2/balance?b&a=&c=%7e", ""),
    ("POST", "/v2/low-balance-threshold?amount=5", ""),
    ("GET", "/v2/balance-statement?date=2026-11-21", ""),
    ("GET", "/v2/callback-url", ""),
    ("POST", "/v2/callback-url?url=http%3A%2F%2F127.0.0.1%3A9%2F%3Fa%3Db&method=POST", ""),
    ("GET", "/v2/balance-webhook", ""),
    ("PUT", "/v2/balance-webhook", '{"url":"http://127.0.0.1:9/"}'),
    ("POST", "/v2/balance-webhook/rotate-secret", ""),
    ("PATCH", "/v2/balance-webhook/enabled", '{"enabled":false}'),
    ("GET", "/v2/balance-webhook/deliveries?limit=2", ""),
    ("GET", "/v2/balance-webhook/deliveries/none", ""),
    ("POST", "/v2/balance-webhook/deliveries/none/replay", ""),
    ("POST", "/v2/balance-webhook/deliveries/replay-bulk", '{"job_ids":["none"]}'),
    ("DELETE", "/v2/balance-webhook", ""),
    ("HEAD", "/v2/balance", ""),
    ("GET", "/no/such%20path/../x", ""),
    ("GET", "/", ""),
    ("POST", "/v2/topup", "{"),
]


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Serving, Serving, Serving]]:
    """Two simulators that do the same, and a proxy in front of the second."""
    with serving(*SERVE) as direct, serving(*SERVE) as behind:
        flags = ("--upstream", behind.ready["url"], "--callbacks-to", f"{behind.ready['url']}/_sim/inbox/default/mine")
        held = behind.ready["resellers"][0]
        key = {"RESELLER_SIM_KEY": held["api_key"], "RESELLER_SIM_SECRET": held["api_secret"]}
        with serving(*flags, "--port", "0", "--json", verb="proxy", **key) as proxy:
            yield direct, behind, proxy


def port_of(server: Serving) -> int:
    return int(server.ready["url"].rpartition(":")[2])


async def said(port: int, request: bytes) -> bytes:
    """All that is answered, but for the time of day and for the end of the connection."""
    async with asyncio.timeout(60), connected(port) as (reader, writer):
        writer.write(request)
        answer = await reader.read()
    return re.sub(rb"(?m)^(?:date: .*|connection: close)\r\n", b"", answer)


def written(number: int, method: str, target: str, body: str, held: dict[str, Any]) -> bytes:
    """A signed request, its header names in odd capitals and its fields in another order each time."""
    credentials = Credentials(held["api_key"], held["api_secret"])
    signed = sign(method, "http://x", target, body.encode(), credentials, None, f"nonce-number-{number:04}")
    fields = [(name.swapcase() if number % 2 else name, value) for name, value in signed.headers.items()]
    fields = fields[number % 4 :] + fields[: number % 4]
    length = [("content-LENGTH", str(len(body)))] if body else []
    lines = [f"{name}: {value}" for name, value in [("HOST", "x"), *fields, *length, ("connection", "close")]]
    return f"{method} {target} HTTP/1.1\r\n".encode() + "\r\n".join(lines).encode() + b"\r\n\r\n" + body.encode()


def test_every_endpoint_is_asked() -> None:
    asked = {(method, target.partition("?")[0].replace("/none", "/{jobId}")) for method, target, _ in REQUESTS}
    assert set(ENDPOINTS) - asked == set()


def test_through_the_proxy_come_the_bytes_that_come_without_it(pair: tuple[Serving, Serving, Serving]) -> None:
    direct, _, proxy = pair
    held = direct.ready["resellers"][0]
    for number, (method, target, body) in enumerate(REQUESTS):
        request = written(number, method, target, body, held)
        expected = asyncio.run(said(port_of(direct), request))
        assert asyncio.run(said(port_of(proxy), request)) == expected, (method, target)
    control = f"{proxy.ready['control_url']}/sandboxes/default"
    journal = ask(f"{control}/requests?limit=1000").json["requests"]
    assert len(journal) == len(REQUESTS)
    assert [row["diagnosis"] for row in journal if row["diagnosis"]] == []
    departures = ask(f"{control}/departures?limit=1000").json["departures"]
    assert [(row["operation"], row["field"]) for row in departures] == []


def test_callbacks_pass_through_the_proxy_and_are_in_the_story(pair: tuple[Serving, Serving, Serving]) -> None:
    _, behind, proxy = pair
    held, address = behind.ready["resellers"][0], proxy.ready["callbacks_url"]
    assert address == proxy.ready["url"] + "/_sim/callbacks"
    for number, method in enumerate(("POST", "GET"), 900):
        target = f"/v2/callback-url?url={address}/mine%3Fa%3Db&method={method}"
        assert asyncio.run(said(port_of(proxy), written(number, "POST", target, "", held))).startswith(b"HTTP/1.1 200")
        payment = json.dumps({**PAYMENT, "refid": method})
        asyncio.run(said(port_of(proxy), written(number + 10, "POST", "/v2/topup", payment, held)))
        ask(f"{behind.ready['url']}/_sim/sandboxes/default/clock/advance", "POST", b'{"until":"idle"}')
        story = ask(f"{proxy.ready['control_url']}/sandboxes/default/transactions/{method}").json
        assert story["status"] == "Succesful"
        assert {each["source"] for each in story["statuses"]} == {"answer", "callback"}
        assert {each["status"] for each in story["callbacks"]} == {404}, "the inbox has no address below it"
        assert [each["departures"] for each in story["callbacks"]] == [[]] * len(story["callbacks"])
        sent = ask(f"{behind.ready['url']}/_sim/sandboxes/default/callbacks?refid={method}").json["callbacks"]
        assert [each["status"] for each in sent] == [404] * len(story["callbacks"])


def test_the_contract_suite_finds_through_the_proxy_what_it_finds_without_it() -> None:
    with serving("--port", "0", "--json") as staging:
        flags = ("--upstream", staging.ready["url"], "--port", "0", "--json")
        with serving(*flags, verb="proxy") as proxy:
            found = invoke("conform", "--base-url", proxy.ready["url"], "--rate", "1000")
            assert found.exit_code == 0, found.stdout
            assert ", 0 departed," in found.stdout
            departures = ask(f"{proxy.ready['control_url']}/sandboxes/default/departures").json["departures"]
            assert departures == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly(number: int) -> None:
    with serving("--upstream", "http://127.0.0.1:9", "--port", "0", verb="proxy") as proxy:
        banner = "".join(proxy.out.readline() for _ in range(4))
        assert proxy.stop(number) == (0, "", "")
    assert "upstream    http://127.0.0.1:9\n" in banner
    assert "callbacks   not passed on; --callbacks-to says where to\n" in banner
    assert "/_sim\n" in banner


ACCOUNTS = ("0123456789", "0120000001", "0120000002", "0120000003")
STAGING = """\
extends: default
payments:
  - { when: { account: "0120000001" }, then: [{ status: Processing }, { after: 3s, status: Failed, statusCode: 48 }] }
  - { when: { account: "0120000002" }, then: [{ status: Accepted }, { after: 9s, status: Failed }] }
  - { when: { account: "0120000003" }, then: { refuse: Invalid_Account } }
"""


def outcomes(asked: str, simulator: str, held: dict[str, Any], number: int) -> list[tuple[Any, Any, Any]]:
    """Return the outcome of a payment to each account, queried at an address while the time of the simulator passes."""
    found = []
    port = int(asked.rpartition(":")[2])
    for advance in ({"by": "1s"}, {"until": "idle"}, {"by": "1s"}):
        for account in ACCOUNTS:
            payment = json.dumps({**PAYMENT, "refid": f"r{account}", "account": account})
            number += 1
            answer = asyncio.run(said(port, written(number, "POST", "/v2/topup", payment, held)))
            found.append(
                (account, re.findall(rb'"status":"(\w+)"', answer), re.findall(rb'"statusCode":(\d+)', answer))
            )
        ask(f"{simulator}/_sim/sandboxes/default/clock/advance", "POST", json.dumps(advance).encode())
    return found


@pytest.mark.parametrize("flag", ["--record-accounts", "--no-record-accounts"])
def test_a_recording_passes_the_check_and_plays_again(flag: str, tmp_path: Path) -> None:
    """The client's password is a word of the scenario's own, which is not hidden there."""
    staging, seen = tmp_path / "staging.yaml", tmp_path / "seen.yaml"
    staging.write_text(STAGING)
    with serving(str(staging), *SERVE) as behind:
        held, url = behind.ready["resellers"][0], behind.ready["url"]
        flags = ("--upstream", url, "--port", "0", "--json", "--record", str(seen), flag)
        with serving(*flags, verb="proxy") as proxy:
            for number, word in enumerate(("resellers", "Succesful", "callbacks"), 1):
                login = json.dumps({"username": "rs001", "password": word})
                asyncio.run(said(port_of(proxy), written(number, "POST", "/v2/token", login, held)))
            asyncio.run(said(port_of(proxy), written(10, "GET", "/v2/catalog", "", held)))
            happened = outcomes(proxy.ready["url"], url, held, 20)
            assert proxy.stop(signal.SIGINT) == (0, "", "")
    assert b"Failed" in b"".join(name for _, names, _ in happened for name in names)
    assert invoke("check", str(seen)).stdout == f"{seen}: ok\n"
    assert ("0120000001" in seen.read_text()) == (flag == "--record-accounts")
    with serving(str(seen), *SERVE) as again:
        assert outcomes(again.ready["url"], again.ready["url"], again.ready["resellers"][0], 50) == happened
