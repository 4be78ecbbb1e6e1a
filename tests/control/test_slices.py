"""Reports over all records yield to other work, and lists use an index: steps are counted, not seconds."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.domain.model.transactions import Transactions
from simulator.domain.reports import invariants
from simulator.runtime import expectation_verdicts
from tests.support.client import Client, Response, running

ONE = "/sandboxes/default"
PAID = {"payments": [{"then": [{"status": "Succesful"}]}]}
EXPECTED = {
    "expect": [
        {"name": "paid", "payments": {"status": "Succesful"}, "count": 20},
        {"name": "sent", "callbacks": {"state": "pending"}, "count": 0},
        {"name": "none", "payments": {"product": "GAME"}, "count": 0},
    ]
}
SECOND = {"resellers": [{"code": "RS002", "balance": "100.00", "api_keys": [{"key": "second", "secret": "c2Vjb25k"}]}]}


def paid(client: Client, count: int) -> None:
    for number in range(count):
        assert client.pay(f"ref-{number}").status == 200


async def while_paying(client: Client, path: str) -> tuple[Response, int]:
    """The answer of a report, and how many payments were made before it came."""
    report = asyncio.create_task(client.asim("GET", ONE + path))
    made = 0
    await asyncio.sleep(0)
    body = {"product": "RELOAD", "account": "0123456789", "amount": "10"}
    while not report.done() and made < 5:
        assert (await client.acall("POST", "/v2/topup", body | {"refid": f"new-{made}"})).status == 200
        made += 1
        await asyncio.sleep(0)
    return await report, made


def test_payments_continue_while_the_invariants_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariants, "SLICE", 1)
    with running(PAID) as client:
        paid(client, 20)
        answer, made = client.run(while_paying(client, "/invariants"))
        assert answer.json == {"ok": True, "violations": []}
        assert made == 5


def test_payments_continue_uncounted_while_expectations_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectation_verdicts, "SLICE", 1)
    with running(PAID | EXPECTED) as client:
        paid(client, 20)
        answer, made = client.run(while_paying(client, "/expectations"))
        assert [one["actual"] for one in answer.json["expectations"]] == [20, 0, 0]
        assert answer.json["ok"]
        assert made == 5


def test_expectations_test_a_bounded_number_of_records_per_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectation_verdicts, "SLICE", 6)
    with running(PAID | EXPECTED) as client:
        paid(client, 20)
        parts = [len(part) for part in expectation_verdicts.verdicts_in_slices(client.live)]
        assert parts == [0, 0, 0, 3], "20 payments in 4 slices, and no callbacks"


def test_the_list_of_sandboxes_yields_after_each_sandbox() -> None:
    with running() as client:
        for number in range(5):
            client.sandbox({"extends": "default"}, f"s-{number}")

        async def turns() -> tuple[Response, int]:
            report = asyncio.create_task(client.asim("GET", "/sandboxes"))
            passed = 0
            while not report.done():
                await asyncio.sleep(0)
                passed += 1
            return await report, passed

        answer, passed = client.run(turns())
        assert len(answer.json["sandboxes"]) == 6
        assert passed >= 6


def never(_: object) -> Iterator[Any]:
    raise AssertionError("all of them were visited")


def test_transactions_of_a_refid_or_a_reseller_are_found_by_index(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(PAID | SECOND) as client:
        paid(client, 3)
        client.advance(1)
        assert client.pay("ref-1", key="second", secret="c2Vjb25k").status == 200
        monkeypatch.setattr(Transactions, "values", never)
        monkeypatch.setattr(Transactions, "__iter__", never)

        def found(query: str) -> list[tuple[str, str]]:
            rows = client.sim("GET", f"{ONE}/transactions?{query}").json["transactions"]
            return [(row["reseller"], row["refid"]) for row in rows]

        assert found("refid=ref-1") == [("RS002", "ref-1"), ("RS001", "ref-1")]
        assert found("refid=ref-1&reseller=RS001") == [("RS001", "ref-1")]
        assert found("reseller=RS001") == [("RS001", "ref-2"), ("RS001", "ref-1"), ("RS001", "ref-0")]
        assert found("reseller=RS001&limit=1&cursor=2") == [("RS001", "ref-1")]
        assert found("refid=ref-2&reseller=RS002") == found("refid=none") == []


def test_callbacks_of_a_payment_are_found_by_refid_and_trxid() -> None:
    with running() as client:
        paid(client, 3)
        client.advance()
        trxid = client.live.core.state.resellers["RS001"].refids["ref-1"].trxid
        other = client.live.core.state.resellers["RS001"].refids["ref-2"].trxid
        every = client.sim("GET", f"{ONE}/callbacks").json["callbacks"]
        expected = [row for row in every if row["refid"] == "ref-1"]
        assert [row["payment_status"] for row in expected] == ["Processing", "Succesful"]
        for query in (f"trxid={trxid}", "refid=ref-1", f"refid=ref-1&trxid={trxid}"):
            assert client.sim("GET", f"{ONE}/callbacks?{query}").json["callbacks"] == expected
        assert client.sim("GET", f"{ONE}/callbacks?refid=ref-1&trxid={other}").json["callbacks"] == []
        assert client.sim("GET", f"{ONE}/callbacks?refid=ref-1&wait_for=2&timeout=0").json["complete"]


def test_callbacks_are_paged_without_gap_or_repeat() -> None:
    with running({"payments": [{"then": [{"status": "Accepted"}, {"after": "1s", "status": "Failed"}]}]}) as client:
        client.sim("PUT", f"{ONE}/inbox/callbacks", {"replies": [{"status": 500}, {"status": 500}, {"status": 200}]})
        paid(client, 4)
        client.advance()
        whole = client.sim("GET", f"{ONE}/callbacks").json
        assert not whole["has_more"]
        for limit in (1, 2, 3):
            rows, cursor = [], "0"
            while cursor is not None:
                part = client.sim("GET", f"{ONE}/callbacks?limit={limit}&cursor={cursor}").json
                rows += part["callbacks"]
                cursor = part["cursor"]
            assert rows == whole["callbacks"]
            assert len(rows) == 6, "two callbacks failed once each, or one twice"
