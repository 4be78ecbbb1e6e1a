"""The state at the end of a request's body counts, not the state at its head."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from tests.support.anatomy import anatomy
from tests.support.client import Client, Response, running

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
        assert "x-sim-request-id" not in answer.headers, "its journal is gone"


def test_an_answer_after_its_sandbox_was_replaced_under_the_same_id_names_no_request_of_the_new_sandbox() -> None:
    body = json.dumps(PAYMENT).encode()
    with running() as client:
        client.sandbox({"extends": "default", "clock": {"mode": "manual"}}, "mine")

        async def replaced() -> None:
            await client.asim("DELETE", "/sandboxes/mine")
            await client.asim("POST", "/sandboxes", {"id": "mine", "clock": {"mode": "manual"}})
            await client.acall("GET", "/v2/balance", sandbox="mine")

        answer = client.run(client.acall("POST", "/v2/topup", body, sandbox="mine", before_body=replaced))
        assert (answer.status, "x-sim-request-id" in answer.headers) == (404, False)
        [row] = client.sim("GET", "/sandboxes/mine/requests").json["requests"]
        assert row["path"] == "/v2/balance"


@pytest.mark.parametrize(("method", "path", "body"), COMMANDS)
def test_a_control_command_is_refused_in_a_sandbox_that_was_deleted_or_reset_meanwhile(
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


def test_an_inbox_of_a_sandbox_that_was_deleted_or_reset_meanwhile_accepts_no_message() -> None:
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


LATE: list[tuple[dict[str, Any], int, str]] = [
    ({"delay": "100ms"}, 409, "sandbox_reset"),
    ({"after_commit": True, "delay": "100ms"}, 200, ""),
    ({"after_commit": True, "delay": "100ms", "status": 500}, 500, ""),
    ({"after_commit": True, "delay": "100ms", "disconnect": True}, 0, ""),
]


async def delayed(client: Client, sandbox: str, *meanwhile: tuple[str, str]) -> Any:
    """The answer to a payment that a fault delays, with control requests in the meantime."""
    waiting = asyncio.ensure_future(client.acall("POST", "/v2/topup", PAYMENT, sandbox=sandbox))
    for _ in range(5):
        await asyncio.sleep(0)
    for method, path in meanwhile:
        assert (await client.asim(method, path)).status < 300
    return await waiting


async def until(is_true: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if is_true():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not come")


def scenario_with(then: dict[str, Any]) -> dict[str, Any]:
    return {"extends": "default", "clock": "x2", "faults": [{"when": {"path": "/v2/topup"}, "then": then}]}


@pytest.mark.parametrize(("then", "status", "error"), LATE)
def test_a_request_from_before_a_reset_is_in_the_journal_of_after_it(
    then: dict[str, Any], status: int, error: str
) -> None:
    with running() as client:
        client.sandbox(scenario_with(then), "mine")
        client.run(client.acall("GET", "/v2/balance", sandbox="mine"))
        answer = client.run(delayed(client, "mine", ("POST", "/sandboxes/mine/reset")))
        assert answer.status == status
        client.run(until(lambda: len(client.app.sandboxes.get("mine").journal) > 0))
        [row] = client.sim("GET", "/sandboxes/mine/requests").json["requests"]
        assert (row["n"], row["path"], row["status"], row["error"]) == (1, "/v2/topup", status, error)
        assert row["trxid"] == "", "the transaction is gone, and another may have its id"
        assert "the sandbox was reset" in row["diagnosis"]
        assert answer.headers.get("x-sim-request-id", "1") == "1"
        assert client.sim("GET", "/sandboxes/mine/coverage").json["summary"]["endpoints"]["met"] == 0


def test_the_409_after_a_slow_body_names_a_request_that_can_be_read() -> None:
    with running() as client:
        for _ in range(3):
            client.pay()
        reset = client.acall(
            "POST", "/v2/topup", PAYMENT, before_body=lambda: client.asim("POST", "/sandboxes/default/reset")
        )
        answer = client.run(reset)
        shown = client.sim("GET", f"/sandboxes/default/requests/{answer.headers['x-sim-request-id']}").json
        assert (shown["n"], shown["path"], shown["status"], shown["error"]) == (1, "/v2/topup", 409, "sandbox_reset")
        assert json.loads(shown["request"]["body"]) == PAYMENT
        assert client.sim("GET", "/sandboxes/default/coverage").json["summary"]["endpoints"]["met"] == 0


@pytest.mark.parametrize(("then", "status"), [(then, 404 if status == 409 else status) for then, status, _ in LATE])
def test_a_late_answer_of_a_sandbox_that_was_deleted_names_no_request(then: dict[str, Any], status: int) -> None:
    with running() as client:
        client.sandbox(scenario_with(then), "mine")
        answer = client.run(delayed(client, "mine", ("DELETE", "/sandboxes/mine")))
        assert (answer.status, "x-sim-request-id" in answer.headers) == (status, False)


def test_a_request_that_comes_during_a_reset_can_be_read_after_it() -> None:
    slow = {"inboxes": {"callbacks": [{"status": 200, "delay": "30s"}]}, "clock": "real"}
    with running(slow) as client:

        async def during_a_reset() -> Response:
            await client.acall("POST", "/v2/topup", PAYMENT)
            client.pass_time(600)
            await client.live.process_due()
            assert client.live.driver.is_busy, "a callback is under way"
            resetting = asyncio.ensure_future(client.asim("POST", "/sandboxes/default/reset"))
            await until(lambda: client.live.is_closed)
            answer = await client.acall("GET", "/v2/balance")
            await resetting
            return answer

        answer = client.run(during_a_reset())
        assert (answer.status, answer.json["error"]) == (409, "sandbox_reset")
        [row] = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert (str(row["n"]), row["path"]) == (answer.headers["x-sim-request-id"], "/v2/balance")
        assert client.pay().status == 200


def test_an_unauthenticated_request_from_before_a_reset_counts_nowhere_after_it() -> None:
    with running() as client:
        client.sandbox({"extends": "default", "clock": {"mode": "manual"}}, "own", unique_credentials=True)
        reset = client.acall(
            "POST", "/v2/topup", PAYMENT, before_body=lambda: client.asim("POST", "/sandboxes/default/reset")
        )
        answer = client.run(reset)
        assert (answer.status, answer.headers["x-sim-request-id"]) == (409, "1")
        assert client.sim("GET", "/sandboxes/default/coverage").json["summary"]["endpoints"]["met"] == 0


@pytest.mark.parametrize("then", [{"disconnect": True}, {"after_commit": True, "disconnect": True}])
def test_the_journal_shows_that_no_answer_was_sent(then: dict[str, Any]) -> None:
    with running({"faults": [{"when": {"path": "/v2/topup"}, "then": then}]}) as client:
        assert client.pay().status == 0
        [row] = client.sim("GET", "/sandboxes/default/requests?path=/v2/topup").json["requests"]
        assert row["status"] == 0
        assert bool(client.live.core.state.transactions) is ("after_commit" in then)
