"""Every public function refuses what it does not take, and says what was wrong and what is wanted."""

# mypy: disable-error-code="arg-type, call-arg, dict-item, list-item, misc, no-untyped-call, typeddict-item"
# All of this is wrong on purpose.

import asyncio
import inspect
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any, get_args

import pytest

from reseller_sim import (
    AsyncSandbox,
    AsyncSimulator,
    HMACAuth,
    Message,
    Receiver,
    Sandbox,
    Simulator,
    SimulatorError,
    verify_webhook,
)
from reseller_sim.control import Control
from reseller_sim.signatures import HMACAuth as Signer

SECRET = "5f" * 32
DESCRIBED = {"id": "own", "scenario": "default", "seed": 1, "resellers": [{"code": "RS001", "balance": 1}]}
NAIVE = datetime(2027, 1, 1)  # noqa: DTZ001  # what is refused
NOBODY = Simulator("http://127.0.0.1:9")
OWN = Sandbox(Control("http://127.0.0.1:9"), DESCRIBED)
OF_THE_HOUSE = {"Sandbox", "Message"}  # users do not create them
DOORS = [Simulator, Sandbox, Receiver, Message, HMACAuth]


def functions() -> Iterator[Any]:
    """Every public function of the package, unbound."""
    for kind in DOORS:
        for name, member in inspect.getmembers_static(kind):
            function = member.__func__ if isinstance(member, classmethod) else member
            is_made = name == "__init__" and kind.__name__ not in OF_THE_HOUSE
            if inspect.isfunction(function) and (is_made or not name.startswith("_")):
                yield pytest.param(function, id=f"{kind.__name__}.{name}")
    yield pytest.param(verify_webhook, id="verify_webhook")


OF_PYTHON = {"Message.json"}  # which take nothing, as Python itself says
FUNCTIONS = [one for one in functions() if one.id not in OF_PYTHON]
FILTERS = ("transactions", "requests", "callbacks")  # whose names the simulator knows


def parameters() -> Iterator[Any]:
    for row in FUNCTIONS:
        (function,) = row.values
        for one in inspect.signature(function).parameters.values():
            if one.name not in ("self", "cls") and one.annotation is not Any and one.kind is not one.VAR_KEYWORD:
                yield pytest.param(function, one, id=f"{row.id}-{one.name}")


def receiver_of(function: Any) -> tuple[Any, ...]:
    return (object(),) if next(iter(inspect.signature(function).parameters), "") in ("self", "cls") else ()


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if not one.id.endswith(FILTERS)])
def test_an_unknown_name_is_refused_with_the_nearest_name(function: Any) -> None:
    with pytest.raises(TypeError, match=r"has no argument 'colour': (did you mean|there are|it takes none)"):
        function(*receiver_of(function), colour=1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_more_values_than_there_are_parameters_are_refused(function: Any) -> None:
    with pytest.raises(TypeError, match="too many positional arguments"):
        function(*receiver_of(function), *[None] * 9)


@pytest.mark.parametrize(("function", "parameter"), list(parameters()))
@pytest.mark.parametrize("value", [object(), b"\xff", [None], {5: 5}, True, {1}, date(2027, 1, 1), OWN, float("nan")])
def test_a_value_of_another_kind_is_refused(function: Any, parameter: inspect.Parameter, value: object) -> None:
    if (value is True and parameter.annotation is bool) or (
        value == b"\xff" and bytes in get_args(parameter.annotation)
    ):
        pytest.skip("it is of this kind")
    others = {
        one.name: one.default if one.default is not one.empty else _example(one.name)
        for one in inspect.signature(function).parameters.values()
        if one.name not in ("self", "cls") and one.kind is not one.VAR_KEYWORD
    }
    with pytest.raises((TypeError, ValueError), match=rf"\(\): {parameter.name} must be .+, not "):
        function(*receiver_of(function), **others | {parameter.name: value})


def _example(name: str) -> object:
    examples: dict[str, object] = {
        "method": "GET", "path": "/v2/balance", "section": "payments", "rule": {}, "amount": "1", "status": "Failed",
        "replies": [], "headers": {}, "body": b"", "secret": SECRET, "api_secret": "c2VjcmV0", "request": None,
    }  # fmt: skip
    return examples.get(name, "x")


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: OWN.transactions(refid=["order-1"]), TypeError, r"refid must be text .*, not \['order-1'\] \(list\)"),
    (lambda: OWN.transactions("order-1"), TypeError, "too many positional arguments"),
    (lambda: OWN.requests(status=[400]), TypeError, "status must be text that is not empty or int"),
    (lambda: OWN.story(None), TypeError, r"^story\(\): refid must be text that is not empty, not None"),
    (lambda: OWN.story(), TypeError, r"^story\(\): missing a required argument: \'refid\'"),
    (lambda: OWN.transaction(""), ValueError, "refid must be text that is not empty, not ''"),
    (lambda: OWN.expect_balance({}), TypeError, r"amount must be an amount such as '25\.00', not \{\} \(dict\)"),
    (lambda: OWN.expect_balance("ten"), ValueError, r"amount must be an amount such as '25\.00', not 'ten'"),
    (lambda: OWN.expect_balance("NaN"), ValueError, "amount must be"),
    (lambda: OWN.deposit(True), TypeError, "amount must be"),
    (lambda: OWN.inbox(None), TypeError, "name must be text"),
    (lambda: OWN.wait_for_callback("order-1", timeout_s=-1), ValueError, "timeout_s must be seconds from 0 to 86400"),
    (lambda: OWN.wait_for_callback("order-1", timeout_s="1s"), TypeError, "timeout_s must be seconds"),
    (lambda: OWN.wait_for_callback("order-1", "Failed"), TypeError, "its arguments are refid, status, inbox"),
    (lambda: OWN.expect_status("order-1", "Successful"), ValueError, "did you mean 'Succesful'"),
    (lambda: OWN.expect_callback("order-1", status="Accepted"), ValueError, "must be one of Processing, Succesful"),
    (lambda: NOBODY.sandbox(extends="x"), TypeError, 'own keys go into scenario={"extends": …}$'),
    (lambda: OWN.advance("1s", too="x"), TypeError, "did you mean 'to'|there are by, to"),
    (lambda: OWN.advance([90]), TypeError, "by must be str or int or float or datetime.timedelta or None, not"),
    (lambda: OWN.advance("90 sec"), ValueError, "'90 sec' must be a duration such as 250ms, 90s"),
    (lambda: OWN.advance(float("nan")), TypeError, "by must be str or int"),
    (lambda: OWN.advance(to=date(2027, 1, 1)), TypeError, "to must be"),
    (lambda: OWN.rule("payment", {}), ValueError, "did you mean 'payments'"),
    (lambda: OWN.rule("payments", "then"), TypeError, r"rule must be Mapping\[str, Any\]"),
    (lambda: OWN.rule("payments", {1: 2}), TypeError, r"rule must be Mapping\[str, Any\]"),
    (lambda: OWN.rule("payments", {"when": {1, 2}}), TypeError, "JSON has no set"),
    (lambda: OWN.call("POST", "/v2/topup", {"amount": float("inf")}), ValueError, "not JSON compliant"),
    (lambda: OWN.replies("callbacks", {"status": 500}), TypeError, r"replies must be Sequence\[Mapping\[str, Any\]\]"),
    (lambda: OWN.replies("callbacks", [500]), TypeError, r"replies must be Sequence\[Mapping\[str, Any\]\]"),
    (lambda: OWN.ask("GET", "clock"), ValueError, "path must be a path such as /v2/balance"),
    (lambda: OWN.ask("GET", query={"refid": ["order-1"]}), TypeError, r"query must be Mapping\[str, str \| int"),
    (lambda: OWN.ask("GET", query={"refid": {}}), TypeError, r"query must be Mapping\[str, str \| int"),
    (lambda: OWN.fork(n="1"), TypeError, "n must be int or None"),
    (lambda: Simulator(5), TypeError, r"Simulator\(\): url must be an http or https URL"),
    (lambda: Simulator(""), ValueError, "url must be an http or https URL"),
    (lambda: Simulator("127.0.0.1:8080"), ValueError, "url must be an http or https URL"),
    (lambda: Simulator("http://127.0.0.1:99999"), ValueError, "url must be an http or https URL"),
    (lambda: Simulator("http://127.0.0.1:8080/?x=1"), ValueError, "url must be an http or https URL"),
    (lambda: Simulator("http://127.0.0.1:8080/#x"), ValueError, "url must be an http or https URL"),
    (lambda: Simulator("http://me:secret@127.0.0.1:8080"), ValueError, "without a user, a query and a fragment"),
    (lambda: Simulator("http://exa mple:8080"), ValueError, "url must be an http or https URL"),
    (lambda: Simulator("http://127.0.0.1:8080/\xe9"), ValueError, "url must be an http or https URL"),
    (lambda: AsyncSandbox(None), TypeError, r"AsyncSandbox\(\): sync must be Sandbox, not None"),
    (lambda: AsyncSandbox(NOBODY), TypeError, r"AsyncSandbox\(\): sync must be Sandbox"),
    (lambda: NOBODY.sandbox(scenarioo="default"), TypeError, "did you mean 'scenario'"),
    (lambda: NOBODY.sandbox(5), TypeError, "scenario must be a bundled scenario's name, a file, YAML"),
    (lambda: NOBODY.sandbox(clock="manul"), ValueError, "did you mean 'manual'"),
    (lambda: NOBODY.sandbox(audit="no"), TypeError, "audit must be bool, not 'no'"),
    (lambda: NOBODY.sandbox(seed=1.0), TypeError, "seed must be int or None"),
    (lambda: Simulator.start(scenarioo="x"), TypeError, "did you mean 'scenario'"),
    (lambda: Simulator.start(arguments="--port 1"), TypeError, r"arguments must be Sequence\[str\]"),
    (lambda: HMACAuth(None, "c2VjcmV0"), TypeError, r"HMACAuth\(\): api_key must be"),
    (lambda: HMACAuth("", "c2VjcmV0"), ValueError, "api_key must be text that is not empty"),
    (lambda: HMACAuth("key"), TypeError, r"HMACAuth\(\): missing a required argument: \'api_secret\'"),
    (lambda: Signer("key", "c2VjcmV0").headers("GET", "/v2/balance", {"a": 1}), TypeError, "body must be"),
    (lambda: verify_webhook(SECRET, {}, "body"), TypeError, "body must be bytes"),
    (lambda: verify_webhook(SECRET, {b"webhook-id": b"1"}, b""), TypeError, r"Mapping\[str, str\]"),
    (lambda: verify_webhook("", {}, b""), ValueError, "a webhook secret is hexadecimal"),
    (lambda: verify_webhook(SECRET, {}, b"", now=NAIVE), TypeError, "now must be float or None"),
    (lambda: Receiver(secret=5), TypeError, r"Receiver\(\): secret must be str or None"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "said"), WRONG)
def test_common_mistakes_are_refused_with_the_right_spelling(
    call: Callable[[], object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        ({"status": {"status": 500}}, r"status must be a status from 200 to 599, not \{'status': 500\} \(dict\)"),
        ({"statuss": 500}, "has no argument 'statuss': did you mean 'status'"),
        ({"delay": 5}, "did you mean 'delay_s'"),
        ({"body": {"ok": True}}, "body must be str or bytes or bytearray"),
    ],
)
def test_a_reply_is_planned_by_names(planned: dict[str, Any], said: str) -> None:
    with Receiver() as receiver, pytest.raises(TypeError, match=said):
        receiver.reply(**planned)


def test_a_receiver_waits_for_a_number_of_messages() -> None:
    with Receiver() as receiver:
        for wrong in (0, -1, "1", True, None):
            with pytest.raises((TypeError, ValueError), match="n must be a number from 1 to 10000"):
                receiver.wait_for(wrong, timeout_s=0)


def test_json_that_contains_itself_is_refused() -> None:
    rule: dict[str, Any] = {}
    rule["when"] = rule
    with pytest.raises(ValueError, match="Circular reference"):
        OWN.rule("payments", rule)


def test_unknown_filters_and_times_without_a_zone_are_refused_by_the_simulator(client: Any) -> None:
    with client.sandbox() as sandbox:
        for ask, said in (
            (lambda: sandbox.transactions(refId="order-1"), "no parameter 'refId'; did you mean refid"),
            (lambda: sandbox.requests(satus=400), "did you mean status"),
            (lambda: sandbox.callbacks(trx_id="1"), "did you mean trxid"),
            (lambda: sandbox.advance(to=NAIVE), "at to"),
        ):
            with pytest.raises(SimulatorError, match=said):
                ask()
    with pytest.raises(SimulatorError, match="at credentials"):
        client.sandbox(credentials="uniqe")


def test_unknown_resellers_and_scenarios_have_a_suggestion(client: Any) -> None:
    with client.sandbox() as sandbox:
        with pytest.raises(LookupError, match="did you mean 'RS001'"):
            sandbox.balance("RS01")
        for ask in (lambda: sandbox.transactions(reseller="RS01"), lambda: sandbox.deposit(1, reseller="RS01")):
            with pytest.raises(Exception, match=r"did you mean '?RS001"):
                ask()
    with pytest.raises(Exception, match="did you mean 'bad-day'"):
        client.sandbox("bad-dya")


def test_the_asynchronous_client_refuses_alike() -> None:
    async def ask() -> None:
        with pytest.raises(TypeError, match="did you mean 'scenario'"):
            await AsyncSimulator("http://127.0.0.1:9").sandbox(scenarioo="x")
        with pytest.raises(TypeError, match="did you mean 'scenario'"):
            await AsyncSimulator.start(scenarioo="x")
        with pytest.raises(TypeError, match="refid must be"):
            await AsyncSandbox(OWN).story(None)

    with pytest.raises(TypeError, match=r"url must be"):
        AsyncSimulator(5)
    asyncio.run(ask())


def test_the_headers_of_a_standard_server_are_taken() -> None:
    from http.client import HTTPMessage

    headers = HTTPMessage()
    headers["webhook-id"] = "1"
    assert "webhook-timestamp" in verify_webhook(SECRET, headers, b"").reason


def test_a_name_that_the_package_does_not_have_is_refused() -> None:
    import reseller_sim

    with pytest.raises(AttributeError, match="has no attribute 'Recever'"):
        reseller_sim.Recever  # noqa: B018
