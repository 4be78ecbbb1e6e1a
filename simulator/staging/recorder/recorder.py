"""Recorder of traffic between a client and the service, which makes a scenario that replays the traffic."""

from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from simulator import __version__
from simulator.domain.model.money import ZERO, parse_amount
from simulator.scenario.yaml import block, comment
from simulator.staging.bodies import as_dict, decoded, short
from simulator.staging.importer.catalog_items import FittedCatalog, catalog_lines
from simulator.staging.importer.fitting import SECTIONS, Probe, fit
from simulator.staging.recorder.catalogs import Catalogs, network_item
from simulator.staging.recorder.payment_record import RecordedPayments
from simulator.staging.recorder.payment_rules import payment_rules, void_rules
from simulator.staging.recorder.products import Bills, fit_products
from simulator.staging.recorder.traffic_values import DecodedCall, Notes, count_phrase, decode_call, format_duration
from simulator.wire.traffic import Call, Notification

MESSAGES_MAX: Final = 50_000
CODE = "RECORDED"
KEY = "test_key_recorded"
SECRET = "bm90LWEtc2VjcmV0LWZvci1hLXJlY29yZGluZy1vbmU="  # noqa: S105  # anybody may know it
BALANCE = Decimal("100000.00")
METHODS = ("GET", "POST")
OURS = """\
Keys, secrets, users, addresses of receivers, e-mail addresses, names, bills, serial numbers and PINs are never written.
Parts that were not requested during the recording are defaults: see docs/record.md."""


class RecordedAccount:
    """The known facts of an account; None is unknown. `source` says where the balance was observed."""

    def __init__(self) -> None:
        self.balance: Decimal | None = None
        self.source = ""
        self.callback_method: str | None = None
        self.has_webhook = False
        self.deposits: dict[str, tuple[float, Decimal]] = {}  # by event

    def note_balance(self, call: DecodedCall) -> None:
        """Record `GET /v2/balance`, in either shape."""
        self._open(call.data.get("balance", call.answer.get("balance")), "GET /v2/balance")

    def note_payment(self, call: DecodedCall, *, is_new: bool) -> None:
        """Record a payment's answer, which has the balance after it."""
        cost = parse_amount(call.data.get("cost")) if is_new else ZERO
        self._open(call.data.get("balance"), "the first answer to POST /v2/topup", cost or ZERO)

    def _open(self, value: Any, source: str, spent: Decimal = ZERO) -> None:
        found = parse_amount(value)
        if self.balance is None and found is not None and found + spent >= 0:
            self.balance, self.source = found + spent, source

    def note_callback_url(self, call: DecodedCall) -> None:
        """Record `GET` and `POST /v2/callback-url`."""
        if call.data.get("CallbackUrl") == "":
            self.callback_method = None
        elif short(call.data.get("Method")) in METHODS and call.data.get("CallbackUrl"):
            self.callback_method = call.data["Method"]

    def note_webhook(self, call: DecodedCall) -> None:
        """Record `GET` and `PUT` of the balance webhook."""
        self.has_webhook = bool(call.answer.get("webhook_url"))

    def note_event(self, notification: Notification, at_s: float) -> None:
        """Record a webhook: a `balance.added` is a deposit."""
        event = as_dict(decoded(notification.body))
        amount = parse_amount(as_dict(event.get("data")).get("amount"))
        if event.get("type") == "balance.added" and amount is not None and amount > 0:
            self.has_webhook = True
            self.deposits.setdefault(short(event.get("id")), (max(0.0, at_s), amount))


class TrafficRecorder:
    """Takes calls and notifications of any content in the order of their times. The first 50,000 are recorded, so that
    the memory is bounded; later requests are counted.

    `names_accounts` allows account numbers in the rules, where an account's outcomes differ from the product's usual
    outcomes; without it such outcomes are replayed in their original order.
    """

    def __init__(self, *, names_accounts: bool = True) -> None:
        self._names_accounts = names_accounts
        self._catalogs, self._payments, self._account = Catalogs(), RecordedPayments(), RecordedAccount()
        self._bills = Bills()
        self._calls = self._notifications = self._left_out = 0
        self._start: datetime | None = None
        self._end: datetime | None = None
        catalogs, account = self._catalogs, self._account
        self._takers: dict[tuple[str, str], Callable[[DecodedCall], None]] = {
            ("GET", "/v2/catalog"): catalogs.note_catalog,
            ("GET", "/v2/options"): catalogs.note_options,
            ("GET", "/v2/networkstatus"): catalogs.note_network,
            ("GET", "/v2/balance"): account.note_balance,
            ("GET", "/v2/callback-url"): account.note_callback_url,
            ("POST", "/v2/callback-url"): account.note_callback_url,
            ("GET", "/v2/balance-webhook"): account.note_webhook,
            ("PUT", "/v2/balance-webhook"): account.note_webhook,
            ("GET", "/v2/bill-presentment"): self._bills.note,
            ("GET", "/v2/transactions"): self._payments.note_history,
            ("POST", "/v2/transactions/void"): self._payments.note_void,
        }

    def note_call(self, call: Call) -> None:
        """Record a request and its answer."""
        if (start := self._begin(call.at)) is None:
            return
        self._calls += 1
        take = self._takers.get((call.method, call.path))
        if (call.method, call.path) == ("POST", "/v2/topup"):  # its refusals and failures are recorded, too
            self._note_topup(decode_call(call, start))
        elif take is not None and 200 <= call.status < 300:
            take(decode_call(call, start))

    def note_notification(self, notification: Notification) -> None:
        """Record an attempt of a callback or a webhook."""
        if (start := self._begin(notification.at)) is None:
            return
        self._notifications += 1
        note = self._payments.note_callback if notification.kind == "callback" else self._account.note_event
        note(notification, (notification.at - start).total_seconds())

    def _begin(self, at: datetime) -> datetime | None:
        """Return when the record began; None for a message beyond the limit."""
        if self._calls + self._notifications >= MESSAGES_MAX:
            self._left_out += 1
            return None
        self._start = self._start or at
        self._end = at if self._end is None else max(self._end, at)
        return self._start

    def _note_topup(self, call: DecodedCall) -> None:
        before = len(self._payments.followed)
        self._payments.note_topup(call)
        if call.status in (200, 400):
            self._account.note_payment(call, is_new=len(self._payments.followed) > before)

    def scenario_text(self) -> str:
        """Return the scenario so far, as YAML that `check` accepts; deterministic for the recorded traffic."""
        return "\n".join([*self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        notes, names_accounts = Notes(), self._names_accounts
        fitted = fit_products(self._catalogs, self._payments, self._bills, names_accounts=names_accounts)
        document = self._document(fitted)
        probe = Probe(CODE, document["catalog"])
        built = fitted.built
        rules, said = payment_rules(self._payments, built.keys(), probe, notes, names_accounts=names_accounts)
        voidable = {code for code, product in built.items() if product.voidable}
        sections = {
            "payments": rules,
            "voids": list(void_rules(self._payments, voidable, notes)),
        }
        document |= {name: value for name, value in sections.items() if value}
        removed = fit(document)
        yield from comment(self._head(said, removed))
        yield ""
        yield from block({"scenario": "recorded", "description": "what was seen between a client and the service"})
        yield ""
        yield "resellers:"
        source = self._account.source
        yield from comment(
            [f"the balance comes from {source}" if source else "no balance was seen; this is our default"], 2
        )
        if "callback" in document["resellers"][0]:
            yield from comment(["the inbox receives instead of the account's own receiver"], 2)
        yield from block(document["resellers"], 2)
        yield ""
        yield from catalog_lines(fitted, "none were asked for")
        yield from _sections(document, notes)

    def _head(self, said: list[str], removed: int) -> Iterator[str]:
        span = f" in {format_duration((self._end - self._start).total_seconds())}" if self._start and self._end else ""
        calls, notifications = count_phrase(self._calls, "call"), count_phrase(self._notifications, "notification")
        yield f"Recorded by reseller-sim {__version__}: {calls} and {notifications}{span}."
        yield ""
        yield from OURS.splitlines()
        notes = list(said)
        if removed:
            notes.append(f"{count_phrase(removed, 'rule')} that no scenario can hold, or that had no effect: left out")
        if self._left_out:
            notes.append(f"{count_phrase(self._left_out, 'message')} after the first {MESSAGES_MAX}: left out")
        if notes:
            yield ""
            yield "Beside that:"
            yield from (f"- {note}" for note in notes)

    def _document(self, fitted: FittedCatalog) -> dict[str, Any]:
        account = self._account
        reseller: dict[str, Any] = {"code": CODE, "balance": BALANCE if account.balance is None else account.balance}
        reseller["api_keys"] = [{"key": KEY, "secret": SECRET}]
        if account.callback_method is not None or self._payments.callbacks:
            reseller["callback"] = {"url": "inbox:callbacks", "method": account.callback_method or "POST"}
        if account.has_webhook:
            reseller["balance_webhook"] = {"url": "inbox:webhooks"}
        network = {
            code: network_item(changes)
            for code, changes in sorted(self._catalogs.network.items())
            if code in fitted.built and (len(changes) > 1 or changes[0][1] != "Healthy")
        }
        deposits = [
            {"at": format_duration(at_s), "deposit": {"reseller": CODE, "amount": amount}}
            for at_s, amount in account.deposits.values()
        ]
        document: dict[str, Any] = {"resellers": [reseller], "catalog": fitted.document}
        return document | ({"network": network} if network else {}) | ({"schedule": deposits} if deposits else {})


def _sections(document: dict[str, Any], notes: Notes) -> Iterator[str]:
    for name in ("network", "schedule"):
        if name in document:
            yield ""
            yield from block({name: document[name]})
    for name in SECTIONS:
        if name not in document:
            continue
        yield ""
        yield f"{name}:"
        for rule in document[name]:
            yield from comment(notes[id(rule)], 2)
            yield from block([rule], 2)
