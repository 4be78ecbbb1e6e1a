"""`hold`: what rules hold is listed and released."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from reseller_sim import Simulator
from tests.support.asking import Asking


def test_what_is_held_is_listed_and_released(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asking.json("hold", "list") == {"holds": [], "complete": True}
    asking.json("rule", "add", "faults", "{when: {path: /v2/topup}, then: {hold: topup}}")
    sandbox = Simulator(asking.url).open(asking.sandbox)
    with ThreadPoolExecutor(2) as threads:
        payments = [threads.submit(sandbox.call, "POST", "/v2/topup", _payment(refid)) for refid in ("a", "b")]
        sandbox.hold("topup").wait(2)
        with monkeypatch.context() as people:
            people.setattr("simulator.cli.output.is_terminal", lambda: True)
            head, first, _ = asking.verb("hold", "list").stdout.splitlines()
            assert head.split()[:4] == ["hold", "kind", "what", "refid"]
            assert first.split()[:4] == ["topup", "answer", "POST", "/v2/topup"]
            released = asking.verb("hold", "release", "topup", "--count", "1").stdout
            assert released == "topup: 1 released, 1 held\n"
        assert asking.json("hold", "release", "topup") == {"released": 1, "held": 0}
        assert [one.result().status for one in payments] == [200, 200]


def _payment(refid: str) -> dict[str, object]:
    return {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 10}
