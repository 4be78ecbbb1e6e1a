"""Both clients wait until something is held, and release it; a client that leaves frees its place."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sim import Sandbox, Simulator, SimulatorError

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
HELD = {"when": {"path": "/v2/topup"}, "then": {"after_commit": True, "hold": "topup"}}


def test_an_answer_is_held_until_the_test_releases_it(client: Any, simulator: Simulator) -> None:
    with client.sandbox() as sandbox, ThreadPoolExecutor() as threads:
        sandbox.fault(HELD)
        with sandbox.hold("topup") as held:
            assert held.waiting == []
            answer = threads.submit(simulator.open(sandbox.id).call, "POST", "/v2/topup", PAYMENT)
            (found,) = held.wait(1)
            assert (found["name"], found["refid"], sandbox.transaction("order-1")["status"]) == (
                "topup",
                "order-1",
                "Accepted",
            )
            assert not answer.done()
            assert held.release(1) == 1
            assert answer.result().status == 200
            assert held.release() == 0


def test_the_end_of_with_releases_what_is_left(own: Sandbox) -> None:
    own.fault(HELD)
    with ThreadPoolExecutor() as threads:
        with own.hold("topup") as held:
            answer = threads.submit(own.call, "POST", "/v2/topup", PAYMENT)
            held.wait(1)
        assert answer.result().status == 200


def test_a_timed_out_wait_says_how_many_answers_were_held(own: Sandbox) -> None:
    with pytest.raises(AssertionError, match=r"^0 of 2 were held in 'topup' within 0\.01 s$"):
        own.hold("topup").wait(2, timeout_s=0.01)


@pytest.mark.parametrize("leaves_when_held", [True, False])
def test_a_client_that_leaves_frees_its_place(own: Sandbox, leaves_when_held: bool) -> None:
    own.fault({"when": {"path": "/v2/balance"}, "then": {"delay": "50ms", "hold": "balance"}})
    held, parts = own.hold("balance"), urlsplit(own.url)
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        headers = {"Host": parts.netloc, **own.auth.headers("GET", "/v2/balance", b"")}
        lines = [f"GET {parts.path}/v2/balance HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        if leaves_when_held:
            held.wait(1)
    answered = own.ask("GET", "/requests?wait_for=1&timeout=30")
    (row,) = answered["requests"]
    assert row["path"] == "/v2/balance"
    assert row["diagnosis"].endswith("closed its connection during the hold 'balance', so it got no answer")
    assert held.waiting == []


@pytest.mark.parametrize("name", ["a b", ".x", "x" * 65])
def test_a_name_that_no_rule_can_have_is_refused(client: Any, own: Sandbox, name: str) -> None:
    held = client.open(own.id).hold(name)
    for call in (held.release, held.wait):
        with pytest.raises(SimulatorError, match="400 bad_request, at name"):
            call()


def test_as_many_are_waited_for_and_released_as_can_be_held(client: Any, own: Sandbox) -> None:
    held = client.open(own.id).hold("topup")
    for call, wrong in ((held.wait, 101), (held.release, 101), (held.release, 0)):
        with pytest.raises(SimulatorError, match="400"):
            call(wrong)


def test_the_end_of_with_leaves_the_exception_of_the_test(client: Any) -> None:
    sandbox = client.sandbox()

    def end_with(error: Exception) -> None:
        with sandbox.hold("topup"):
            raise error

    sandbox.delete()
    with pytest.raises(ZeroDivisionError):
        end_with(ZeroDivisionError())
    with pytest.raises(SimulatorError, match="there is no sandbox"):
        sandbox.hold("topup").release()
    held = sandbox.hold("topup")
    held.__enter__()
    with pytest.raises(SimulatorError, match="there is no sandbox"):
        held.__exit__(None, None, None)


def test_a_failed_expectation_names_the_hold_of_its_payment(client: Any, simulator: Simulator) -> None:
    steps = [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]
    with client.sandbox() as sandbox, ThreadPoolExecutor() as threads:
        sandbox.fault({"when": {"path": "/v2/topup"}, "then": {"hold": "topup"}})
        sandbox.rule("payments", {"when": {}, "then": steps, "callbacks": {"hold": "told"}})
        with sandbox.hold("topup") as held:
            answer = threads.submit(simulator.open(sandbox.id).call, "POST", "/v2/topup", PAYMENT)
            held.wait(1)
            text = "held until a release: request POST /v2/topup in 'topup'"
            with pytest.raises(AssertionError, match=text):
                sandbox.expect_status("order-1", "Succesful")
            with pytest.raises(AssertionError, match=text):
                sandbox.expect_callback("order-1")
        assert answer.result().status == 200
        sandbox.advance("10s")
        with sandbox.hold("told") as told:
            told.wait(1)
            with pytest.raises(AssertionError, match="held until a release: callback Succesful in 'told'"):
                sandbox.expect_callback("order-1")


def test_the_story_of_a_payment_says_what_was_held_and_until_when(client: Any, simulator: Simulator) -> None:
    steps = [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]
    with client.sandbox() as sandbox, ThreadPoolExecutor() as threads:
        sandbox.fault(HELD)
        sandbox.rule("payments", {"when": {}, "then": steps, "callbacks": {"hold": "told"}})
        with sandbox.hold("topup") as held:
            answer = threads.submit(simulator.open(sandbox.id).call, "POST", "/v2/topup", PAYMENT)
            held.wait(1)
            sandbox.advance("10s")
            sandbox.hold("told").wait(1)
            lines = sandbox.story("order-1").lines
            assert any(line.endswith("POST /v2/topup: held as 'topup'") for line in lines), lines
            assert lines[-1].endswith("callback Succesful to inbox:callbacks: held as 'told'")
        assert answer.result().status == 200
        sandbox.hold("told").release()
        lines = sandbox.story("order-1").lines
        assert any(
            re.search(r"#1 POST /v2/topup → 200, .*: held as 'topup' until \d\d:\d\d:\d\d$", line) for line in lines
        )
