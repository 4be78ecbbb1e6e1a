"""Payments of an option's `price.amount` instead of its denomination, which clients send that read the catalog as it is
before the version that shows the denomination (SPEC 2.1, 9)."""

from simulator.domain.handlers.draft import Draft, offered_to
from simulator.domain.handlers.plans import PLAN_CODE, named_plan
from simulator.domain.model import pricing
from simulator.domain.model.catalog import Money, Option
from simulator.domain.model.details import Detail, What, detail
from simulator.domain.model.transactions import Reason, Refusal

_OF_THE_AMOUNT = (Reason.DENOMINATION, Reason.PLAN_MISMATCH)


def priced_option(draft: Draft, refusal: Refusal) -> Option | None:
    """The option that the refused amount is the price of: the one that a plan code names, else the only one; None when
    the amount is nothing of that kind."""
    field = draft.product.pricing
    if refusal.reason not in _OF_THE_AMOUNT or draft.amount is None or field is None or field.type != "select":
        return None
    if draft.extras.get(PLAN_CODE) and (plan := named_plan(draft)):
        return plan if _is_price(draft, plan) else None
    found = [one for one in offered_to(draft, field.id).active if _is_price(draft, one)]
    return found[0] if len({one.denomination for one in found}) == 1 else None


def mistaken(what: What, draft: Draft, option: Option) -> Detail:
    """What is said about it."""
    assert draft.amount is not None
    price = Money(draft.amount, draft.product.currency)
    return detail(what, price=price, code=option.code, denomination=option.denomination)


def _is_price(draft: Draft, option: Option) -> bool:
    return option.denomination is not None and pricing.price(draft.product, option.denomination) == draft.amount
