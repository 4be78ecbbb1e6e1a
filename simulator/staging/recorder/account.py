"""The observed account: first balance, deposits, threshold, receivers; and how often the service failed.

Addresses of receivers and the owner's e-mail are not stored.
"""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.domain.model.money import ZERO, parse_amount
from simulator.scenario.yaml import flow
from simulator.staging.bodies import as_dict, decoded, dicts
from simulator.staging.recorder.values import DecodedCall, short
from simulator.wire.traffic import Call, Notification

METHODS = ("GET", "POST")
THRESHOLD_MIN = 1  # SPEC 4.16
LEAST_CHANCE = Decimal("0.0001")
_PARAMETER = re.compile(r"\{[^{}]*\}")


class RecordedAccount:
    """The known facts of an account; None is unknown. `source` says where the balance was observed."""

    def __init__(self) -> None:
        self.balance: Decimal | None = None
        self.source = ""
        self.threshold: Decimal | None = None
        self.callback_method: str | None = None
        self.webhook_enabled: bool | None = None
        self.deposits: dict[str, tuple[float, Decimal]] = {}  # by event

    def note_balance(self, call: DecodedCall) -> None:
        """`GET /v2/balance`, in either shape."""
        self._open(call.data.get("balance", call.answer.get("balance")), "GET /v2/balance")

    def note_payment(self, call: DecodedCall, *, is_new: bool) -> None:
        """Record a payment's answer, which has the balance after it."""
        cost = parse_amount(call.data.get("cost")) if is_new else ZERO
        self._open(call.data.get("balance"), "the first answer to POST /v2/topup", cost or ZERO)

    def note_statement(self, call: DecodedCall) -> None:
        """`GET /v2/balance-statement`: the balance after its latest entry."""
        entries = [one for one in dicts(call.answer.get("data")) if short(one.get("date"))]
        latest = max((one["date"] for one in entries), default="")
        # Entries with the same time are in the order of the page, whichever that is.
        same = [one for one in entries if one["date"] == latest]
        if same:
            newest = same[0] if entries[0]["date"] == latest else same[-1]
            self._open(newest.get("balance"), "GET /v2/balance-statement")

    def _open(self, value: Any, source: str, spent: Decimal = ZERO) -> None:
        found = parse_amount(value)
        if self.balance is None and found is not None and found + spent >= 0:
            self.balance, self.source = found + spent, source

    def note_threshold(self, call: DecodedCall) -> None:
        """`POST /v2/low-balance-threshold`."""
        if "BalanceThreshold" in call.data:
            found = parse_amount(call.data["BalanceThreshold"])
            self.threshold = found if found is not None and found >= THRESHOLD_MIN else None

    def note_callback_url(self, call: DecodedCall) -> None:
        """`GET` and `POST /v2/callback-url`."""
        if call.data.get("CallbackUrl") == "":
            self.callback_method = None
        elif short(call.data.get("Method")) in METHODS and call.data.get("CallbackUrl"):
            self.callback_method = call.data["Method"]

    def note_webhook(self, call: DecodedCall) -> None:
        """`GET` and `PUT` of the balance webhook."""
        if call.answer.get("webhook_url") == "":
            self.webhook_enabled = None
        elif call.answer.get("webhook_url"):
            self.webhook_enabled = call.answer.get("enabled") is not False

    def note_webhook_enabled(self, call: DecodedCall) -> None:
        """`PATCH` of the balance webhook; an answer without a body sets what was asked for."""
        enabled = call.answer.get("enabled", call.asked.get("enabled"))
        if isinstance(enabled, bool):
            self.webhook_enabled = enabled

    def note_no_webhook(self, _: DecodedCall) -> None:
        """`DELETE` of the balance webhook."""
        self.webhook_enabled = None

    def note_event(self, one: Notification, at_s: float) -> None:
        """Record a webhook: a `balance.added` is a deposit."""
        event = as_dict(decoded(one.body))
        amount, id_ = parse_amount(as_dict(event.get("data")).get("amount")), short(event.get("id"))
        if event.get("type") != "balance.added":
            return
        if self.webhook_enabled is None:
            self.webhook_enabled = True
        if amount is not None and amount > 0:
            self.deposits.setdefault(id_, (max(0.0, at_s), amount))


class Failures:
    """How often each endpoint was called, and how often it failed: the service's own errors, too many requests, broken
    connections."""

    def __init__(self) -> None:
        self.calls: Counter[Endpoint] = Counter()
        self.failed: Counter[tuple[Endpoint, int]] = Counter()

    def note(self, call: Call) -> None:
        """Record any call."""
        found = (one for one in endpoints() if one.method == call.method and one.has_path(call.path))
        if (endpoint := next(found, None)) is None:
            return
        self.calls[endpoint] += 1
        if call.status in (0, 429) or call.status >= 500:
            self.failed[endpoint, min(call.status, 599)] += 1

    def lines(self) -> Iterator[str]:
        """Yield a section `faults`, which is written as a comment."""
        if not self.failed:
            return
        yield "Failures of the network are not played again. To play them, remove `# ` from the lines below:"
        yield ""
        yield "faults:"
        for (endpoint, status), count in sorted(self.failed.items(), key=lambda one: (str(one[0][0]), one[0][1])):
            total = self.calls[endpoint]
            then: dict[str, Any] = {"status": status} if status else {"disconnect": True}
            share = max(LEAST_CHANCE, (Decimal(count) / total).quantize(LEAST_CHANCE))
            chance = {} if count >= total else {"chance": share}
            when = {"method": endpoint.method, "path": _PARAMETER.sub("*", endpoint.path)}
            yield f"  - {flow({'when': when, **chance, 'then': then})}    # {count} of {total}"
