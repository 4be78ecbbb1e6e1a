"""The state of a server, read from its control API: payments, ledger, callback attempts, and its own invariants."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.support.processes import ask

SANDBOX = "/_sim/sandboxes/default"
PAGE = 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """A ledger entry, amounts in ringgit."""

    id: int
    type: str
    amount: Decimal
    balance: Decimal
    refid: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a callback. `status` is None without an answer."""

    callback: str
    number: int
    refid: str
    payment_status: str
    ending: str | None
    status: int | None


@dataclass(frozen=True, slots=True)
class Books:
    """The state of a sandbox. The ledger and the attempts are ordered from old to new."""

    payments: dict[str, tuple[str, str]]  # by refid: trxid and status
    twice: list[str]  # refids that more than one payment has
    ledger: list[Entry]
    attempts: list[Attempt]
    balance: Decimal
    violations: list[Any]


def read_books(url: str) -> Books:
    """Read the default sandbox. Attempts are read first, so that the payment of each attempt is read after it."""
    attempts = _attempts(url)
    found = _all(url, "transactions", "transactions")
    payments = {one["refid"]: (one["trxid"], one["status"]) for one in found}
    entries = [
        Entry(one["id"], one["type"], Decimal(str(one["amount"])), Decimal(str(one["balance"])), one.get("refid", ""))
        for one in _all(url, "ledger", "entries")
    ]
    resellers = _page(url, "")["resellers"]
    return Books(
        payments,
        [one["refid"] for one in found if payments[one["refid"]][0] != one["trxid"]],
        sorted(entries, key=lambda one: one.id),
        attempts,
        Decimal(str(resellers[0]["balance"])),
        _page(url, "/invariants")["violations"],
    )


def _attempts(url: str) -> list[Attempt]:
    """Read all pages of attempts, without duplicates: rows are ordered by callback, so a new attempt shifts later
    pages."""
    found: list[Attempt] = []
    for page in _pages(url, "callbacks"):
        before = {(one.callback, one.number) for one in found}
        found += [
            Attempt(one["callback"], one["attempt"], one["refid"], one["payment_status"], one["ending"], one["status"])
            for one in page["callbacks"]
            if (one["callback"], one["attempt"]) not in before
        ]
    return found


def _all(url: str, path: str, name: str) -> list[dict[str, Any]]:
    return [row for page in _pages(url, path) for row in page[name]]


def _pages(url: str, path: str) -> Iterator[dict[str, Any]]:
    page: dict[str, Any] = {"has_more": True, "cursor": ""}
    while page["has_more"]:
        yield (page := _page(url, f"/{path}?limit={PAGE}{page['cursor'] and '&cursor='}{page['cursor']}"))


def _page(url: str, rest: str) -> dict[str, Any]:
    answer = ask(f"{url}{SANDBOX}{rest}")
    assert answer.status == 200, answer
    page: dict[str, Any] = answer.json
    return page
