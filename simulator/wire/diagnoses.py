"""Details in words for `X-Sim-Diagnosis` and the journal: the mistake, and the correct value.

A sentence has parts; a part that names an empty fact is left out.
"""

from collections.abc import Mapping
from decimal import Decimal
from string import Formatter

from simulator.domain.model.catalog import Money
from simulator.domain.model.details import Detail, DetailKind
from simulator.domain.model.money import DIGITS_AFTER_MAX, DIGITS_BEFORE_MAX, decimal_text
from simulator.domain.model.transactions import Status
from simulator.short_text import ELLIPSIS, QUOTED_CHARS_MAX, SENTENCE_CHARS_MAX, shortened
from simulator.wire.formats import amount_text
from simulator.wire.payment_answers import STATUS_NAMES

ITEMS_MAX = 12

SENTENCES: Mapping[DetailKind, tuple[str, ...]] = {
    DetailKind.NO_PRODUCT: ("no product {product}", "; did you mean {nearest}?"),
    DetailKind.BLANK_PRODUCT: ("product is blank",),
    DetailKind.INACTIVE_PRODUCT: ("product {product} is inactive",),
    DetailKind.NO_ACCOUNT: ("account is empty", "; it must match {pattern}", " ({message})"),
    DetailKind.ACCOUNT_PATTERN: ("account must match {pattern}", " ({message})"),
    DetailKind.FOREIGN_ACCOUNT: (
        "account {account} does not belong to",
        " option {code} of",
        " {whose}",
        "; it has account {accounts}",
    ),
    DetailKind.MISSING: ("{name} is missing", ", biller {biller} requires it", ", {product} requires it"),
    DetailKind.EXTRA_NO_TEXT: ("{name} must be a string",),
    DetailKind.EXTRA_PATTERN: ("{name} must match {pattern}", " ({message})"),
    DetailKind.EXTRA_TOO_LARGE: ("{name} has more than {most} characters and items, its name included",),
    DetailKind.NO_OPTION: (
        "{name}: {product} has no option {code}",
        " for {whom}",
        "; did you mean {nearest}?",
        "; it has {known}",
    ),
    DetailKind.INACTIVE_OPTION: ("{name}: option {code} is inactive",),
    DetailKind.UNSUPPORTED_EXTRAS: ("{product} has no {names}", "; it has {known}"),
    DetailKind.IGNORED_EXTRAS: (
        "{product} has no {names}",
        ", ignored",
        "; did you mean {nearest}?",
    ),
    DetailKind.NO_NUMBER: ("amount {amount} is not a decimal number such as 10.50",),
    DetailKind.TOO_MANY_DIGITS: (
        f"amount {{amount}} has more than {DIGITS_BEFORE_MAX} digits before the point or {DIGITS_AFTER_MAX} after it",
    ),
    DetailKind.NOT_POSITIVE: ("amount must be above 0; {amount} is not",),
    DetailKind.NOT_WHOLE: ("{product} accepts whole amounts only; {amount} is not one",),
    DetailKind.NO_CENTS: ("amount {amount} has more than two decimals",),
    DetailKind.NOT_SOLD: (
        "{product} sells {sold}",
        " and {left_out} others",
        " to {whom}",
        "; {amount} is not among them",
    ),
    DetailKind.NOTHING_SOLD: ("{product} has nothing on sale", " for {whom}"),
    DetailKind.TOO_LITTLE: ("amount must be at least {low}", " for biller {biller}", "; {amount} is less"),
    DetailKind.TOO_MUCH: ("amount must be at most {high}", " for biller {biller}", "; {amount} is more"),
    DetailKind.PRICE_AMOUNT: (
        "{price} is {code}'s price.amount; send its denomination {denomination}",
        " and extras.subproduct_code {plan}",
    ),
    DetailKind.PRICE_AMOUNT_TAKEN: (
        "{price} is {code}'s price.amount and was accepted as its denomination {denomination}",
    ),
    DetailKind.PRICE_OF_ANOTHER: (
        "{denomination} is the denomination of {code} and the price.amount of {priced}; an amount is a denomination",
    ),
    DetailKind.PLAN_MISMATCH: ("amount of {code} is {denomination}, not {amount}",),
    DetailKind.PLAN_REQUIRED: ("{amount} is the amount of {codes}; send one of them as extras.subproduct_code",),
    DetailKind.BALANCE: (
        "the wallet has {balance}, this payment",
        " costs {cost}",
        " needs its face value of {face}",
    ),
    DetailKind.REFID_EXISTS: ("refid {refid} exists with {kept}; the original was returned",),
    DetailKind.REFID_CONFLICT: ("refid {refid} exists with {kept}; send that again, or a new refid",),
    DetailKind.NO_TRANSACTION: (
        "no transaction has {field} {reference}",
        "; did you mean {nearest}?",
        "; a payment that was refused with 400 creates none",
    ),
    DetailKind.OTHER_REFERENCE: ("{reference} is a {field}; send it as {field}",),
    DetailKind.OTHER_RESELLER: ("transaction {reference} belongs to reseller {owner}, not to {reseller}",),
    DetailKind.REFID_IGNORED: ("trxid takes precedence: refid {refid} was ignored, the transaction has refid {kept}",),
    DetailKind.NOT_SUCCESSFUL: ("transaction {trxid} is {status}; only Succesful transactions can be {done}",),
    DetailKind.CASE_EXISTS: ("transaction {trxid} already has a {kind}, {case}, which is {state}",),
    DetailKind.NOT_VOIDABLE: ("{product} is not voidable", "; voidable: {able}"),
    DetailKind.NO_BILLS: ("{product} has no bill presentment", "; products with bills: {able}"),
    DetailKind.IGNORED_BILLER: ("{product} has no billers: {names} ignored",),
}

_PARTS: Mapping[DetailKind, tuple[tuple[str, frozenset[str]], ...]] = {
    kind: tuple((part, frozenset(name for _, name, _, _ in Formatter().parse(part) if name)) for part in parts)
    for kind, parts in SENTENCES.items()
}


def sentence(detail: Detail) -> str:
    """Return a detail in words, of at most `SENTENCE_CHARS_MAX` characters."""
    facts = {name: shown(value) for name, value in detail.facts.items()}
    parts = (part for part, names in _PARTS[detail.kind] if all(facts.get(name) for name in names))
    text = "".join(parts).format_map(facts)
    return text if len(text) <= SENTENCE_CHARS_MAX else shortened(text, SENTENCE_CHARS_MAX - len(ELLIPSIS))


def shown(value: object) -> str:
    """Return a fact as a sentence names it, within bounds; empty for an empty fact."""
    if value is None or value is False or value == ():
        return ""
    if isinstance(value, Status):
        return STATUS_NAMES[value]
    if isinstance(value, Money):
        return amount_text(value.amount)
    if isinstance(value, Decimal):
        is_short = value.is_finite() and abs(value.adjusted()) < QUOTED_CHARS_MAX
        return shortened(decimal_text(value) if is_short else str(value))
    if isinstance(value, tuple):
        more = [f"{len(value) - ITEMS_MAX} more"] if len(value) > ITEMS_MAX else []
        return ", ".join([*map(shown, value[:ITEMS_MAX]), *more])
    if isinstance(value, Mapping):
        return " and ".join(f"{name} {shown(part) or '(none)'}" for name, part in value.items())
    return shortened(str(value))
