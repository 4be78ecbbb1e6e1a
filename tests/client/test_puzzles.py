"""Common puzzles are explained where people meet them."""

import asyncio
import traceback
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
import requests
from freezegun import freeze_time

from reseller_sim import AsyncSandbox, Sandbox, Simulator, SimulatorError
from reseller_sim.pytest_sandbox import sections
from tests.support.both_clients import client_of

ORDER = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}


def test_a_request_to_the_root_address_reaches_the_sandbox_of_its_keys(own: Sandbox) -> None:
    url = urljoin(own.url, "/v2/balance")
    assert "/s/" not in url
    assert requests.get(url, auth=own.auth, timeout=30).status_code == 200
    assert [row["path"] for row in own.requests()] == ["/v2/balance"]


def test_keys_of_the_scenario_are_asked_for(client: Any) -> None:
    with client.sandbox(credentials="scenario") as sandbox:
        assert sandbox.api_key == "test_key_RS001"


def test_the_hint_of_a_test_without_requests_asks_for_the_address(own: Sandbox) -> None:
    ((title, text),) = sections(own)
    assert title == "reseller-sim: requests"
    assert text.startswith(f"none has reached the sandbox: does the code under test use {own.url}?")


def test_the_hint_of_a_test_without_requests_comes_beside_what_the_scenario_schedules(simulator: Simulator) -> None:
    deposit = {"at": "1h", "deposit": {"reseller": "RS001", "amount": "5.00"}}
    with simulator.sandbox({"extends": "default", "schedule": [deposit]}) as sandbox:
        (first, waits), (second, text) = sections(sandbox)
    assert (first, second) == ("reseller-sim: pending", "reseller-sim: requests")
    assert 'call advance("3600s") or' in waits
    assert text.startswith("none has reached the sandbox")


def test_each_expectation_says_what_a_manual_clock_keeps(client: Any) -> None:
    pending = r"the clock is manual and 1 is pending \(order-1 becomes Processing at .*\): call advance\(.2s.\)"
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", ORDER)
        for expect, arguments in (
            (sandbox.expect_status, {"refid": "order-1", "status": "Succesful"}),
            (sandbox.expect_callback, {"refid": "order-1"}),
            (sandbox.expect_balance, {"amount": 1}),
            (sandbox.wait_for_callback, {"refid": "order-1", "timeout_s": 0}),
        ):
            with pytest.raises(AssertionError, match=pending):
                expect(**arguments)


def test_an_advance_without_a_duration_that_does_nothing_warns(client: Any) -> None:
    with client.sandbox() as sandbox:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sandbox.advance()
            sandbox.call("POST", "/v2/topup", ORDER)
            sandbox.advance(0)
        with pytest.warns(RuntimeWarning, match=r"runs what is due now, and nothing is: .* such as advance\(.5s.\)"):
            sandbox.advance()


def test_an_expectation_says_what_a_running_clock_has_not_done_yet(own: Sandbox) -> None:
    own.ask("PUT", "/clock", {"mode": "real"})
    own.call("POST", "/v2/topup", ORDER)
    with pytest.raises(AssertionError, match=r"order-1 is Accepted, not Succesful; 1 is pending \(order-1 becomes"):
        own.expect_status("order-1", "Succesful")


def test_a_callback_that_did_not_come_to_an_unused_inbox_names_the_used_inboxes(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", ORDER)
        with pytest.raises(AssertionError, match="'callback', which no callback uses: they go to inbox:callbacks"):
            sandbox.wait_for_callback("order-1", inbox="callback", timeout_s=0)


@pytest.mark.parametrize(
    ("section", "rule", "said"),
    [
        ("faults", {"path": "/v2/topup", "then": {"status": 500}}, "'path' here: it belongs in 'when'"),
        ("faults", {"when": {}, "status": 500}, "'status' here: it belongs in 'then'"),
        ("payments", {"product": "RELOAD", "then": [{"status": "Failed"}]}, "'product' here: it belongs in 'when'"),
    ],
)
def test_a_misplaced_key_of_a_rule_is_answered_with_the_right_place(
    own: Sandbox, section: str, rule: dict[str, Any], said: str
) -> None:
    with pytest.raises(SimulatorError, match=f"there is no key {said}"):
        own.rule(section, rule)


@pytest.mark.parametrize("below", ["/s/default", "/v2", "/s/default/v2/topup"])
def test_the_address_of_a_sandbox_leads_to_its_simulator(below: str) -> None:
    assert Simulator(f"http://127.0.0.1:1{below}").url == "http://127.0.0.1:1"


def test_a_method_in_small_letters_is_sent_in_capitals(own: Sandbox) -> None:
    assert own.call("get", "/v2/balance").status == 200


def test_a_fault_that_no_request_meets_is_refused(own: Sandbox) -> None:
    with pytest.raises(SimulatorError, match=r"has no path '/v2/topups' \(did you mean '/v2/topup'\?\)"):
        own.fault({"when": {"path": "/v2/topups"}, "then": {"status": 500}})


def test_a_real_wait_under_a_manual_clock_is_a_warning(simulator: Simulator) -> None:
    slow = {"then": {"delay": "30s"}}
    waits = "29 s of real time, although the clock is manual"
    with pytest.warns(RuntimeWarning, match=f"each request waits {waits}") as caught:
        sandbox = simulator.sandbox({"extends": "default", "faults": [{"name": "slow", **slow}]})
    with pytest.warns(RuntimeWarning, match=f"each request waits {waits}") as caught_later:
        sandbox.fault(slow)
    of_inbox = "inboxes.callbacks.replies.*: each message waits 5 s of real time"
    with pytest.warns(RuntimeWarning, match=of_inbox) as caught_of_inbox:
        sandbox.replies("callbacks", [{"delay": 20}])
    assert [found[0].filename for found in (caught, caught_later, caught_of_inbox)] == [__file__] * 3


def test_a_traceback_of_pytest_has_no_frame_of_ours(own: Sandbox) -> None:
    with pytest.raises(SimulatorError) as raised:
        own.fault({"path": "/v2/topup"})
    ours = [entry for entry in raised.traceback if Path(str(entry.path)).parent.name == "reseller_sim"]
    assert ours
    assert all(entry.ishidden(raised) for entry in ours), traceback.format_exception(raised.value)


async def receive_in_this_loop(sandbox: Sandbox, *, blocks: bool) -> dict[str, Any]:
    """Let a deposit be announced to a receiver of this event loop, by a blocking or by an awaited call."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        sandbox.set_callback(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/paid")
        sandbox.call("POST", "/v2/topup", ORDER)
        done: dict[str, Any] = sandbox.advance("2s") if blocks else await AsyncSandbox(sandbox).advance("2s")
    return done


def test_a_blocking_call_names_the_receiver_that_it_keeps_from_answering(simulator: Simulator) -> None:
    scenario = {"extends": "default", "limits": {"callback_timeout": "100ms"}}
    with simulator.sandbox(scenario) as sandbox:
        named = r"http://127\.0\.0\.1:\d+/paid did not answer in time, and this call blocks the event loop of the test"
        with pytest.warns(RuntimeWarning, match=named) as caught:
            done = asyncio.run(receive_in_this_loop(sandbox, blocks=True))
        assert done["warning"] == str(caught[0].message)
        assert caught[0].filename == __file__


def test_an_awaited_call_lets_the_receiver_answer(own: Sandbox) -> None:
    done = asyncio.run(receive_in_this_loop(own, blocks=False))
    assert "warning" not in done
    own.expect_callback("order-1", status="Processing")


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_call_is_signed_at_the_time_of_a_sandbox_that_signs_by_its_own_clock(server: str, kind: str) -> None:
    frozen = {"extends": "default", "clock": {"signature": "sandbox", "start": "2027-01-15T10:00:00Z"}}
    with client_of(kind, server) as client, client.sandbox(frozen) as sandbox:
        assert sandbox.call("GET", "/v2/balance").status == 200
        with freeze_time("2031-01-15 10:00:00"):
            assert sandbox.call("GET", "/v2/balance").status == 200
        sandbox.advance("30d")
        assert sandbox.call("GET", "/v2/balance").status == 200


def test_callbacks_go_where_they_are_sent(own: Sandbox) -> None:
    own.set_callback("inbox:mine", method="GET")
    own.call("POST", "/v2/topup", ORDER)
    own.run_until_idle()
    assert own.wait_for_callback("order-1", inbox="mine", timeout_s=0).method == "GET"
    with pytest.raises(ValueError, match="the service refused 'nowhere' as callback URL: url must be"):
        own.set_callback("nowhere")
