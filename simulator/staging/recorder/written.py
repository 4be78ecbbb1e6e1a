"""The scenario of a recording, as a file with comments: from what each part was learnt, and what could not be kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator import __version__
from simulator.scenario.yaml import block, comment
from simulator.staging.importer.catalog import FittedCatalog, catalog_lines
from simulator.staging.recorder.account import Account
from simulator.staging.recorder.bills import Bills
from simulator.staging.recorder.cases import Cases
from simulator.staging.recorder.catalogs import Catalogs, network_item
from simulator.staging.recorder.failures import Failures
from simulator.staging.recorder.fitting import SECTIONS, Probe, fit
from simulator.staging.recorder.payment_rules import payment_rules
from simulator.staging.recorder.payments import Payments
from simulator.staging.recorder.products import fitted_products
from simulator.staging.recorder.writing import Notes, counted, duration

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
