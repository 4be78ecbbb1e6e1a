"""`hold`: what rules hold is listed and released."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from reseller_sim import Simulator
from tests.support.asking import Asking
from tests.support.runner import invoke


def test_held_messages_are_listed_and_released(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
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
            assert first.split()[:4] == ["topup", "request", "POST", "/v2/topup"]
            released = asking.verb("hold", "release", "topup", "--count", "1").stdout
            assert released == "topup: 1 released, 1 held\n"
        assert asking.json("hold", "release", "topup") == {"released": 1, "held": 0}
        assert [one.result().status for one in payments] == [200, 200]


@pytest.mark.parametrize("words", [("a b",), ("",), (".x",), ("topup", "--count", "0"), ("topup", "--count", "101")])
def test_a_release_that_is_not_possible_is_wrong_usage(asking: Asking, words: tuple[str, ...]) -> None:
    refused = invoke("hold", "release", *words, "--url", asking.url)
    assert refused.exit_code == 2, refused.output


def test_a_release_of_an_empty_name_lists_the_held_items(asking: Asking) -> None:
    assert asking.verb("hold", "release", "topup").stdout == (
        "topup: 0 released, 0 held; `reseller-sim hold list` lists what is held\n"
    )
    asking.json("rule", "add", "faults", "{when: {path: /v2/topup}, then: {hold: topup}}")
    sandbox = Simulator(asking.url).open(asking.sandbox)
    with ThreadPoolExecutor(1) as threads, sandbox.hold("topup") as held:
        threads.submit(sandbox.call, "POST", "/v2/topup", _payment("a"))
        held.wait(1)
        assert asking.verb("hold", "release", "topop").stdout == (
            "topop: 0 released, 0 held; `reseller-sim hold list` lists what is held\n"
        )


def test_an_advance_says_what_is_still_held(asking: Asking) -> None:
    rule = "{when: {}, then: [{status: Accepted}, {after: 1s, status: Succesful}], callbacks: {hold: told}}"
    asking.json("rule", "add", "payments", rule)
    sandbox = Simulator(asking.url).open(asking.sandbox)
    sandbox.call("POST", "/v2/topup", _payment("a"))
    assert asking.json("advance", "idle")["held"] == {"told": 1}
    assert asking.verb("advance", "idle").stdout.endswith("Held until a release: 1 in told.\n")
    sandbox.hold("told").release()


def _payment(refid: str) -> dict[str, object]:
    return {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 10}
