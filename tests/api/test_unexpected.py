"""An unexpected exception is a journaled 500 that blames the simulator and quotes no client."""

import logging
from typing import Any

import pytest

from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.client import Client, exchange, running
from tests.support.contract_check import assert_in_contract

SENT = "a secret that was sent"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command can be applied any more."""

    def apply(*_: Any) -> None:
        raise KeyError(SENT)

    monkeypatch.setattr(LiveSandbox, "apply", apply)


def ask(client: Client, method: str, path: str, body: bytes, headers: dict[str, str]) -> Any:
    """A request that meets a mistake of ours; its answer is in the contract all the same."""
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": [(b"host", b"localhost"), *pairs], "client": ("127.0.0.1", 5)}
    answer = client.run(exchange(client.app, scope, body))
    assert_in_contract(method, path, answer.status, answer.headers, answer.body, mistakes_are_tested=True)
    return answer


@pytest.mark.usefixtures("failing")
def test_an_uncaught_exception_is_a_journaled_500_with_a_diagnosis(caplog: pytest.LogCaptureFixture) -> None:
    body = b'{"refid": "r-1", "product": "RELOAD", "account": "0123456789", "amount": "10"}'
    with running() as client, caplog.at_level(logging.ERROR):
        answer = ask(client, "POST", "/v2/topup", body, client.signature("POST", "", body))
        assert (answer.status, answer.json["error"]) == (500, "unexpected")
        assert "KeyError in test_unexpected.py, line " in answer.headers["x-sim-diagnosis"]
        (entry,) = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert (entry["status"], entry["error"]) == (500, "unexpected")
        assert entry["diagnosis"].startswith("a mistake of the simulator, please report it: KeyError in ")
        shown = caplog.text + answer.body.decode() + str(answer.headers) + str(entry)
    assert "a request failed: KeyError in test_unexpected.py" in caplog.text
    assert SENT not in shown


@pytest.mark.usefixtures("failing")
def test_an_uncaught_exception_of_the_control_api_is_a_500_in_its_own_form(caplog: pytest.LogCaptureFixture) -> None:
    with running(is_repeatable=False) as client, caplog.at_level(logging.ERROR):
        answer = ask(client, "POST", "/_sim/sandboxes/default/resellers/RS001/deposits", b'{"amount": 1}', {})
    assert (answer.status, answer.json["error"]) == (500, "unexpected")
    assert "a control request failed: KeyError in test_unexpected.py" in caplog.text
    assert SENT not in caplog.text
