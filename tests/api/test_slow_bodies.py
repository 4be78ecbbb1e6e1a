"""What is true when a request's body has come counts, not what was true when its head came."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from tests.support.anatomy import anatomy
from tests.support.client import Client, running

PAYMENT = {"refid": "r1", "product": "RELOAD", "account": "0123456789", "amount": "10"}
SIM = "/sandboxes/default/resellers/RS001"
Meanwhile = Callable[[Client], Awaitable[Any]]


def by_key(client: Client) -> dict[str, str]:
    return client.signature("POST", "", json.dumps(PAYMENT).encode())


def by_token(client: Client) -> dict[str, str]:
    user = client.app.scenario.resellers[0].users[0]
    body = json.dumps({"username": user.username, "password": user.password}).encode()
    tokens = client.send("POST", "/v2/token", "", body, {"content-type": "application/json"}).json
    return {"Authorization": f"Bearer {tokens.get('AuthenticationResult', tokens)['IdToken']}"}


async def restricted(client: Client) -> None:
    await client.asim("PATCH", f"{SIM}/settings", {"require_api_key_for_topup": True})
    await client.asim("POST", "/sandboxes/default/clock/advance", {"seconds": 301})


CHANGES: list[tuple[Callable[[Client], dict[str, str]], Meanwhile, int, str]] = [
    (by_key, lambda client: client.asim("DELETE", f"{SIM}/api-keys/test_key_RS001"), 401, "invalid_api_key"),
    (
        by_key,
        lambda client: client.asim("PATCH", f"{SIM}/settings", {"ip_allowlist": ["10.0.0.1"]}),
        403,
        "ip_not_allowed",
    ),
    (by_key, lambda client: client.asim("POST", "/sandboxes/default/reset"), 409, "sandbox_reset"),
    (
        by_token,
        lambda client: client.asim("POST", "/sandboxes/default/clock/advance", {"seconds": 3601}),
        401,
        "invalid_token",
    ),
    (by_token, restricted, 403, "api_key_required"),
]


@pytest.mark.parametrize(("credentials", "meanwhile", "status", "error"), CHANGES)
def test_credentials_and_sandbox_are_checked_again_after_a_slow_body(
    credentials: Callable[[Client], dict[str, str]], meanwhile: Meanwhile, status: int, error: str
) -> None:
    with running() as client:
        headers = credentials(client)
        answer = client.run(
            client.asend("POST", "/v2/topup", "", json.dumps(PAYMENT).encode(), headers, lambda: meanwhile(client))
        )
        assert (answer.status, answer.json["error"]) == (status, error)
        assert not client.live.core.state.transactions


COMMANDS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/resellers/RS001/deposits", {"amount": "5"}),
    ("POST", "/resellers", {"code": "RS009"}),
    ("PATCH", "/resellers/RS001/settings", {"ip_allowlist": []}),
    ("POST", "/clock/advance", {"seconds": 5}),
    ("PUT", "/clock", {"mode": "real"}),
    ("PUT", "/inbox/callbacks", {"replies": [{"status": 500}]}),
    ("PUT", "/network/FP", {"status": "Healthy"}),
    ("POST", "/rules", {"section": "faults", "rule": {"then": {"status": 500}}}),
    ("POST", "/probes", {}),
]


def test_a_payment_in_a_sandbox_that_was_deleted_meanwhile_is_404() -> None:
    with running() as client:
        client.sandbox({"extends": "default", "clock": {"mode": "manual"}}, "mine")
        body = json.dumps(PAYMENT).encode()
        headers = client.signature("POST", "", body)
        deleted = client.asend(
            "POST", "/s/mine/v2/topup", "", body, headers, lambda: client.asim("DELETE", "/sandboxes/mine")
        )
        answer = client.run(deleted)
        assert (answer.status, answer.json["error"]) == (404, "unknown_sandbox")


@pytest.mark.parametrize(("method", "path", "body"), COMMANDS)
def test_a_control_command_does_nothing_in_a_sandbox_that_was_deleted_or_reset_meanwhile(
    method: str, path: str, body: dict[str, Any]
) -> None:
    content, there = json.dumps(body).encode(), f"/_sim/sandboxes/mine{path}"
    for meanwhile, status, error in (
        (("POST", "/sandboxes/mine/reset"), 409, "sandbox_reset"),
        (("DELETE", "/sandboxes/mine"), 404, "unknown_sandbox"),
    ):
        with running() as client:
            live = client.sandbox({"extends": "default", "clock": {"mode": "manual"}}, "mine")
            before = anatomy(live.core.state)
            sent = client.asend(method, there, "", content, {}, partial(client.asim, *meanwhile))
            answer = client.run(sent)
            assert (answer.status, answer.json["error"]) == (status, error)
            assert anatomy(live.core.state) == before


def test_an_inbox_of_a_sandbox_that_was_deleted_or_reset_meanwhile_accepts_nothing() -> None:
    for meanwhile, status, error in (
        (("POST", "/sandboxes/mine/reset"), 409, "sandbox_reset"),
        (("DELETE", "/sandboxes/mine"), 404, "unknown_sandbox"),
    ):
        with running() as client:
            client.sandbox({"extends": "default", "clock": {"mode": "manual"}}, "mine")
            sent = client.asend("POST", "/_sim/inbox/mine/a", "", b"{}", {}, partial(client.asim, *meanwhile))
            answer = client.run(sent)
            assert (answer.status, answer.json["error"]) == (status, error)


@pytest.mark.parametrize("when", [{"path": "/v2/topup"}, {"account": "0123456789"}])
def test_a_sandbox_that_was_reset_during_a_delay_answers_409(when: dict[str, Any]) -> None:
    faults = [{"when": when, "then": {"delay": "100ms"}}]
    with running({"faults": faults, "clock": "x2"}) as client:

        async def reset_meanwhile() -> Any:
            waiting = asyncio.ensure_future(client.acall("POST", "/v2/topup", PAYMENT))
            for _ in range(5):
                await asyncio.sleep(0)
            await client.asim("POST", "/sandboxes/default/reset")
            return await waiting

        answer = client.run(reset_meanwhile())
        assert (answer.status, answer.json["error"]) == (409, "sandbox_reset")
        assert not client.live.core.state.transactions


@pytest.mark.parametrize("then", [{"delay": "100ms"}, {"after_commit": True, "delay": "100ms"}])
def test_a_request_from_before_a_reset_is_not_in_the_journal_of_after_it(then: dict[str, Any]) -> None:
    with running({"faults": [{"when": {"path": "/v2/topup"}, "then": then}], "clock": "x2"}) as client:

        async def reset_meanwhile() -> Any:
            waiting = asyncio.ensure_future(client.acall("POST", "/v2/topup", PAYMENT))
            for _ in range(5):
                await asyncio.sleep(0)
            await client.asim("POST", "/sandboxes/default/reset")
            return await waiting

        answer = client.run(reset_meanwhile())
        assert answer.status == (200 if "after_commit" in then else 409)
        assert client.sim("GET", "/sandboxes/default/requests").json["requests"] == []
        assert client.sim("GET", "/sandboxes/default/coverage").json["summary"]["endpoints"]["met"] == 0


@pytest.mark.parametrize("then", [{"disconnect": True}, {"after_commit": True, "disconnect": True}])
def test_the_journal_shows_that_no_answer_was_sent(then: dict[str, Any]) -> None:
    with running({"faults": [{"when": {"path": "/v2/topup"}, "then": then}]}) as client:
        assert client.pay().status == 0
        [row] = client.sim("GET", "/sandboxes/default/requests?path=/v2/topup").json["requests"]
        assert row["status"] == 0
        assert bool(client.live.core.state.transactions) is ("after_commit" in then)
