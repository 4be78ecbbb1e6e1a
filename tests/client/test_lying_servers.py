"""A server that lies: whatever an answer of the control API has become, a call ends in a result or an error of ours."""

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sim import NotRunning, Sandbox, Simulator, SimulatorError, WrongAnswer, control
from reseller_sim.exchange import Answer, exchange

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0120000001", "amount": 10}
SEEDS = 300
NOBODY = Simulator("http://127.0.0.1:1")
DESCRIBED = {"id": "told", "scenario": "default", "seed": 1, "resellers": [{"code": "RS001", "balance": 1}]}
OURS = (SimulatorError, NotRunning, AssertionError)

Call = Callable[[Simulator, Sandbox], object]
CALLS: dict[str, Call] = {
    "health": lambda simulator, _: simulator.health(),
    "sandboxes": lambda simulator, _: simulator.sandboxes(),
    "sandbox": lambda simulator, _: used(simulator.sandbox()),
    "open": lambda simulator, own: used(simulator.open(own.id)),
    "reset": lambda _, own: was_reset(own),
    "mark": lambda _, own: own.mark("here"),
    "rewind": lambda _, own: was_rewound(own),
    "fork": lambda _, own: used(own.fork(n=0)),
    "now": lambda _, own: own.now.year,
    "clock": lambda _, own: own.clock(),
    "advance": lambda _, own: own.advance("1s"),
    "run_until_idle": lambda _, own: own.run_until_idle(),
    "rule": lambda _, own: own.rule("faults", {"when": {"path": "/v2/x"}, "then": {"status": 500}}).remove(),
    "deposit": lambda _, own: own.deposit(1),
    "replies": lambda _, own: own.replies("callbacks", [{"status": 200}]),
    "delete": lambda _, own: own.delete(),
    "close": lambda _, own: own.close(),
    "balance": lambda _, own: own.balance(),
    "transaction": lambda _, own: own.transaction("order-1"),
    "transactions": lambda _, own: own.transactions(),
    "story": lambda _, own: str(own.story("order-1")) + own.story("order-1").status,
    "requests": lambda _, own: own.requests(),
    "refused": lambda _, own: own.refused(),
    "callbacks": lambda _, own: own.callbacks(),
    "audit": lambda _, own: own.audit(),
    "inbox": lambda _, own: [(one.data, one.text, one.at.timestamp()) for one in own.inbox()],
    "wait_for_callback": lambda _, own: own.wait_for_callback("order-9", timeout_s=0),
    "expect_status": lambda _, own: own.expect_status("order-1", "Succesful"),
    "expect_status of none": lambda _, own: own.expect_status("order-9", "Succesful"),
    "expect_balance": lambda _, own: own.expect_balance(1),
    "expect_callback": lambda _, own: own.expect_callback("order-1", status="Succesful"),
    "expect_no_refusals": lambda _, own: own.expect_no_refusals(),
    "expect_clean_audit": lambda _, own: own.expect_clean_audit(),
}
UNREAD = {"replies"}  # whose answer nobody reads
NO_CALLS = {"ask", "call", "fault", "evidence"}  # what they answer is as it came, or is that of another


def used(sandbox: Sandbox) -> object:
    """Everything that is known of a sandbox without asking."""
    known = (sandbox.id, sandbox.scenario, sandbox.seed, sandbox.code, sandbox.environment, repr(sandbox), sandbox.url)
    return known, sandbox.auth.headers("GET", "/v2/balance")


def was_reset(sandbox: Sandbox) -> object:
    sandbox.reset()
    return used(sandbox)


def was_rewound(sandbox: Sandbox) -> object:
    sandbox.rewind(n=0)
    return used(sandbox)


class Liar:
    """Answers as a server has answered before, from its memory, but for one address with something else."""

    def __init__(self, told: Mapping[str, Answer], random: Random) -> None:
        self.told = told
        self._random = random
        self._address = random.choice(sorted(told))
        self._lie = lying(told[self._address], random)

    def __call__(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float
    ) -> Answer:
        address = f"{method} {urlsplit(url).path}"
        known = self.told.get(address, Answer(404, {}, b'{"error": "unknown", "message": "there is none"}'))
        return self._lie if address == self._address else known


def lying(answer: Answer, random: Random) -> Answer:
    """The answer with one place of its JSON changed."""
    if not answer.body:
        return Answer(answer.status, answer.headers, random.choice([b"{", b"[]", b"1", b'{"a": NaN}', b"\xff"]))
    value = json.loads(answer.body)
    places = list(_places(value))
    holder, key = random.choice(places)
    if random.random() < 0.3:
        del holder[key]
    else:
        holder[key] = random.choice(
            [None, True, 0, -1, 2**70, 10**400, 1e308, float("nan"), float("inf"), "", "x y", "\ud800", "\n", "é",
             [], [[]], {}, {"": []}, [holder[key]], {"x": holder[key]}, str(holder[key])]
        )  # fmt: skip
    return Answer(answer.status, answer.headers, json.dumps(deepcopy(value)).encode())


def _places(value: Any) -> Any:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield value, key
        yield from _places(one)


@pytest.fixture(scope="module")
def told(server: str) -> dict[str, dict[str, Answer]]:
    """What a server has answered to each call, by method and path."""
    found: dict[str, dict[str, Answer]] = {}
    simulator = Simulator(server)
    for name, call in CALLS.items():
        remembered = found[name] = {}
        sandbox = simulator.sandbox(id="told")
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.call("POST", "/v2/topup", PAYMENT | {"amount": 20})
        sandbox.call("POST", "/v2/topup", PAYMENT | {"refid": "order-2", "amount": 7})
        sandbox.run_until_idle()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(control, "exchange", _remembering(remembered))
            _outcome(call, simulator, sandbox)
        sandbox.close()
    return found


def _remembering(remembered: dict[str, Answer]) -> Callable[..., Answer]:
    def ask(method: str, url: str, *rest: Any) -> Answer:
        answer = exchange(method, url, *rest)
        remembered.setdefault(f"{method} {urlsplit(url).path}", answer)
        return answer

    return ask


def _outcome(call: Call, simulator: Simulator, sandbox: Sandbox) -> object:
    """What a call returns, or the error that it ends with when that is one of ours."""
    try:
        return call(simulator, sandbox)
    except OURS as error:
        return error
    except LookupError as error:
        if type(error) is LookupError:  # an unknown refid or reseller, as documented
            return error
        raise


def test_every_call_is_tried() -> None:
    methods = {name for kind in (Simulator, Sandbox) for name in vars(kind) if not name.startswith("_")}
    missing = methods - {name.split(" ")[0] for name in CALLS} - NO_CALLS
    assert missing == {"start", "url", "control_url", "output"}, "what asks nothing"


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_lie_ends_in_a_result_or_an_error_of_ours(
    told: dict[str, dict[str, Answer]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()
    for seed in range(SEEDS):
        monkeypatch.setattr(control, "exchange", Liar(told[name], Random(f"{name} {seed}")))  # noqa: S311  # repeatable
        seen.add(type(_outcome(CALLS[name], NOBODY, Sandbox(NOBODY.control, DESCRIBED))))
    assert (WrongAnswer in seen) == (name not in UNREAD), "lies are noticed where anything is read"


@pytest.mark.parametrize(
    ("call", "address", "holder", "key", "said"),
    [
        ("story", "GET /_sim/sandboxes/told/transactions/*", ("callbacks", 0, "attempts", 0), "at",
         "its callbacks[0].attempts[0].at is not a time with its UTC offset"),
        ("story", "GET /_sim/sandboxes/told/transactions/*", ("statuses", 1), "status_code",
         "its statuses[1].status_code is not a whole number"),
        ("callbacks", "GET /_sim/sandboxes/told/callbacks", ("callbacks", 1), "url",
         "its callbacks[1].url is not a text"),
        ("refused", "GET /_sim/sandboxes/told/requests", (), "requests", "its requests is not a list"),
        ("audit", "GET /_sim/sandboxes/told/audit", ("obligations", 2), "findings",
         "its obligations[2].findings is not a list"),
        ("balance", "GET /_sim/sandboxes/told", ("resellers", 0), "balance",
         "its resellers[0].balance is not a number"),
    ],
)  # fmt: skip
def test_the_error_says_which_field_of_which_address(
    told: dict[str, dict[str, Answer]],
    call: str,
    address: str,
    holder: tuple[Any, ...],
    key: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (path,) = [one for one in told[call] if one == address or (address[-1] == "*" and one.startswith(address[:-1]))]
    value = json.loads(told[call][path].body)
    inner = value
    for step in holder:
        inner = inner[step]
    del inner[key]
    answers = told[call] | {path: Answer(200, {}, json.dumps(value).encode())}
    monkeypatch.setattr(control, "exchange", lambda method, url, *_: answers[f"{method} {urlsplit(url).path}"])
    with pytest.raises(WrongAnswer) as raised:
        CALLS[call](NOBODY, Sandbox(NOBODY.control, DESCRIBED))
    method, where = path.split(" ")
    assert str(raised.value) == (
        f"{method} http://127.0.0.1:1{where} was not answered as by a simulator of this version: {said}"
    )
