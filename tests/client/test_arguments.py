"""Values that would mislead a test are refused before anything is sent; the simulator refuses the others."""

from collections.abc import Callable
from datetime import date, datetime
from http.client import HTTPMessage
from pathlib import Path
from typing import Any

import pytest

import reseller_sim
from reseller_sim import AsyncSimulator, HMACAuth, Receiver, Sandbox, Simulator, SimulatorError, verify_webhook
from reseller_sim.control import Control

SECRET = "5f" * 32
DESCRIBED = {"id": "own", "scenario": "default", "seed": 1, "resellers": [{"code": "RS001", "balance": 1}]}
NAIVE = datetime(2027, 1, 1)  # noqa: DTZ001  # what is refused
OWN = Sandbox(Control("http://127.0.0.1:9"), DESCRIBED)
KEY = {"code": "RS001", "balance": 1, "api_key": "key", "api_secret": None}
UNREADABLE = Sandbox(Control("http://127.0.0.1:9"), DESCRIBED | {"resellers": [KEY]})
RUNNING = Simulator("http://127.0.0.1:9")


@pytest.mark.parametrize("refid", ["", None])
@pytest.mark.parametrize("name", ["transaction", "story", "expect_status", "expect_callback"])
def test_an_empty_refid_is_refused(client: Any, name: str, refid: str | None) -> None:
    more = {"status": "Failed"} if name == "expect_status" else {}
    with (
        client.sandbox() as sandbox,
        pytest.raises(ValueError, match=f"refid must have a value, not {refid!r}"),
    ):
        getattr(sandbox, name)(refid, **more)


@pytest.mark.parametrize("name", ["transactions", "requests", "callbacks"])
def test_a_filter_without_a_value_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="refid must have a value, not None"):
        getattr(OWN, name)(refid=None)


def test_an_empty_refid_is_shown_where_no_callback_comes(own: Sandbox) -> None:
    with pytest.raises(AssertionError, match="no callback about '' came to the inbox 'callbacks'"):
        own.wait_for_callback("", timeout_s=0)


def test_an_empty_filter_finds_requests_without_its_subject(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("GET", "/v2/balance")
        sandbox.call("POST", "/v2/topup", {"refid": "order-1"})
        assert [row["n"] for row in sandbox.requests(error_not="")] == [2]
        assert [row["n"] for row in sandbox.requests(refid="")] == [1]
        assert sandbox.requests(path="/v2/nothing") == [], "no request had this path"


@pytest.mark.parametrize("kind", [Simulator, AsyncSimulator])
@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8080",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:8080/?x=1",
        "http://127.0.0.1:8080/#x",
        "http://me:secret@127.0.0.1:8080",
        "http://me:a/secret@127.0.0.1:8080",
        "me:secret@127.0.0.1:8080",
        "http://exa mple:8080",
        "http://127.0.0.1:8080/\xe9",
    ],
)
def test_an_address_that_is_no_url_is_refused(kind: type[Simulator], url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ValueError, match=r"must be an http or https URL such as http://127\.0\.0\.1:8080, without a user"
    ) as raised:
        kind(url)
    assert "secret" not in str(raised.value)
    monkeypatch.setenv("RESELLER_SIM_URL", url or "x")
    with pytest.raises(ValueError, match=r"simulator in RESELLER_SIM_URL must be an http or https URL"):
        kind()


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: OWN.advance("90 sec"), ValueError, "'90 sec' must be a duration such as 250ms, 90s"),
        (lambda: OWN.expect_callback("o", status="Accepted"), ValueError, "one of Processing, Succesful, Failed "),
        (lambda: OWN.wait_for_callback(status="Refund"), ValueError, "one of Processing, Succesful, Failed "),
        (lambda: UNREADABLE.call("GET", "/v2/balance"), LookupError, "or the token may not read"),
        (lambda: OWN.expect_balance("5,000"), ValueError, "amount must be a number such as 10.50, not '5,000'"),
        (lambda: OWN.advance(to=5), TypeError, "a time is a text such as 2027-01-10T23:59:00"),  # type: ignore[arg-type]
        (lambda: RUNNING.sandbox(clock="fast"), ValueError, "clock must be manual, real or a rate such as x60"),
        (lambda: RUNNING.sandbox(clock="fast", tape="none"), ValueError, "clock must be manual, real or a rate"),
        (lambda: OWN.rule("payments", {"when": {1, 2}}), TypeError, "JSON has no set"),
        (lambda: OWN.call("POST", "/v2/topup", {"amount": float("inf")}), ValueError, "not JSON compliant"),
        (lambda: verify_webhook("", {}, b""), ValueError, "a webhook secret is hexadecimal"),
        (lambda: HMACAuth("key", "no Base64"), ValueError, "the secret is not Base64"),
    ],
)
def test_a_value_that_cannot_be_sent_is_refused(call: Callable[[], object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as raised:
        call()
    ours = [entry for entry in raised.traceback if Path(str(entry.path)).parent.name == "reseller_sim"]
    assert ours
    assert all(entry.ishidden(raised) for entry in ours), "pytest shows the line of the test"


def test_a_status_that_http_lacks_is_refused_where_a_reply_is_planned() -> None:
    with Receiver() as receiver:
        for status in (99, 1000):
            with pytest.raises(ValueError, match=f"status must be from 200 to 599, not {status}"):
                receiver.reply(status)


@pytest.mark.parametrize("plan", [{"delay_s": "1s"}, {"delay_s": -1}, {"times": 0}, {"times": 1.5}, {"status": "500"}])
def test_a_reply_that_cannot_be_given_is_refused_where_it_is_planned(plan: dict[str, Any]) -> None:
    (name, value) = next(iter(plan.items()))
    with Receiver() as receiver, pytest.raises(ValueError, match=f"{name} must be from .*, not {value!r}"):
        receiver.reply(**plan)


def test_an_older_server_answers_without_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OWN._control, "ask", lambda *sent, **more: {"id": "added-1"})
    OWN.replies("callbacks", [{"status": 500}])
    assert OWN.fault({"then": {"status": 500}}).id == "added-1"


def test_json_that_contains_itself_is_refused() -> None:
    rule: dict[str, Any] = {}
    rule["when"] = rule
    with pytest.raises(ValueError, match="Circular reference"):
        OWN.rule("payments", rule)


def test_wrong_values_are_refused_by_the_simulator(client: Any) -> None:
    with client.sandbox() as sandbox:
        wrong: list[tuple[Callable[[], object], str]] = [
            (lambda: sandbox.transactions(refId="order-1"), "no parameter 'refId'; did you mean refid"),
            (lambda: sandbox.requests(satus=400), "did you mean status"),
            (lambda: sandbox.callbacks(trx_id="1"), "did you mean trxid"),
            (lambda: sandbox.advance(to=NAIVE), "at to"),
            (lambda: sandbox.advance(to=date(2027, 1, 1)), "at to"),
            (lambda: sandbox.advance([90]), "at seconds"),
            (lambda: sandbox.rule("payment", {}), "at section"),
            (lambda: sandbox.rule("payments", {}), "^'then' is missing"),
            (sandbox.rewind, "^the request must be an object with exactly one of mark, to and n"),
            (sandbox.hold("a b").release, "^name must be 1 to 64 letters"),
            (lambda: sandbox.inbox("a b"), "^an inbox name is 1 to 64 letters"),
            (lambda: sandbox.rule("payments", "then"), "at rule"),
            (lambda: sandbox.replies("callbacks", [500]), "at replies"),
            (lambda: sandbox.deposit("ten"), "at amount"),
        ]
        for ask, said in wrong:
            with pytest.raises(SimulatorError, match=said):
                ask()
    for wanted in ({"credentials": "uniqe"}, {"clock": "x0"}, {"seed": "one"}):
        with pytest.raises(SimulatorError, match=f"at {min(wanted)}"):
            client.sandbox(**wanted)


def test_unknown_resellers_and_scenarios_are_answered_with_known_ones(client: Any) -> None:
    with client.sandbox() as sandbox:
        with pytest.raises(LookupError, match=r"there is no reseller 'RS01': there are RS001"):
            sandbox.balance("RS01")
        with pytest.raises(SimulatorError, match="did you mean RS001"):
            sandbox.transactions(reseller="RS01")
        with pytest.raises(SimulatorError, match="did you mean 'RS001'"):
            sandbox.deposit(1, reseller="RS01")
    with pytest.raises(Exception, match="did you mean 'bad-day'"):
        client.sandbox("bad-dya")


def test_the_headers_of_a_standard_server_are_taken() -> None:
    headers = HTTPMessage()
    headers["webhook-id"] = "1"
    assert "webhook-timestamp" in verify_webhook(SECRET, headers, b"").reason  # type: ignore[arg-type]


def test_a_name_that_the_package_does_not_have_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Recever'"):
        reseller_sim.Recever  # noqa: B018
