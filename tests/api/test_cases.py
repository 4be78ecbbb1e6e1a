"""`POST /v2/transactions/check` and `/v2/transactions/void` through the whole application (SPEC 4.12, 4.13)."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cases import ACCOUNT, CHECK, PAID, VOID, cases, pay_bill, trxid_of, void
from tests.support.client import Client, Response, running
from tests.support.receivers import Receiver


@pytest.fixture
def client() -> Iterator[Client]:
    with running(PAID) as made:
        yield made


def balance(client: Client) -> Any:
    return client.call("GET", "/v2/balance").data["balance"]


def add_rule(client: Client, section: str, then: Any, **more: Any) -> Response:
    return client.sim("POST", "/sandboxes/default/rules", {"section": section, "rule": {"then": then, **more}})


def test_a_void_is_accepted_and_refunded_and_causes_a_callback() -> None:
    with running(PAID) as client:
        receiver = client.run(Receiver().start())
        try:
            client.call("POST", f"/v2/callback-url?url={receiver.url}&method=POST")
            pay_bill(client)
            answer = void(client)
            assert (answer.status, answer.data["refid"], answer.data["status"]) == (200, "ref-1", "Success")
            assert answer.headers["x-sim-rule"] == "void approved"
            assert balance(client) == 4900.3
            client.advance(59)
            assert (receiver.got, balance(client)) == ([], 4900.3)
            fired = client.advance(1)["fired"]
            happened = [(one["kind"], one["status"], one.get("status_code")) for one in fired]
            assert happened == [("status", "Refund", 53), ("callback", "Failed", None)]
            (got,) = receiver.got
            assert (got.data["statusCode"], got.data["status"]) == (53, "Failed")
            assert (got.data["cost"], got.data["balance"], got.data["refid"]) == (0, 5000, "ref-1")
            asked = client.pay(product="ELECTRIC", amount="100", account=ACCOUNT)
            assert (asked.data["status"], asked.data["statusCode"], asked.data["cost"]) == ("Refund", 53, 0)
            assert asked.data | {"status": "Failed"} == got.data
            assert (asked.data["balance"], balance(client)) == (5000, 5000)
            assert client.sim("GET", "/sandboxes/default/invariants").json["ok"]
        finally:
            client.run(receiver.stop())


def test_history_and_statement_show_the_refund(client: Client) -> None:
    pay_bill(client)
    void(client)

    def reported() -> tuple[Any, ...]:
        history = client.call("GET", "/v2/transactions?limit=10&date=2026-11-21").json
        statement = client.call("GET", "/v2/balance-statement?date=2026-11-21&type=REFUND").json
        (record,) = history["data"]
        counts = history["meta"]["successful_count"], history["meta"]["refund_count"]
        return record["status_code"], record["price"], counts, [entry["amount"] for entry in statement["data"]]

    assert reported() == ("20", "99.70", ("1", "0"), [])
    client.advance(60)
    assert reported() == ("53", "0.00", ("0", "1"), [99.7])


def test_the_callback_of_a_void_by_get_has_the_code_53_and_is_retried() -> None:
    with running(PAID) as client:
        receiver = client.run(Receiver([500, 200]).start())
        try:
            client.call("POST", f"/v2/callback-url?url={receiver.url}&method=GET")
            pay_bill(client)
            void(client)
            client.advance(until="idle")
            assert [(got.method, got.query["status"], got.query["price"]) for got in receiver.got] == [
                ("GET", "53", "0")
            ] * 2
        finally:
            client.run(receiver.stop())


def test_a_case_is_part_of_the_payments_story(client: Client) -> None:
    pay_bill(client)
    void(client, refund_type=3, refund_reason="moved house", user_email=["user@example.com"])
    (case,) = cases(client)
    assert case == {
        "id": "case-1",
        "kind": "void",
        "at": "2026-11-21T04:00:00.000000Z",
        "status": "Success",
        "message": case["message"],
        "state": "approved",
        "ended": None,
        "rule": "void approved",
        "user_email": ["user@example.com"],
        "refund_type": 3,
        "refund_reason": "moved house",
    }
    client.advance(60)
    (case,) = cases(client)
    assert (case["state"], case["ended"]) == ("refunded", "2026-11-21T04:01:00.000000Z")
    story = client.sim("GET", f"/sandboxes/default/transactions/{trxid_of(client, 'ref-1')}").json
    assert [entry["type"] for entry in story["entries"]] == ["TRANSACTION", "REFUND"]
    assert [status["cause"] for status in story["statuses"]] == ["creation", "void"]
    assert VOID in [request["path"] for request in story["requests"]]


def test_a_dispute_is_taken_and_the_user_is_written_to(client: Client) -> None:
    trxid = pay_bill(client)
    answer = client.call("POST", CHECK, {"trxid": trxid, "user_email": ["user@example.com", "cc@example.com"]})
    assert (answer.status, answer.data["refid"], answer.data["status"]) == (200, "ref-1", "Success")
    (mail,) = client.sim("GET", "/sandboxes/default/notifications?kind=dispute").json["notifications"]
    assert (mail["to"], mail["trxid"]) == (["user@example.com", "cc@example.com", "owner@example.com"], trxid)
    assert [(case["kind"], case["state"]) for case in cases(client)] == [("dispute", "open")]
    assert client.advance(until="idle")["fired"] == []


@pytest.mark.parametrize("path", [CHECK, VOID])
def test_a_second_request_answers_failed(client: Client, path: str) -> None:
    pay_bill(client)
    body = {"refid": "ref-1", "refund_type": 2}
    assert [client.call("POST", path, body).data["status"] for _ in range(3)] == ["Success", "Failed", "Failed"]
    client.advance(until="idle")
    assert client.call("POST", path, body).data["status"] == "Failed"
    assert len(cases(client)) == 1


@pytest.mark.parametrize("path", [CHECK, VOID])
def test_a_payment_that_did_not_succeed_answers_failed(path: str) -> None:
    with running() as client:
        pay_bill(client)
        body = {"refid": "ref-1", "refund_type": 1}
        assert client.call("POST", path, body).data["status"] == "Failed"
        client.advance(5)
        assert client.call("POST", path, body).data["status"] == "Success"


def test_a_mobile_reload_cannot_be_voided_but_disputed(client: Client) -> None:
    client.pay()
    refused = void(client)
    assert (refused.status, refused.data["status"]) == (200, "Failed")
    assert "cannot be voided" in refused.data["message"]
    assert "x-sim-rule" not in refused.headers
    assert client.call("POST", CHECK, {"refid": "ref-1"}).data["status"] == "Success"


def test_trxid_wins_when_both_are_given(client: Client) -> None:
    first, _ = pay_bill(client, "ref-1"), pay_bill(client, "ref-2")
    assert void(client, "ref-2", trxid=first).data["refid"] == "ref-1"
    other = void(client, "ref-2", trxid="").data
    assert (other["refid"], other["status"]) == ("ref-2", "Success"), "an empty one is not given"


@pytest.mark.parametrize("path", [CHECK, VOID])
@pytest.mark.parametrize(
    "reference",
    [
        {"refid": "nobody"},
        {"trxid": "nobody"},
        {"refid": "ref-1", "trxid": "nobody"},
        {"refid": ""},
        {"trxid": "", "refid": ""},
        {},
        {"refid": 7},
        {"trxid": None},
        {"trxid": ["ref-1"]},
        {"refid": "r" * 51},
        {"trxid": "t" * 101},
    ],
)
def test_an_unknown_or_missing_reference_is_reported_as_trxid(client: Client, path: str, reference: Any) -> None:
    pay_bill(client)
    refused = client.call("POST", path, {**reference, "refund_type": 1})
    assert (refused.status, list(refused.json["errors"])) == (400, ["trxid"])
    assert refused.json["message"]
    assert cases(client) == []


def test_another_resellers_payment_is_unknown(client: Client) -> None:
    trxid = pay_bill(client)
    made = client.sim("POST", "/sandboxes/default/resellers", {"code": "OTHER", "balance": "1000"}).json
    other = {"key": made["api_key"], "secret": made["api_secret"]}
    for body in ({"refid": "ref-1", "refund_type": 1}, {"trxid": trxid, "refund_type": 1}):
        for path in (CHECK, VOID):
            refused = client.call("POST", path, body, **other)
            assert (refused.status, list(refused.json["errors"])) == (400, ["trxid"])
    pay_bill_of_other = client.pay("ref-1", "50", "ELECTRIC", account=ACCOUNT, **other)
    assert pay_bill_of_other.data["status"] == "Succesful"
    assert void(client, **other).data["status"] == "Success"
    assert void(client).data["status"] == "Success", "the same refid is another payment for each"


VOID_FAULTS: list[tuple[Any, list[str]]] = [
    ({"refund_type": None}, ["refund_type"]),
    ({"refund_type": 0}, ["refund_type"]),
    ({"refund_type": 4}, ["refund_type"]),
    ({"refund_type": 1.5}, ["refund_type"]),
    ({"refund_type": "1"}, ["refund_type"]),
    ({"refund_type": True}, ["refund_type"]),
    ({"refund_type": 3}, ["refund_reason"]),
    ({"refund_type": 3, "refund_reason": ""}, ["refund_reason"]),
    ({"refund_type": 3, "refund_reason": " \n"}, ["refund_reason"]),
    ({"refund_type": 3, "refund_reason": 5}, ["refund_reason"]),
    ({"refund_type": 1, "refund_reason": "x" * 1001}, ["refund_reason"]),
    ({"refund_type": 9, "user_email": "user@example.com"}, ["refund_type", "user_email"]),
    ({"refid": 5, "refund_type": 9}, ["refund_type", "trxid"]),
]


@pytest.mark.parametrize(("changes", "fields"), VOID_FAULTS)
def test_other_problems_of_a_void_are_reported_by_field(client: Client, changes: Any, fields: list[str]) -> None:
    pay_bill(client)
    refused = client.call("POST", VOID, {"refid": "ref-1", "refund_type": 1, **changes})
    assert (refused.status, sorted(refused.json["errors"])) == (400, fields)
    assert (cases(client), client.advance(until="idle")["fired"]) == ([], [])


def test_a_void_needs_a_refund_type_and_a_dispute_does_not(client: Client) -> None:
    pay_bill(client)
    refused = client.call("POST", VOID, {"refid": "ref-1"})
    assert (refused.status, list(refused.json["errors"])) == (400, ["refund_type"])
    assert client.call("POST", CHECK, {"refid": "ref-1", "refund_type": "nonsense"}).data["status"] == "Success"


@pytest.mark.parametrize(
    "more",
    [
        {"refund_type": 1},
        {"refund_type": 2.0, "refund_reason": ""},
        {"refund_type": 3.0, "refund_reason": "x"},
        {"refund_type": 1, "user_email": [], "unknown": {"members": "are ignored"}},
        {"refund_type": 1, "user_email": [f"user{n}@example.com" for n in range(20)]},
    ],
)
def test_a_void_is_accepted_in_every_valid_form(client: Client, more: Any) -> None:
    pay_bill(client)
    assert client.call("POST", VOID, {"refid": "ref-1", **more}).data["status"] == "Success"


@pytest.mark.parametrize("path", [CHECK, VOID])
@pytest.mark.parametrize(
    "addresses",
    [
        "user@example.com",
        [""],
        ["user"],
        ["user@"],
        ["@example.com"],
        ["user@example"],
        ["user@example..com"],
        ["us er@example.com"],
        ["user@exa mple.com"],
        ["a@b@example.com"],
        ["user@example.com\nBcc: all@example.com"],
        ["user\u0000@example.com"],
        [f"{'u' * 65}@example.com"],
        [f"user@{'e' * 250}.com"],
        [5],
        [None],
        {"to": "user@example.com"},
        ["user@example.com"] * 21,
    ],
)
def test_addresses_are_plausible_and_bounded(client: Client, path: str, addresses: Any) -> None:
    pay_bill(client)
    refused = client.call("POST", path, {"refid": "ref-1", "refund_type": 1, "user_email": addresses})
    (name,) = refused.json["errors"]
    assert (refused.status, name) == (
        400,
        "user_email.0" if type(addresses) is list and len(addresses) == 1 else "user_email",
    )
    assert cases(client) == []


def test_an_item_of_a_list_is_named_alike_in_the_answer_and_in_the_diagnosis(client: Client) -> None:
    pay_bill(client)
    refused = client.call("POST", CHECK, {"refid": "ref-1", "user_email": ["user@example.com", "user@"]})
    text = "must be an e-mail address of at most 254 characters"
    assert (refused.status, refused.json["errors"]) == (400, {"user_email.1": [text]})
    assert refused.headers["x-sim-diagnosis"] == f"user_email.1 {text}"


@pytest.mark.parametrize("path", [CHECK, VOID])
@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"refid=ref-1", b'{"refid": "ref-1"', b"{" * 5000, b'"\\ud800"'])
def test_a_body_other_than_a_json_object_is_refused(client: Client, path: str, body: bytes) -> None:
    refused = client.call("POST", path, body)
    assert (refused.status, list(refused.json["errors"])) == (400, ["body"])


@pytest.mark.parametrize("path", [CHECK, VOID])
def test_it_is_signed_and_posted(client: Client, path: str) -> None:
    assert client.call("GET", path).status == 405
    assert client.call("POST", path, {"refid": "ref-1"}, secret="c29tZXRoaW5nIGVsc2U=").status == 401


def test_rules_of_a_scenario_match_the_payment_and_the_reason() -> None:
    rules = [
        {"name": "duplicates wait", "when": {"refund_type": 2}, "then": {"status": "Success", "refused_after": "5s"}},
        {"when": {"amount": {"min": 200}}, "then": {"status": "Failed", "message": "Too much for {refid}"}},
        {"when": {"product": "WATER"}, "then": {"status": "Success", "refund_after": "1h"}},
        {"when": {"account": {"suffix": "9"}}, "then": {"status": "Success"}},
    ]
    with running(PAID | {"voids": rules}) as client:
        client.pay("a", "10", "ELECTRIC", account=ACCOUNT)
        client.pay("b", "200", "ELECTRIC", account=ACCOUNT)
        client.pay("c", "10", "WATER", account="1234567890")
        client.pay("d", "10", "ELECTRIC", account="210012345679")
        assert void(client, "a", refund_type=2).headers["x-sim-rule"] == "duplicates wait"
        assert void(client, "b").data == {"refid": "b", "status": "Failed", "message": "Too much for b"}
        assert [void(client, refid).data["status"] for refid in "cd"] == ["Success", "Success"]
        assert [(one["kind"], one["state"]) for one in client.advance(5)["fired"]] == [("case", "refused")]
        fired = [(one["refid"], one["at"][11:19]) for one in client.advance()["fired"] if one["kind"] == "status"]
        assert fired == [("d", "04:01:00"), ("c", "05:00:00")]
        states = {refid: cases(client, refid)[0]["state"] for refid in "abcd"}
        assert states == {"a": "refused", "b": "refused", "c": "refunded", "d": "refunded"}
        assert cases(client, "b")[0]["status"] == "Failed"


def test_a_rule_is_added_named_and_taken_out_while_it_runs(client: Client) -> None:
    for refid in ("a", "b", "c"):
        pay_bill(client, refid)
    made = add_rule(client, "voids", {"status": "Failed", "message": "no"}, name="no voids", when={"refid": "a"})
    assert made.status == 201
    assert void(client, "a").data["message"] == "no"
    assert void(client, "b", headers={"X-Sim-Rule": "no voids"}).data["message"] == "no"
    assert client.sim("DELETE", f"/sandboxes/default/rules/{made.json['id']}").status == 204
    assert void(client, "c").data["status"] == "Success"
    assert void(client, "c", headers={"X-Sim-Rule": "no voids"}).json["error"] == "unknown_rule"
    add_rule(client, "disputes", {"status": "Failed"}, name="no disputes")
    assert client.call("POST", CHECK, {"refid": "a"}).headers["x-sim-rule"] == "no disputes"


def test_names_are_unique_across_sections(client: Client) -> None:
    refused = add_rule(client, "bills", {"error": "unavailable"}, name="void approved")
    assert (refused.status, refused.json["error"]) == (409, "rule_exists")


def test_a_lower_rule_decides_once_the_upper_one_is_used_up() -> None:
    rules = [{"when": {}, "times": 1, "then": {"status": "Failed"}}]
    with running(PAID | {"voids": rules, "assume": {"case-lifecycle": "again_after_refusal"}}) as client:
        pay_bill(client)
        assert [void(client).data["status"] for _ in range(3)] == ["Failed", "Success", "Failed"]


def test_a_refund_under_a_running_clock_happens_without_a_request() -> None:
    with running(PAID | {"clock": {"mode": "real"}}) as client:
        pay_bill(client)
        void(client)
        client.pass_time(60)
        assert balance(client) == 5000
        waited = client.sim("GET", "/sandboxes/default/inbox/callbacks?wait_for=1&timeout=30").json
        assert waited["items"][0]["json"]["data"]["statusCode"] == 53


def test_a_fault_may_hide_that_a_void_was_taken() -> None:
    fault = {"when": {"path": VOID}, "times": 1, "then": {"after_commit": True, "disconnect": True}}
    with running(PAID | {"faults": [fault]}) as client:
        pay_bill(client)
        assert void(client).status == 0
        assert void(client).data["status"] == "Failed"
        client.advance(until="idle")
        assert balance(client) == 5000


def test_the_bundled_scenario_of_difficult_billers_works_as_described() -> None:
    with running("difficult-billers") as client:
        for ending in ("09", "19", "29", "10", "11"):
            client.pay(ending, "10", "ELECTRIC", account=f"2100123456{ending}")
        client.advance(5)
        answered = {refid: void(client, refid).data["status"] for refid in ("09", "19", "29", "11")}
        assert answered == {"09": "Failed", "19": "Success", "29": "Success", "11": "Success"}
        assert client.call("POST", CHECK, {"refid": "10"}).data["status"] == "Failed"
        client.advance(until="idle")
        states = {refid: cases(client, refid)[0]["state"] for refid in answered}
        assert states == {"09": "refused", "19": "refused", "29": "refunded", "11": "refunded"}
        bills = {
            ending: client.call("GET", f"/v2/bill-presentment?product=WATER&account=12345678{ending}").json
            for ending in ("15", "16", "20", "21")
        }
        assert [bills[ending]["metadata"]["status_code"] for ending in bills] == [400, 400, 200, 200]
        assert (bills["20"]["transaction_validity"], bills["20"]["data"]["Outstanding"]) == (None, None)
        assert bills["21"]["data"]["Outstanding"] == 9999.9
        assert client.sim("GET", "/sandboxes/default/invariants").json["ok"]
