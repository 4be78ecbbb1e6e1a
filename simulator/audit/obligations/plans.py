"""Amounts and plan codes of products with options (SPEC 2.1, 4.11, 9)."""

import re
from collections.abc import Iterator

from simulator.audit.reading import shown
from simulator.audit.registry import Finding, Occasion, obligation
from simulator.audit.traffic import Traffic

_OF_A_CODE = re.compile("unknown|option code", re.IGNORECASE)
PLAN_CODE_FAILURE = 44


@obligation(
    "denomination-is-paid",
    "4.11",
    "error",
    "The amount of an option is its denomination, and not its price.",
    "Send the option's denomination as amount; price.amount is what you charge.",
)
def denomination_is_paid(traffic: Traffic) -> Iterator[Occasion]:
    """By the options that the client was shown before it paid."""
    for one in traffic.orders:
        shelf = traffic.shelf
        if one.code:
            chosen = shelf.offers.before(one.n, (one.product, one.code))
            offers = [] if chosen is None else [chosen]
        else:
            offers = list(shelf.offers_before(one.n, one.product))
        known = [offer for offer in offers if offer.denomination is not None]
        if not known or one.amount is None:
            continue
        is_denomination = any(one.amount == offer.denomination for offer in known)
        if not is_denomination and any(one.amount == offer.price for offer in known):
            yield Finding((one.n,), f"request {one.n} pays {one.amount}, an option's price and no denomination")
        else:
            yield None


@obligation(
    "plan-code-sent",
    "4.11",
    "error",
    "A payment whose amount several plans share says which one, in extras.subproduct_code.",
    "Send the code of the option that the user chose as extras.subproduct_code.",
)
def plan_code_sent(traffic: Traffic) -> Iterator[Occasion]:
    """A payment without one that was refused with 44; one that the amount identifies is none, nor is a refusal that
    speaks of a code, which was not sent."""
    for one in traffic.payments:
        if not one.code and one.status_code == PLAN_CODE_FAILURE and not _OF_A_CODE.match(one.remarks):
            yield Finding((one.n,), f"request {one.n} names no plan of {shown(one.product)}")
        elif one.code or next(traffic.shelf.offers_before(one.n, one.product), None) is not None:
            yield None


@obligation(
    "plan-code-exact",
    "4.11",
    "error",
    "A plan code is sent exactly as the options spell it, in the same case.",
    "Keep the code as a text, unchanged; do not put it in upper or lower case, nor trim it.",
)
def plan_code_exact(traffic: Traffic) -> Iterator[Occasion]:
    """By the codes that the client was shown at any time."""
    for one in traffic.orders:
        codes = traffic.shelf.codes.get((one.product, one.code.strip().casefold())) if one.code else None
        if codes is None:
            continue
        if one.code in codes:
            yield None
        else:
            yield Finding((one.n,), f"request {one.n} sends {shown(one.code)} for {shown(min(codes))}")


@obligation(
    "coming-option-shape",
    "9",
    "warning",
    "Plans are read in the shape that is the default from 2027-01-11: with their denomination.",
    "Send X-API-Version: 2026-09-16 with GET /v2/catalog and GET /v2/options, and read the denomination.",
)
def coming_option_shape(traffic: Traffic) -> Iterator[Occasion]:
    """A payment of a plan that the client was last shown without its denomination."""
    for one in traffic.orders:
        offer = traffic.shelf.offers.before(one.n, (one.product, one.code)) if one.code else None
        if offer is None:
            continue
        if offer.denomination is None:
            yield Finding(
                (one.n,), f"request {one.n} pays for {shown(one.code)}, which was read without a denomination"
            )
        else:
            yield None
