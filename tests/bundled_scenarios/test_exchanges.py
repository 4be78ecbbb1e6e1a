"""Outcomes of requests: lost-answers, garbled-answers, bad-network, maintenance-window, nonce-outage, rate-limit,
api-key-only, key-rotation."""

import pytest

from simulator.domain.model.fault_kinds import DrippingAnswer
from tests.support.client import running
from tests.support.play import (
    balance,
    buy,
    settle,
    status,
)
from tests.support.tokens import login, pay_by_token, refresh

# the account's ending, the first answer (0: none, or not whole), whether the payment is made, the second answer
LOST = [
    ("71", 0, True, 200),
    ("72", 0, True, 200),
    ("73", 504, True, 200),
    ("75", 504, False, 504),
    ("76", 0, False, 200),
    ("79", 200, True, 200),
]


@pytest.mark.parametrize(("ending", "first", "is_made", "second"), LOST)
def test_an_answer_is_lost_and_asking_again_is_right(ending: str, first: int, is_made: bool, second: int) -> None:
    with running("lost-answers") as client:
        refid, answer = buy(client, ending=ending)
        assert answer.status == first
        assert (status(client, refid) != "") is is_made
        assert buy(client, ending=ending, refid=refid)[1].status == second
        settle(client)
        assert balance(client) == (5000 if second == 504 else 4990.25)  # paid once, with or without an answer


def test_an_answer_is_not_json_although_the_payment_was_made() -> None:
    with running("garbled-answers") as client:
        with pytest.raises(AssertionError, match="not valid JSON"):  # what this client, too, holds against an answer
            buy(client, ending="81", refid="garbled")
        assert buy(client, ending="81", refid="garbled")[1].data["status"] == "Accepted"
        assert balance(client) == 4990.25


@pytest.mark.parametrize(("ending", "first"), [("82", 502), ("99", 200)])
def test_a_gateway_answers_though_the_payment_was_made(ending: str, first: int) -> None:
    with running("garbled-answers") as client:
        refid, answer = buy(client, ending=ending)
        assert answer.status == first
        assert answer.body.startswith(b"<html>") is (first == 502)
        assert answer.headers["content-type"].startswith("text/html") is (first == 502)
        assert buy(client, ending=ending, refid=refid)[1].data["status"] == "Accepted"
        assert balance(client) == 4990.25


def test_one_answer_trickles_in() -> None:
    with running("garbled-answers") as client:
        rules = client.live.core.state.faults.rules
        assert [rule.then.failures for rule in rules if "slowly" in rule.label] == [(DrippingAnswer(100),)]


def test_on_a_bad_network_a_client_that_keeps_its_refid_pays_once() -> None:
    # delays are real time and of no interest here
    with running(
        {"extends": "bad-network", "faults": [{"name": "none", "when": {"path": "/nowhere"}, "then": {"status": 500}}]}
    ) as client:
        rules = {rule.label: rule for rule in client.live.core.state.faults.rules}
        assert {"paid, but nobody heard", "cut in mid-answer", "nothing happened", "gateway gave up"} <= rules.keys()
        for name in ("gateway gave up", "slow reading"):
            client.sim("DELETE", f"/sandboxes/default/rules/{rules[name].id}")
        answers = []
        refids = [f"order-{n}" for n in range(20)]
        for refid in refids:
            for _ in range(10):
                answer = buy(client, refid=refid)[1]
                is_whole = answer.status == 200 and len(answer.body) == int(answer.headers["content-length"])
                answers.append(is_whole)
                if is_whole:
                    break
        settle(client)
        assert answers.count(True) == 20
        assert answers.count(False) >= 5
        assert [status(client, refid) for refid in refids] == ["Succesful"] * 20
        assert balance(client) == 4805  # 20 payments of 9.75


def test_the_nonce_service_is_down_and_comes_back() -> None:
    with running("nonce-outage") as client:
        answers = [client.call("GET", "/v2/catalog") for _ in range(14)]
        assert [answer.status for answer in answers[:5]] == [503] * 4 + [200]
        assert "retry-after" in answers[0].headers
        assert [answer.status for answer in answers[4:]].count(503) == 2
        refid, _ = buy(client)
        buy(client, refid=refid)
        assert status(client, refid) == "Accepted"


def test_a_client_that_asks_too_often_is_blocked_for_four_hours() -> None:
    with running("rate-limit") as client:
        assert [client.call("GET", "/v2/balance").status for _ in range(21)] == [200] * 20 + [403]
        client.advance(240 * 60 - 1)
        assert client.call("GET", "/v2/balance").json["error"] == "ip_blocked"
        client.advance(1)
        assert client.call("GET", "/v2/balance").status == 200


def test_a_client_that_polls_gently_is_not_blocked() -> None:
    with running("rate-limit") as client:
        for _ in range(40):
            assert client.call("GET", "/v2/balance").status == 200
            client.advance(16)


def test_payments_want_the_api_key_and_tokens_live_ten_minutes() -> None:
    with running("api-key-only") as client:
        tokens = login(client)
        refused = pay_by_token(client, tokens["IdToken"])
        assert (refused.status, refused.json["error"]) == (403, "api_key_required")
        assert client.pay("r-1").status == 200
        client.advance(600)
        assert pay_by_token(client, tokens["IdToken"]).status == 401
        assert refresh(client, tokens["RefreshToken"]).status == 200


def test_an_outage_comes_on_sunday_at_noon_and_every_third_request_fails_around_midnight() -> None:
    with running("maintenance-window") as client:
        refid, answer = buy(client)
        assert answer.status == 200
        client.advance(300)
        assert buy(client, refid=refid)[1].status == 502
        assert client.call("GET", "/v2/balance").status == 502
        client.advance(600)
        assert buy(client, refid=refid)[1].data["status"] == "Succesful"
        assert balance(client) == 4990.25
        client.advance(11 * 3600 + 40 * 60)  # 23:50
        assert [client.call("GET", "/v2/balance").status for _ in range(3)] == [200, 200, 502]
        client.advance(25 * 60)
        assert [client.call("GET", "/v2/balance").status for _ in range(6)] == [200] * 6


def test_the_second_key_is_good_before_the_first_is_refused_and_the_provider_is_down_meanwhile() -> None:
    secret = "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDM="  # of the bundled scenario
    with running("key-rotation") as client:
        seen: list[tuple[int, int, str | None]] = []
        for minutes in (9, 4, 5, 3):
            client.advance(60 * minutes)
            first = client.call("GET", "/v2/balance").status
            second = client.call("GET", "/v2/balance", key="test_key_RS001_next", secret=secret).status
            refid = f"r{len(seen)}"
            made = client.pay(refid, key="test_key_RS001_next", secret=secret).data if second == 200 else None
            client.advance(20)
            seen.append((first, second, made and status(client, refid)))
        assert seen == [(200, 401, None), (200, 200, "Failed"), (200, 200, "Succesful"), (401, 200, "Succesful")]
