"""A snapshot may cut a tape anywhere: the restored sandbox equals a sandbox that played every entry."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from simulator.runtime.lives import SandboxSpec
from simulator.scenario.library import scenario_from_object
from tests.support.client import Client, Response, running
from tests.support.replaying import read_back
from tests.support.snapshots import assert_goes_on
from tests.support.taped_plays import FIRST, PLAYS, SECOND, load, set_callback

SANDBOX = "/sandboxes/default"
TINY: dict[str, Any] = FIRST | {
    "limits": {
        "callbacks": 4, "deliveries": 3, "notifications": 2, "journal": 5, "inbox": 3, "inboxes": 2, "nonces": 6,
        "requests_per_interval": 16,
        "rate_limit_block": "10s",
    },
    "webhooks": {"catalog": {"url": "inbox:catalog"}},
    "expect": [
        {"calls": {"path": "/v2/topup"}, "per": "refid", "count": {"max": 2}, "apart": "2s"},
        {"calls": {"path": "/v2/topup"}, "count": 12},
        {"callbacks": {"status": "Succesful"}, "count": 12},
        {"webhooks": {"type": "balance.added"}, "count": 3},
    ],
}  # fmt: skip


LOADED: dict[str, Any] = SECOND | {
    "limits": {"nonces": 9, "requests_per_interval": 500, "callbacks": 3},
    "network": {"RELOAD": "Interruption"},
    "assume": {"nonce-scope": "reseller", "payment-status-codes": {"Accepted": 7}},
}
MOBILE = "mobile-reload"


def cut(client: Client, sandbox: str = "default", *, shows_secrets: bool = True) -> None:
    """Cut the tape of a sandbox at several places."""
    tape = read_back(client.app, client.app.sandboxes.get(sandbox), shows_secrets=shows_secrets)
    count = len(tape.entries)
    assert assert_goes_on(client.app, tape, {0, 1, count // 5, count // 2, count - 3, count}) > 3


@pytest.mark.slow
@pytest.mark.parametrize("happens", PLAYS)
def test_a_sandbox_resumes_from_a_snapshot_at_any_place(happens: Callable[[Client], None]) -> None:
    with running(FIRST) as client:
        set_callback(client)
        happens(client)
        cut(client)


@pytest.mark.slow
def test_full_logs_webhooks_of_all_kinds_and_expectations_resume() -> None:
    with running(TINY) as client:
        set_callback(client)
        made(client.call("PUT", "/v2/balance-webhook", {"url": "inbox:balance"}))
        made(client.sim("PUT", f"{SANDBOX}/inbox/balance", {"replies": [{"status": 500}, {"status": 200}]}))
        for number in range(12):
            client.pay(f"r{number // 2}", account=f"01234567{number:02}")
            client.advance(1)
            deposit = {"amount": 5, "description": f"d{number}"}
            made(client.sim("POST", f"{SANDBOX}/resellers/RS001/deposits", deposit))
            made(client.sim("PATCH", f"{SANDBOX}/catalog/products/RELOAD", {"is_active": bool(number % 2)}))
            if number == 4:
                made(client.call("POST", "/v2/balance-webhook/rotate-secret"))
            if number == 7:
                made(client.call("DELETE", "/v2/balance-webhook"))
                made(client.call("PUT", "/v2/balance-webhook", {"url": "inbox:other"}))
        assert client.call("GET", "/v2/balance").status == 403, "its address is blocked by now"
        cut(client)
        client.advance()
        state = client.live.core.state
        assert state.callbacks.left_out
        assert state.deliveries.left_out
        cut(client)


@pytest.mark.slow
def test_rules_know_how_often_they_were_selected_by_their_names() -> None:
    rule = {"name": "once", "times": 1, "then": [{"status": "Failed"}]}
    with running(FIRST | {"payments": [rule, rule | {"name": "of each", "per": "account"}]}) as client:
        for number in range(6):
            selected = {"X-Sim-Rule": ("once", "of each")[number % 2]} if number < 4 else {}
            client.pay(f"r{number}", headers=selected, account=f"012345678{number % 2}")
        listed = client.live.core.state.books["payments"].counted_rules()
        found = [(count.chosen, count.selected) for rule, count in listed if rule.name in ("once", "of each")]
        assert found == [(3, 2), (3, 2)]
        cut(client)


@pytest.mark.slow
def test_a_failed_delivery_and_its_replay_share_their_event() -> None:
    with running(FIRST | {"webhooks": {"retry_limit": 0}, "inboxes": {"balance": [{"status": 500}]}}) as client:
        made(client.call("PUT", "/v2/balance-webhook", {"url": "inbox:balance"}))
        made(client.sim("POST", f"{SANDBOX}/resellers/RS001/deposits", {"amount": 5}))
        client.advance()
        failed = next(iter(client.live.core.state.deliveries))
        path = f"/v2/balance-webhook/deliveries/{failed.id}/replay"
        statuses = []
        for _ in range(5):
            statuses.append(client.call("POST", path).status)
            client.advance()
        assert statuses[0] < 300 < statuses[-1], "an event is replayed three times"
        tape = read_back(client.app, client.live, shows_secrets=True)
        assert assert_goes_on(client.app, tape, range(len(tape.entries))) > 5


def made(answer: Response) -> None:
    assert answer.status in (200, 201, 204), answer


def test_callbacks_keep_the_balance_at_their_sending() -> None:
    with running(FIRST | {"assume": {"callback-balance": "at_sending"}}) as client:
        set_callback(client)
        for refid in ("first", "second"):
            client.pay(refid)
        client.advance()
        callbacks = client.live.core.state.callbacks
        assert any(one.result not in one.transaction.results for one in callbacks)
        cut(client)


@pytest.mark.slow
def test_a_loaded_scenario_keeps_older_state() -> None:
    """Rules that were added stay, and timelines, receipts and products of the first one are in what it began."""
    slow = FIRST | {
        "timelines": {"late": [{"status": "Accepted"}, {"after": "1h", "status": "Succesful", "sn": "SN-{digits:4}"}]},
        "payments": [{"name": "slow", "when": {"account": "0123456789"}, "then": "late"}],
    }
    with running(slow) as client:
        set_callback(client)
        client.pay("old")
        rule = {"name": "mine", "then": "late", "times": 3, "when": {"account": "0111111111"}}
        assert client.sim("POST", f"{SANDBOX}/rules", {"section": "payments", "rule": rule}).status == 201
        client.pay("by it", account="0111111111")
        load(client, LOADED)
        client.pay("by it still", account="0111111111")
        client.sim("PATCH", f"{SANDBOX}/catalog/products/RELOAD", {"name": "Other"})
        client.advance(30)
        made(client.sim("PATCH", f"{SANDBOX}/catalog/categories/{MOBILE}", {"name": "Telephones"}))
        client.call("GET", "/v2/networkstatus?product=RELOAD")
        client.pay("new")
        client.advance()
        assert client.live.core.state.transactions
        cut(client)


@pytest.mark.slow
def test_a_sandbox_with_its_own_credentials_and_a_masked_tape_resumes() -> None:
    with running(FIRST) as client:
        spec = SandboxSpec(scenario_from_object(FIRST), "own", unique_credentials=True)
        own = client.app.sandboxes.create(spec)
        key = own.core.state.resellers["RS001"].keys[0]
        client.key, client.secret = key.key, key.secret  # which say what sandbox is meant
        for number in range(4):
            assert client.pay(f"r{number}").status == 200
        assert len(own.core.state.transactions) == 4
        assert client.sim("POST", "/sandboxes/own/resellers/RS001/api-keys").status == 201
        client.secret = "d3Jvbmc="
        assert client.pay("refused").status == 401
        cut(client, "own")
        cut(client, "own", shows_secrets=False)


@pytest.mark.slow
def test_requests_that_wait_end_the_places_for_a_snapshot_only_meanwhile() -> None:
    delays = {"name": "slow", "when": {"path": "/v2/topup"}, "then": {"delay": "30ms"}}
    with running({"faults": [delays]}) as client:

        async def several() -> None:
            payment = {"product": "RELOAD", "account": "0123456789", "amount": 10}
            slow = [asyncio.ensure_future(client.acall("POST", "/v2/topup", payment | {"refid": f"r{one}"}))
                    for one in range(3)]  # fmt: skip
            await asyncio.sleep(0)
            await client.acall("GET", "/v2/balance")
            await asyncio.gather(*slow)

        client.run(several())
        client.call("GET", "/v2/balance")
        tape = read_back(client.app, client.live, shows_secrets=True)
        assert assert_goes_on(client.app, tape, range(len(tape.entries))) < len(tape.entries)
