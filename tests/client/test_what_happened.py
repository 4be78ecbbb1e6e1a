"""The client shows what happened, waits for callbacks, and says of a failed expectation what happened instead."""

import asyncio
from base64 import b64encode
from hashlib import sha256
from hmac import digest
from typing import Any

import pytest

from reseller_sim import AsyncSimulator, HMACAuth, NotRunning, Sandbox, WrongAnswer
from reseller_sim.exchange import exchange

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}


def test_a_story_has_a_line_for_all_that_happened(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.replies("callbacks", [{"status": 500}, {"status": 200}])
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        story = sandbox.story("order-1")
        said = [line[33:] for line in story.lines[2:]]
        assert story.lines[0] == "order-1: RELOAD 10.00 MYR to 0123456789, Succesful (20)"
        assert story.lines[1] == f"  trxid {story.data['trxid']}, reseller RS001, rule ordinary"
        assert said[:3] == [
            "#1 POST /v2/topup → 200, rule ordinary",
            "status Accepted (1) by creation",
            "wallet -9.75 MYR (TRANSACTION), balance 4990.25 MYR: Mobile Reload 0123456789",
        ]
        assert "callback Processing to inbox:callbacks, attempt 1: answered 500" in said
        assert "callback Succesful to inbox:callbacks, attempt 1: answered 200" in said
        assert (story.status, story.data["refid"], str(story)) == ("Succesful", "order-1", "\n".join(story.lines))


def test_a_story_on_a_manual_clock_lists_each_event_after_its_cause(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.advance("2s")
        sandbox.call("POST", "/v2/topup", PAYMENT)
        said = [line[33:].split(",")[0] for line in sandbox.story("order-1").lines[2:]]
        assert said == [
            "#1 POST /v2/topup → 200",
            "status Accepted (1) by creation",
            "wallet -9.75 MYR (TRANSACTION)",
            "#2 POST /v2/topup → 200",
            "status Processing (2) by step",
            "callback Processing to inbox:callbacks",
            "#3 POST /v2/topup → 200",
        ]


def test_a_callback_that_was_sent_again_is_marked(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        sandbox.ask("POST", f"/transactions/{sandbox.transaction('order-1')['trxid']}/callbacks", {})
        sandbox.advance()
        assert "callback Succesful again to inbox:callbacks, attempt 1: answered 200" in str(sandbox.story("order-1"))


def test_the_story_of_an_unknown_payment_lists_the_existing_payments(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        with pytest.raises(LookupError, match=r"(?s)no payment has the refid 'order-2'.*order-1: RELOAD 10.00 MYR"):
            sandbox.story("order-2")


def test_a_callback_that_came_already_is_found(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        message = sandbox.wait_for_callback("order-1", status="Succesful")
        assert (message.n, message.json()["data"]["refid"], message.data["status"]) == (2, "order-1", "Succesful")
        assert sandbox.wait_for_callback().n == 1
        assert message.headers["content-type"] == "application/json"
        assert message.path == f"/_sim/inbox/{sandbox.id}/callbacks"
        assert not message.signature, "transaction callbacks are not signed"


def test_a_callback_is_awaited(client: Any) -> None:
    with client.sandbox(clock="x1000") as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        message = sandbox.wait_for_callback("order-1", status="Succesful")
        assert message.data["status"] == "Succesful"


def test_a_cancelled_wait_returns_at_once(server: str) -> None:
    async def cancel() -> int:
        async with AsyncSimulator(server).sandbox() as sandbox:
            waiting = asyncio.gather(*[sandbox.wait_for_callback(timeout_s=300) for _ in range(40)])
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(waiting, 0.1)
            return (await sandbox.call("GET", "/v2/balance")).status

    assert asyncio.run(cancel()) == 200


def test_a_callback_by_get_is_found_by_its_query(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/callback-url?method=GET&url=inbox%3Acallbacks")
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        message = sandbox.wait_for_callback("order-1", status="Succesful")
        assert message.method == "GET"


def test_a_callback_that_does_not_come_is_explained(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        with pytest.raises(AssertionError) as failed:
            sandbox.wait_for_callback("order-1", timeout_s=0)
        text = str(failed.value)
        assert text.startswith(
            "no callback about 'order-1' came to the inbox 'callbacks'; the clock is manual and 1 is"
        )
        assert "status Accepted (1) by creation" in text


def test_pages_are_read_to_the_last(client: Any) -> None:
    with client.sandbox() as sandbox:
        for _ in range(30):
            sandbox.call("GET", "/v2/balance")
        assert [one["n"] for one in sandbox.requests(path="/v2/balance")] == list(range(30, 0, -1))


def test_a_limit_among_the_filters_does_not_shorten_the_pages(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with client.sandbox() as sandbox:
        for _ in range(3):
            sandbox.call("GET", "/v2/balance")
        limits, ask = [], sandbox._control.ask

        def counted(*arguments: Any, **named: Any) -> Any:
            if arguments[1].endswith("/requests"):
                limits.append(named["query"]["limit"])
            return ask(*arguments, **named)

        monkeypatch.setattr(sandbox._control, "ask", counted)
        assert [row["n"] for row in sandbox.requests(limit=1)] == [3, 2, 1]
        assert limits == [1000]


def test_met_expectations_print_nothing(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        sandbox.expect_status("order-1", "Succesful")
        sandbox.expect_balance("4990.25")
        sandbox.expect_callback("order-1", status="Processing")
        sandbox.expect_no_refusals()
        sandbox.expect_clean_audit()


WAITING = (
    r"(?s)^order-1 is Accepted, not Succesful; the clock is manual and 1 is pending \(order-1 becomes Processing at "
    r"20[^)]*\): call advance\(.\d+s.\) or run_until_idle\(\) first\n.*#1 POST /v2/topup"
)


def test_another_status_is_shown_with_the_story(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        with pytest.raises(AssertionError, match=WAITING):
            sandbox.expect_status("order-1", "Succesful")


def test_a_missing_payment_is_explained_by_the_refused_request(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", {"refid": "order-1"})
        with pytest.raises(AssertionError, match=r"(?s)no payment has .*refused requests:.*product is required"):
            sandbox.expect_status("order-1", "Succesful")


def test_another_balance_is_shown_with_the_payments(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        with pytest.raises(
            AssertionError,
            match=r"(?s)the balance is 4990.25, not 5000; .*\n.*order-1: RELOAD 10.00 MYR .*-9.75 MYR",
        ):
            sandbox.expect_balance(5000)


def test_a_callback_that_was_not_accepted_does_not_count(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.replies("callbacks", [{"status": 500}])
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        with pytest.raises(AssertionError, match=r"(?s)no callback about 'order-1' was accepted.*answered 500"):
            sandbox.expect_callback("order-1")


def test_the_attempt_that_the_receiver_accepted_is_returned(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.replies("callbacks", [{"status": 500}, {"status": 200}])
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        assert sandbox.expect_callback("order-1", status="Processing")["attempt"] == 2


def test_the_reason_of_a_receiver_comes_before_what_is_pending(client: Any) -> None:
    said = r"was accepted; the latest attempt: order-1: callback Processing to http://.+, attempt 1: .+; the clock"
    with client.sandbox() as sandbox:
        sandbox.set_callback("http://127.0.0.1:9/")
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.advance("2s")
        with pytest.raises(AssertionError, match=said):
            sandbox.expect_callback("order-1")


def test_refusals_are_shown_with_their_diagnosis(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", {"refid": "order-1"})
        assert [one["status"] for one in sandbox.refused()] == [400]
        with pytest.raises(AssertionError, match=r"refused requests:\n  #1 POST /v2/topup → 400, .* is required"):
            sandbox.expect_no_refusals()


def test_a_refused_signature_is_shown_with_what_the_journal_found(client: Any) -> None:
    with client.sandbox() as sandbox:
        headers = HMACAuth(sandbox.api_key, sandbox.api_secret).headers("GET", "/v2/balance")
        signed = f"v1:{headers['X-Timestamp']}:{headers['X-Nonce']}:get::{b64encode(sha256().digest()).decode()}"
        signature = b64encode(digest(sandbox.api_secret.encode(), signed.encode(), "sha256")).decode()
        exchange("GET", f"{sandbox.url}/v2/balance", None, headers | {"X-Signature": f"v1={signature}"}, 10)
        (row,) = sandbox.refused()
        assert row["diagnosis"].startswith("no common mistake was found")
        found = sandbox.ask("GET", "/requests/1")["autopsy"]
        with pytest.raises(AssertionError) as failed:
            sandbox.expect_no_refusals()
        assert len(found["mistakes"]) == 2
        assert f"#1 GET /v2/balance → 401, error invalid_signature: {found['sentence']}; " in str(failed.value)


@pytest.mark.parametrize("lost", [NotRunning("it is gone"), WrongAnswer("it is another")])
def test_a_simulator_that_is_gone_during_an_autopsy_does_not_replace_the_error_of_the_test(
    client: Any, monkeypatch: pytest.MonkeyPatch, lost: NotRunning
) -> None:
    asked, ask = [], Sandbox.ask

    def lose(self: Sandbox, method: str, path: str = "", *args: Any, **more: Any) -> Any:
        if not path.startswith("/requests/"):
            return ask(self, method, path, *args, **more)
        asked.append(path)
        raise lost

    with client.sandbox() as sandbox:
        headers = HMACAuth(sandbox.api_key, sandbox.api_secret).headers("GET", "/v2/balance")
        for _ in range(2):
            exchange("GET", f"{sandbox.url}/v2/balance", None, headers | {"X-Signature": f"v1={'A' * 43}="}, 10)
        monkeypatch.setattr(Sandbox, "ask", lose)
        with pytest.raises(AssertionError, match=r"^refused requests:\n  #1 GET .* 401, .*\n  #2 GET .* 401, "):
            sandbox.expect_no_refusals()
        assert asked == ["/requests/2", "/requests/1"]


def test_violations_are_shown_with_what_to_do(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", {"refid": "order-1"})
        sandbox.call("POST", "/v2/topup", {"refid": "order-1"})
        assert not sandbox.audit()["ok"]
        sandbox.expect_clean_audit()  # that was a warning
        for _ in range(2):
            sandbox.call("POST", "/v2/token", {"username": "nobody", "password": "wrong"})
        with pytest.raises(AssertionError, match=r"(?s)violated.*SPEC .*requests #"):
            sandbox.expect_clean_audit()


def test_callbacks_to_a_closed_port_are_listed_with_their_error(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/callback-url?method=POST&url=http%3A%2F%2F127.0.0.1%3A9%2F")
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.run_until_idle()
        assert {one["ending"] for one in sandbox.callbacks(refid="order-1")} == {"connection"}
        with pytest.raises(AssertionError, match=r"to http://127\.0\.0\.1:9/, attempt 1"):
            sandbox.expect_callback("order-1")


def test_a_status_that_the_service_never_writes_is_refused_at_once(client: Any) -> None:
    hint = r"\(the service writes 'Succesful'\)"
    with client.sandbox() as sandbox:
        with pytest.raises(ValueError, match=rf"status must be one of Accepted, .* {hint}, not 'Successful'$"):
            sandbox.expect_status("order-1", "Successful")
        for expect in (sandbox.expect_callback, sandbox.wait_for_callback):
            with pytest.raises(ValueError, match=rf"status must be one of Processing, .* {hint}, not 'success'$"):
                expect("order-1", status="success")
