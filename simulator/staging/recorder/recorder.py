"""Records what passes between a client and the service, and makes a scenario of it that plays it again."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator import __version__
from simulator.scenario.yaml import block, comment
from simulator.staging.importer.catalog import FittedCatalog, catalog_lines
from simulator.staging.importer.fitting import SECTIONS, Probe, fit
from simulator.staging.recorder.account import Account, Failures
from simulator.staging.recorder.bills import Bills
from simulator.staging.recorder.cases import Cases
from simulator.staging.recorder.catalogs import Catalogs, network_item
from simulator.staging.recorder.payments import Payments
from simulator.staging.recorder.products import fitted_products
from simulator.staging.recorder.rules import payment_rules
from simulator.staging.recorder.values import Notes, counted, duration, in_utc, seconds
from simulator.wire.traffic import Call, Notification

CODE = "RECORDED"
KEY = "test_key_recorded"
SECRET = "bm90LWEtc2VjcmV0LWZvci1hLXJlY29yZGluZy1vbmU="  # noqa: S105  # anybody may know it
INBOX = "inbox:callbacks"
WEBHOOKS_INBOX = "inbox:webhooks"
BALANCE = Decimal("100000.00")
HINT = "none were asked for"

OURS = """\
Keys, secrets, users, addresses of receivers, e-mail addresses, names, bills, serial numbers and PINs are never written.
What nobody asked for while it was recorded is ours: see docs/record.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """All that was seen, and when it began and ended."""

    catalogs: Catalogs
    payments: Payments
    account: Account
    bills: Bills
    voids: Cases
    disputes: Cases
    failures: Failures
    calls: int
    notifications: int
    start: datetime | None
    end: datetime | None


def written(record: Record, *, names_accounts: bool) -> Iterator[str]:
    """The lines of the file."""
    notes = Notes()
    fitted = fitted_products(
        record.catalogs, record.payments, record.bills, record.voids, names_accounts=names_accounts
    )
    document = _document(record, fitted)
    probe = Probe(CODE, document["catalog"])
    built = fitted.built
    payments = payment_rules(record.payments, built.keys(), probe, notes, names_accounts=names_accounts)
    voidable = {code for code, product in built.items() if product.voidable}
    with_bills = {code for code, product in built.items() if product.bill is not None}
    sections = {
        "timelines": payments.timelines,
        "payments": payments.rules,
        "voids": list(record.voids.rules(voidable, notes, names_accounts=names_accounts)),
        "disputes": list(record.disputes.rules(None, notes, names_accounts=names_accounts)),
        "bills": list(record.bills.rules(with_bills, probe, notes, names_accounts=names_accounts)),
    }
    document |= {name: value for name, value in sections.items() if value}
    removed = fit(document)
    yield from comment(_head(record, payments.notes, removed))
    yield ""
    yield from block({"scenario": "recorded", "description": "what was seen between a client and the service"})
    yield ""
    yield from _reseller(record.account, document)
    yield ""
    yield from catalog_lines(fitted, HINT)
    yield from _sections(document, notes)
    failures = list(record.failures.lines())
    if failures:
        yield ""
        yield from comment(failures)


def _head(record: Record, said: list[str], removed: int) -> Iterator[str]:
    span = (
        ""
        if record.start is None or record.end is None
        else f" in {duration((record.end - record.start).total_seconds())}"
    )
    calls, told = counted(record.calls, "call"), counted(record.notifications, "notification")
    yield f"Recorded by reseller-sim {__version__}: {calls} and {told}{span}."
    yield ""
    yield from OURS.splitlines()
    updates = len(record.catalogs.updates)
    notes = list(said)
    if updates > 1:
        notes.append(f"the catalog had {updates} versions: this file has the latest of each product")
    if removed:
        notes.append(f"{counted(removed, 'rule')} that no scenario can hold, or that had no effect: left out")
    if notes:
        yield ""
        yield "Beside that:"
        yield from (f"- {one}" for one in notes)


def _document(record: Record, fitted: FittedCatalog) -> dict[str, Any]:
    account = record.account
    reseller: dict[str, Any] = {"code": CODE, "balance": BALANCE if account.balance is None else account.balance}
    if account.threshold is not None:
        reseller["low_balance_threshold"] = account.threshold
    reseller["api_keys"] = [{"key": KEY, "secret": SECRET}]
    if account.callback_method is not None or record.payments.callbacks:
        reseller["callback"] = {"url": INBOX, "method": account.callback_method or "POST"}
    if account.webhook_enabled is not None:
        reseller["balance_webhook"] = {"url": WEBHOOKS_INBOX, "enabled": account.webhook_enabled}
    document: dict[str, Any] = {"resellers": [reseller], "catalog": fitted.document}
    network = {
        code: network_item(changes, duration)
        for code, changes in sorted(record.catalogs.network.items())
        if code in fitted.built and (len(changes) > 1 or changes[0][1] != "Healthy")
    }
    deposits = [
        {"at": duration(at_s), "deposit": {"reseller": CODE, "amount": amount}} for at_s, amount in account.deposits
    ]
    return document | ({"network": network} if network else {}) | ({"schedule": deposits} if deposits else {})


def _reseller(account: Account, document: dict[str, Any]) -> Iterator[str]:
    yield "resellers:"
    source = f"the balance is that of {account.source}" if account.source else "no balance was seen; this one is ours"
    yield from comment([source], 2)
    if "callback" in document["resellers"][0]:
        yield from comment(["the inbox receives in place of the account's own receiver"], 2)
    yield from block(document["resellers"], 2)


def _sections(document: dict[str, Any], notes: Notes) -> Iterator[str]:
    for name in ("network", "schedule", "timelines"):
        if name in document:
            yield ""
            yield from block({name: document[name]})
    for name in SECTIONS:
        if name not in document:
            continue
        yield ""
        yield f"{name}:"
        for rule in document[name]:
            yield from comment(notes.of(rule), 2)
            yield from block([rule], 2)


_OK = 200
_SUCCESSES = range(200, 300)
_Note = Callable[["Recorder", Call], None]


class Recorder:
    """Takes calls and notifications in the order of their times, in bounded memory, whatever they have in them.

    `names_accounts` allows account numbers in the rules, where an account's outcomes differ from those of its product;
    without it such outcomes are played in the order in which they came.
    """

    def __init__(self, *, names_accounts: bool = True) -> None:
        self._names_accounts = names_accounts
        self._start: datetime | None = None
        self._catalogs = Catalogs()
        self._payments = Payments()
        self._account = Account()
        self._bills = Bills()
        self._voids = Cases("voids")
        self._disputes = Cases("disputes")
        self._failures = Failures()
        self._calls = self._notifications = 0
        self._end: datetime | None = None

    def note_call(self, call: Call) -> None:
        """Take a request and its answer."""
        self._begin(call.at)
        self._calls += 1
        self._failures.note(call)
        note = _NOTES.get((call.method, call.path))
        if note is not None:
            note(self, call)

    def note_notification(self, one: Notification) -> None:
        """Take an attempt of a callback or a webhook."""
        start = self._begin(one.at)
        self._notifications += 1
        if one.kind == "callback":
            self._payments.note_callback(one)
        else:
            self._account.note_event(one, start)

    def scenario_text(self) -> str:
        """The scenario so far, as YAML that `check` accepts; the same for the same traffic."""
        record = Record(
            catalogs=self._catalogs,
            payments=self._payments,
            account=self._account,
            bills=self._bills,
            voids=self._voids,
            disputes=self._disputes,
            failures=self._failures,
            calls=self._calls,
            notifications=self._notifications,
            start=self._start,
            end=self._end,
        )
        return "\n".join([*written(record, names_accounts=self._names_accounts), ""])

    def _begin(self, at: datetime) -> datetime:
        at = in_utc(at)
        if self._start is None:
            self._start = at
        self._end = at if self._end is None else max(self._end, at)
        return self._start

    def _note_topup(self, call: Call) -> None:
        before = len(self._payments.followed)
        self._payments.note_topup(call)
        if call.status in (_OK, 400):
            self._account.note_payment(call, is_new=len(self._payments.followed) > before)

    def _note_void(self, call: Call) -> None:
        if call.status == _OK:
            self._voids.note(call, self._payments)

    def _note_dispute(self, call: Call) -> None:
        if call.status == _OK:
            self._disputes.note(call, self._payments)

    def _note_network(self, call: Call) -> None:
        if call.status == _OK:
            self._catalogs.note_network(call, seconds(in_utc(call.at) - self._begin(call.at)))


def _when_ok(pick: Callable[[Recorder], Callable[[Call], None]]) -> _Note:
    """What takes a call that succeeded, 201 and 204 included; other answers have nothing in them."""

    def note(recorder: Recorder, call: Call) -> None:
        if call.status in _SUCCESSES:
            pick(recorder)(call)

    return note


_NOTES: Mapping[tuple[str, str], _Note] = {
    ("GET", "/v2/catalog"): _when_ok(lambda to: to._catalogs.note_catalog),
    ("GET", "/v2/options"): _when_ok(lambda to: to._catalogs.note_options),
    ("GET", "/v1/interbank/billers"): _when_ok(lambda to: to._catalogs.note_billers),
    ("GET", "/v2/subproducts"): _when_ok(lambda to: to._catalogs.note_subproducts),
    ("GET", "/v2/product-list"): _when_ok(lambda to: to._catalogs.note_product_list),
    ("GET", "/v2/networkstatus"): Recorder._note_network,
    ("GET", "/v2/balance"): _when_ok(lambda to: to._account.note_balance),
    ("GET", "/v2/balance-statement"): _when_ok(lambda to: to._account.note_statement),
    ("POST", "/v2/low-balance-threshold"): _when_ok(lambda to: to._account.note_threshold),
    ("GET", "/v2/callback-url"): _when_ok(lambda to: to._account.note_callback_url),
    ("POST", "/v2/callback-url"): _when_ok(lambda to: to._account.note_callback_url),
    ("GET", "/v2/balance-webhook"): _when_ok(lambda to: to._account.note_webhook),
    ("PUT", "/v2/balance-webhook"): _when_ok(lambda to: to._account.note_webhook),
    ("DELETE", "/v2/balance-webhook"): _when_ok(lambda to: to._account.note_no_webhook),
    ("PATCH", "/v2/balance-webhook/enabled"): _when_ok(lambda to: to._account.note_webhook_enabled),
    ("POST", "/v2/topup"): Recorder._note_topup,
    ("GET", "/v2/transactions"): _when_ok(lambda to: to._payments.note_history),
    ("GET", "/v2/bill-presentment"): lambda to, call: to._bills.note(call),
    ("POST", "/v2/transactions/void"): Recorder._note_void,
    ("POST", "/v2/transactions/check"): Recorder._note_dispute,
}
