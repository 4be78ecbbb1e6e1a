"""A reset, a rewind and a deletion answer the requests that wait for the delay of a fault at once."""

import asyncio
from typing import Any

import pytest

from tests.support.client import Client, Response, running
from tests.support.replaying import assert_replays

PAYMENT = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10}
HOURS = "9h"  # within the time of a test nothing but the end of the life ends it
ENDINGS: dict[str, Any] = {
    "reset": ("POST", "/sandboxes/mine/reset", None),
    "rewound": ("POST", "/sandboxes/mine/rewind", {"n": 0}),
    "deleted": ("DELETE", "/sandboxes/mine", None),
}
BEFORE: dict[str, dict[str, Any]] = {
    "a delay": {"delay": HOURS},
    "an answer instead of the service": {"delay": HOURS, "status": 503},
    "an altered answer": {"delay": HOURS, "headers": {"x-late": "1"}},
}


def scenario(then: dict[str, Any], timeout: str | None = None) -> dict[str, Any]:
    faults = [{"name": "slow", "when": {"path": "/v2/topup"}, "then": then}]
    return {"extends": "default", "faults": faults, "limits": {"integration_timeout": timeout}}


def answered(client: Client, ending: str) -> Response:
    """The answer to a payment that waits when its sandbox ends so."""

    async def meanwhile() -> Response:
        paying = asyncio.ensure_future(client.acall("POST", "/v2/topup", PAYMENT, sandbox="mine"))
        while not client.app.sandboxes.get("mine").tape.waiting_requests():  # noqa: ASYNC110 - a delay rings no bell when it begins
            await asyncio.sleep(0)
        method, path, body = ENDINGS[ending]
        assert (await client.asim(method, path, body)).status in (200, 204)
        return await paying

    return client.run(meanwhile())


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("timeout", [None, "29s"])
@pytest.mark.parametrize("then", BEFORE)
def test_an_operation_that_was_not_carried_out_is_answered_so_at_once(
    ending: str, timeout: str | None, then: str
) -> None:
    with running() as client:
        client.sandbox(scenario(BEFORE[then], timeout), "mine")
        answer = answered(client, ending)
        if ending == "deleted":
            assert (answer.status, answer.json["error"]) == (404, "unknown_sandbox")
            return
        assert (answer.status, answer.json["error"]) == (409, "sandbox_reset")
        assert answer.json["message"] == f"The sandbox was {ending} before this request was carried out."
        (row,) = client.sim("GET", "/sandboxes/mine/requests").json["requests"]
        assert row["error"] == "sandbox_reset"
        assert row["diagnosis"] == f"the sandbox was {ending} during the delay of a fault"
        assert_replays(client.app)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("timeout", "status"), [(None, 200), ("29s", 504)])
def test_an_operation_that_was_carried_out_gets_its_delayed_answer_at_once(
    ending: str, timeout: str | None, status: int
) -> None:
    with running() as client:
        client.sandbox(scenario({"after_commit": True, "delay": HOURS}, timeout), "mine")
        assert answered(client, ending).status == status
        if ending != "deleted":
            (row,) = client.sim("GET", "/sandboxes/mine/requests").json["requests"]
            assert f"the sandbox was {ending} during the delay of a fault" in row["diagnosis"]
            assert row["trxid"] == ""
            assert_replays(client.app)


def test_an_inbox_gives_its_delayed_answer_at_once() -> None:
    with running() as client:
        client.sim("PUT", "/sandboxes/default/inbox/slow", {"replies": [{"status": 202, "delay": 300}]})

        async def meanwhile() -> Response:
            posting = asyncio.ensure_future(client.asim("POST", "/inbox/default/slow", {"a": 1}))
            while not client.live.inboxes.peek("slow").received:  # noqa: ASYNC110 - the same
                await asyncio.sleep(0)
            assert (await client.asim("POST", "/sandboxes/default/reset")).status == 200
            return await posting

        assert client.run(meanwhile()).status == 202


def test_a_fork_and_a_sandbox_after_a_rewind_have_delays() -> None:
    with running() as client:
        client.sandbox(scenario({"delay": HOURS}), "original")
        assert client.sim("POST", "/sandboxes", {"id": "mine", "fork": {"of": "original"}}).status == 201
        assert answered(client, "rewound").status == 409
        assert answered(client, "reset").status == 409
