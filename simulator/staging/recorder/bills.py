"""Observed bill look-ups. Only the fields of a biller and the range of its amounts are stored; names, addresses and the
bills themselves are not."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from simulator.domain.model.bills import BillError, BillField
from simulator.domain.model.money import parse_number
from simulator.staging.importer.fitting import Probe
from simulator.staging.recorder.rules import ObservedRequest, Outcome, explain, rules_of
from simulator.staging.recorder.values import DecodedCall, Notes, counted, plain_line, short
from simulator.wire.bills import ERRORS

KEPT = ("product", "account", "biller_code", "ref2", "amount")
ERROR_CHARS_MAX = 100
FOUND = ""
FOUND_ONE = (FOUND, "")
_IDS = {message: str(error) for error, (message, _) in ERRORS.items()}


@dataclass(slots=True)
class SeenBiller:
    """The bills of a product."""

    returns: set[str] = field(default_factory=set)
    lowest: Decimal | None = None
    highest: Decimal | None = None
    names: set[str] = field(default_factory=set)


@dataclass(slots=True)
class SeenLookUp:
    """A look-up: its parameters, and the error and its label; no error for a bill."""

    query: dict[str, str]
    error: str
    label: str


class Bills:
    """All observed look-ups."""

    def __init__(self) -> None:
        self.billers: dict[str, SeenBiller] = {}
        self._lookups: list[SeenLookUp] = []

    def note(self, call: DecodedCall) -> None:
        """`GET /v2/bill-presentment`."""
        query = {name: short(value) for name, value in call.query.items() if name in KEPT}
        data, product = call.data, query.get("product", "")
        if not product or "message" not in data or call.status not in (200, 400):
            return
        message, label = short(data["message"]), short(call.answer.get("error_message"))
        if call.status == 200:
            self._note_bill(product, data)
        if call.status == 200 or message:
            error = FOUND if call.status == 200 else _IDS.get(message, message[:ERROR_CHARS_MAX])
            usual = ERRORS.get(error, (message, message))[1]
            self._lookups.append(SeenLookUp(query, plain_line(error), "" if label in ("", usual) else label))

    def _note_bill(self, product: str, data: dict[str, Any]) -> None:
        biller = self.billers.setdefault(product, SeenBiller())
        biller.returns |= {str(name) for name in BillField if data.get(name) not in (None, "")}
        name, owed = short(data.get("BillerName")), parse_number(data.get("Outstanding"))
        if name and len(biller.names) <= 1:
            biller.names.add(name)
        if owed is not None and owed > 0:
            biller.lowest = owed if biller.lowest is None else min(biller.lowest, owed)
            biller.highest = owed if biller.highest is None else max(biller.highest, owed)

    def biller(self, product: str) -> dict[str, Any] | None:
        """Return `bill` of a product; None without evidence that it has bills."""
        seen = self.billers.get(product)
        if seen is None:
            mine = [one.error for one in self._lookups if one.query["product"] == product]
            without = (FOUND, BillError.UNAVAILABLE, BillError.PRODUCT)
            return {} if any(error not in without for error in mine) else None
        shown: dict[str, Any] = {}
        if len(seen.names) == 1:
            shown["biller_name"] = plain_line(next(iter(seen.names)))
        if seen.returns:
            shown["returns"] = [str(name) for name in BillField if name in seen.returns]
        if seen.lowest is not None:
            shown["outstanding"] = {"min": seen.lowest, "max": seen.highest}
        return shown

    def rules(
        self, products: set[str], probe: Probe, notes: Notes, *, names_accounts: bool
    ) -> Iterator[dict[str, Any]]:
        """Yield the rules of the section `bills` for these products. Errors from catalog and form need no rules."""
        for product in sorted(products):
            lookups = [one for one in self._lookups if one.query["product"] == product]
            yield from _of_product(product, lookups, probe, notes, names_accounts=names_accounts)


def _of_product(
    product: str, lookups: list[SeenLookUp], probe: Probe, notes: Notes, *, names_accounts: bool
) -> Iterator[dict[str, Any]]:
    """Yield the rules of a product. Rules precede the checks of catalog and form, so a look-up that these decide needs
    no rule. A bill needs no rule either, unless a catch-all rule finds no bill."""
    usual = Counter((one.error, one.label) for one in lookups).most_common(1)
    is_found = bool(usual) and usual[0][0] == FOUND_ONE
    own = [_outcome(one, probe) if is_found else (one.error, one.label) for one in lookups]
    outcomes = list(dict.fromkeys(own))
    if not outcomes or outcomes == [FOUND_ONE]:
        return
    observed = [
        ObservedRequest(one.query.get("account", ""), one.query.get("amount", ""), outcomes.index(outcome))
        for one, outcome in zip(lookups, own, strict=True)
    ]
    said = [Outcome(_then(*one), f"{counted(own.count(one), 'look-up')}: {one[0] or 'a bill'}") for one in outcomes]
    parts = explain(observed, names_accounts=names_accounts, by_amount=False)
    needless = outcomes.index(FOUND_ONE) if is_found and FOUND_ONE in outcomes else -1
    yield from rules_of(product, (part for part in parts if needless not in part.outcomes), said, notes)


def _outcome(one: SeenLookUp, probe: Probe) -> tuple[str, str]:
    """Return the outcome that needs a rule; a bill if catalog and form decide."""
    return FOUND_ONE if one.error == probe.bill_error(one.query) else (one.error, one.label)


def _then(error: str, label: str) -> dict[str, Any]:
    if error == FOUND:
        return {"bill": {}}
    return {"error": error, "error_message": plain_line(label)} if label else {"error": error}
