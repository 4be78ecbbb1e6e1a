"""The observed account: first balance, deposits, threshold, receivers.

Addresses of receivers and the owner's e-mail are not stored.
"""

from decimal import Decimal
from typing import Any

from simulator.domain.model.money import ZERO, parse_amount
from simulator.staging.bodies import as_dict, decoded
from simulator.staging.recorder.values import DecodedCall, short
from simulator.wire.traffic import Notification

METHODS = ("GET", "POST")
THRESHOLD_MIN = 1  # SPEC 4.16


class RecordedAccount:
    """The known facts of an account; None is unknown. `source` says where the balance was observed."""

    def __init__(self) -> None:
        self.balance: Decimal | None = None
        self.source = ""
        self.threshold: Decimal | None = None
        self.callback_method: str | None = None
        self.has_webhook = False
        self.deposits: dict[str, tuple[float, Decimal]] = {}  # by event

    def note_balance(self, call: DecodedCall) -> None:
        """`GET /v2/balance`, in either shape."""
        self._open(call.data.get("balance", call.answer.get("balance")), "GET /v2/balance")

    def note_payment(self, call: DecodedCall, *, is_new: bool) -> None:
        """Record a payment's answer, which has the balance after it."""
        cost = parse_amount(call.data.get("cost")) if is_new else ZERO
        self._open(call.data.get("balance"), "the first answer to POST /v2/topup", cost or ZERO)

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
        self.has_webhook = bool(call.answer.get("webhook_url"))

    def note_event(self, one: Notification, at_s: float) -> None:
        """Record a webhook: a `balance.added` is a deposit."""
        event = as_dict(decoded(one.body))
        amount, id_ = parse_amount(as_dict(event.get("data")).get("amount")), short(event.get("id"))
        if event.get("type") != "balance.added":
            return
        self.has_webhook = True
        if amount is not None and amount > 0:
            self.deposits.setdefault(id_, (max(0.0, at_s), amount))
