"""The account of a reseller: balance, threshold of alerts, configuration of callbacks, and the balance statement
(SPEC 2.5, 2.8, 2.9, 4.15)."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.history import Total
from simulator.domain.model.wallet import Entry, EntryType
from simulator.wire.formats import day_first, number, year_first, year_first_ms
from simulator.wire.option_lists import Page, links_and_meta


def balance(amount: Decimal, *, flat: bool = False) -> dict[str, Any]:
    """Return the balance record; SPEC does not show it."""
    record = {"balance": number(amount), "currency": "MYR"}
    return record if flat else {"data": record}


def threshold(email: str, amount: Decimal, now: datetime) -> dict[str, Any]:
    """Return the threshold that was set; the date in this `@metadata` has the year first."""
    note = f"An alert goes to {email} when the balance falls below RM {amount:.2f}."
    return {
        "data": {"Status": "Success", "Email": email, "BalanceThreshold": number(amount), "Note": note},
        "@metadata": {"status_code": 200, "last_updated": year_first(now)},
    }


def configuration(config: CallbackConfig, now: datetime) -> dict[str, Any]:
    """Return the callback configuration; `last_updated` is now when it was never set."""
    return {
        "data": {"Status": "Success", "CallbackUrl": config.url, "Method": config.method},
        "@metadata": {"status_code": 200, "last_updated": day_first(config.updated or now)},
    }


SUMMARY: Mapping[str, EntryType] = {
    "total_transactions": EntryType.TRANSACTION,
    "total_deposit": EntryType.DEPOSIT,
    "total_refund": EntryType.REFUND,
}


def statement(
    entries: list[Entry],
    page: Page,
    totals: Mapping[EntryType, Total],
    address: str,
    query: Mapping[str, str],
    *,
    unsigned: bool = False,
    commissions: bool = False,
) -> dict[str, Any]:
    """Return the body of a 200. `totals` cover the whole search; `unsigned` omits their sign, and `commissions`
    counts commissions as deposits. `address` is the statement's URL, and the links repeat `query`."""
    if commissions:
        deposits, others = totals[EntryType.DEPOSIT], totals[EntryType.COMMISSION]
        both = Total(deposits.count + others.count, deposits.amount + others.amount)
        totals = {**totals, EntryType.DEPOSIT: both}
    return {
        "data": [_entry(entry) for entry in entries],
        **links_and_meta(page, address, query),
        "summary": {name: _total(totals[type_], unsigned) for name, type_ in SUMMARY.items()},
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "date": year_first_ms(entry.at),
        "amount": number(entry.amount),
        "balance": number(entry.balance),
        "remarks": entry.remarks,
        "type": entry.type.value,
    }


def _total(total: Total, unsigned: bool) -> dict[str, Any]:
    return {"amount": number(abs(total.amount) if unsigned else total.amount), "count": total.count}
