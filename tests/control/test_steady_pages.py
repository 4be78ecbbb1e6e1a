"""Events between two pages of a list shift none of its rows: no row comes twice, no row is lost."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.support.client import Client, running

ONE = "/sandboxes/default"
FAILED = [{"status": "Accepted"}, {"after": "1s", "status": "Failed"}]


def paid(client: Client, number: int, name: str = "ref") -> None:
    for each in range(number):
        assert client.pay(f"{name}-{each}").status == 200


def pages(client: Client, name: str, query: str, meanwhile: Callable[[], object]) -> list[Any]:
    """All rows of a list, two at a time, between whose pages something happens."""
    rows: list[Any] = []
    cursor = "0"
    while cursor is not None:
        part = client.sim("GET", f"{ONE}/{name}?limit=2&cursor={cursor}{query}").json
        rows += part[name]
        cursor = part["cursor"]
        meanwhile()
    return rows


def attempts(rows: list[Any]) -> list[tuple[str, int]]:
    return [(one["callback"], one["attempt"]) for one in rows]


def test_callbacks_that_are_sent_again_between_pages() -> None:
    with running({"payments": [{"then": FAILED}], "limits": {"callback_retry_after": "1s"}}) as client:
        client.sim("PUT", f"{ONE}/inbox/callbacks", {"replies": [{"status": 500, "repeat": 1000}]})
        paid(client, 10)
        client.advance(1)
        before = attempts(client.sim("GET", f"{ONE}/callbacks").json["callbacks"])
        assert before == [(f"cb-{n}", 1) for n in range(1, 11)]
        found = attempts(pages(client, "callbacks", "", lambda: client.advance(1)))
        assert len(set(found)) == len(found)
        assert set(before) <= set(found)


def test_callbacks_that_are_discarded_between_pages() -> None:
    with running({"payments": [{"then": FAILED}], "limits": {"callbacks": 4}}) as client:
        paid(client, 4)
        client.advance(1)
        first = client.sim("GET", f"{ONE}/callbacks?limit=2").json
        paid(client, 2, "later")
        client.advance(1)
        assert client.sim("GET", f"{ONE}/callbacks").json["left_out"] == 2
        rest = client.sim("GET", f"{ONE}/callbacks?limit=2&cursor={first['cursor']}").json
        assert attempts(first["callbacks"] + rest["callbacks"]) == [(f"cb-{n}", 1) for n in range(1, 5)]


@pytest.mark.parametrize("query", ["", "&reseller=RS001"])
def test_payments_between_pages_of_payments(query: str) -> None:
    with running() as client:
        paid(client, 7)
        numbers = count()
        rows = pages(client, "transactions", query, lambda: client.pay(f"meanwhile-{next(numbers)}"))
        assert [one["refid"] for one in rows] == [f"ref-{n}" for n in range(6, -1, -1)]
        assert client.sim("GET", f"{ONE}/transactions?limit=2&cursor=9999999999999999{query}").status == 200
