"""The account as it was seen: what its wallet had at first, deposits, its threshold, where it wants to be told.

Addresses of receivers are not kept, nor is the owner's e-mail.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

from simulator.contract.endpoints import endpoints
from simulator.domain.model.money import ZERO, parse_amount
from simulator.scenario.yaml import flow
from simulator.staging.importer.answers import as_dict, dicts
from simulator.staging.recorder.values import in_utc, json_object, seconds, short
from simulator.wire.traffic import Call, Notification

DEPOSITS_MAX = 200
METHODS = ("GET", "POST")
THRESHOLD_MIN = 1  # SPEC 4.16


class Account:
    """What is known of it; None is unknown. `source` says where the balance was seen."""

    def __init__(self) -> None:
        self.balance: Decimal | None = None
        self.source = ""
        self.threshold: Decimal | None = None
        self.callback_method: str | None = None
        self.webhook_enabled: bool | None = None
        self.deposits: list[tuple[float, Decimal]] = []
        self._events: set[str] = set()

    def note_balance(self, call: Call) -> None:
        """`GET /v2/balance`, in either shape."""
        if self.balance is None:
            answer = json_object(call.answer)
            self._open(as_dict(answer.get("data")).get("balance", answer.get("balance")), "GET /v2/balance")

    def note_payment(self, call: Call, *, is_new: bool) -> None:
        """A payment's answer, which has the balance after it."""
        if self.balance is None:
            data = as_dict(json_object(call.answer).get("data"))
            cost = parse_amount(data.get("cost")) if is_new else ZERO
            self._open(data.get("balance"), "the first answer to POST /v2/topup", cost or ZERO)

    def note_statement(self, call: Call) -> None:
        """`GET /v2/balance-statement`: the balance after its latest entry."""
        if self.balance is None:
            entries = [one for one in dicts(json_object(call.answer).get("data")) if short(one.get("date"))]
            latest = max((one["date"] for one in entries), default="")
            # Entries of one moment stand in the order of the page, whichever that is.
            same = [one for one in entries if one["date"] == latest]
            if same:
                newest = same[0] if entries[0]["date"] == latest else same[-1]
                self._open(newest.get("balance"), "GET /v2/balance-statement")

    def _open(self, value: Any, source: str, spent: Decimal = ZERO) -> None:
        found = parse_amount(value)
        if found is not None and found + spent >= 0:
            self.balance, self.source = found + spent, source

    def note_threshold(self, call: Call) -> None:
        """`POST /v2/low-balance-threshold`."""
        data = as_dict(json_object(call.answer).get("data"))
        if "BalanceThreshold" in data:
            found = parse_amount(data["BalanceThreshold"])
            self.threshold = found if found is not None and found >= THRESHOLD_MIN else None

    def note_callback_url(self, call: Call) -> None:
        """`GET` and `POST /v2/callback-url`."""
        data = as_dict(json_object(call.answer).get("data"))
        if data.get("CallbackUrl") == "":
            self.callback_method = None
        elif short(data.get("Method")) in METHODS and data.get("CallbackUrl"):
            self.callback_method = data["Method"]

    def note_webhook(self, call: Call) -> None:
        """`GET` and `PUT` of the balance webhook."""
        answer = json_object(call.answer)
        if answer.get("webhook_url") == "":
            self.webhook_enabled = None
        elif answer.get("webhook_url"):
            self.webhook_enabled = answer.get("enabled") is not False

    def note_webhook_enabled(self, call: Call) -> None:
        """`PATCH` of the balance webhook; an answer without a body sets what was asked for."""
        enabled = json_object(call.answer).get("enabled", json_object(call.body).get("enabled"))
        if isinstance(enabled, bool):
            self.webhook_enabled = enabled

    def note_no_webhook(self, _: Call) -> None:
        """`DELETE` of the balance webhook."""
        self.webhook_enabled = None

    def note_event(self, one: Notification, start: datetime) -> None:
        """A webhook: a `balance.added` is a deposit."""
        event = json_object(one.body)
        amount, id_ = parse_amount(as_dict(event.get("data")).get("amount")), short(event.get("id"))
        if self.webhook_enabled is None and event.get("type") == "balance.added":
            self.webhook_enabled = True
        if event.get("type") != "balance.added" or amount is None or amount <= 0 or id_ in self._events:
            return
        if len(self.deposits) < DEPOSITS_MAX:
            self._events.add(id_)
            self.deposits.append((max(0.0, seconds(in_utc(one.at) - start)), amount))


PATH_CHARS_MAX = 300
STATUS_MAX = 599
LEAST = Decimal("0.0001")
_PARAMETER = re.compile(r"\{[^{}]*\}")
TOO_MANY = 429
WRONG_FROM = 500


class Failures:
    """How often each endpoint was called, and how often it failed."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.failed: Counter[tuple[str, str, int]] = Counter()

    def note(self, call: Call) -> None:
        """Any call."""
        endpoint = _endpoint(call.method, call.path)
        if endpoint is None:
            return
        self.calls[endpoint] += 1
        if call.status in (0, TOO_MANY) or call.status >= WRONG_FROM:
            self.failed[(*endpoint, call.status)] += 1

    def lines(self) -> Iterator[str]:
        """A section `faults`, to be taken out of its comment by those who want it."""
        if not self.failed:
            return
        yield "What failed at the wire is not played again. For such failures remove `# ` from the lines below:"
        yield ""
        yield "faults:"
        for (method, path, status), count in sorted(self.failed.items()):
            total = self.calls[method, path]
            yield f"  - {flow(_fault(method, path, status, count, total))}    # {count} of {total}"


def _fault(method: str, path: str, status: int, count: int, total: int) -> dict[str, Any]:
    then: dict[str, Any] = {"status": min(status, STATUS_MAX)} if status else {"disconnect": True}
    share = {} if count >= total else {"chance": max(LEAST, (Decimal(count) / total).quantize(LEAST))}
    return {"when": {"method": method, "path": path}, **share, "then": then}


@cache
def _exact() -> dict[tuple[str, str], tuple[str, str]]:
    known = [(one.method, one.path) for one in endpoints() if not one.has_parameters]
    return {one: one for one in known}


def _endpoint(method: str, path: str) -> tuple[str, str] | None:
    """The method and the path of a known endpoint, with `*` for a parameter; None for another one."""
    found = _exact().get((method, path))
    if found is not None or len(path) > PATH_CHARS_MAX:
        return found
    matching = (one for one in endpoints() if one.has_parameters and one.method == method and one.has_path(path))
    return next(((method, _PARAMETER.sub("*", one.path)) for one in matching), None)
