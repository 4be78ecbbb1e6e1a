"""Bills and billers: what may be paid after a look-up (SPEC 2.2, 4.10, 4.11)."""

from collections.abc import Iterator

from simulator.audit.reading import shown, text
from simulator.audit.registry import Finding, Occasion, obligation
from simulator.audit.traffic import BILL, BILLERS, Traffic, answered_message
from simulator.domain.model.bills import BillError
from simulator.wire.bills import ERRORS

INVALID_ACCOUNT, _ = ERRORS[BillError.ACCOUNT]


@obligation(
    "invalid-account-not-paid",
    "4.10",
    "error",
    "An account whose look-up says 'Invalid account no' is not paid.",
    "Show error_message and stop; every other text of a look-up lets the payment go on.",
)
def invalid_account_not_paid(traffic: Traffic) -> Iterator[Occasion]:
    """By the last look-up of the product and account before the payment."""
    looked_up: dict[tuple[str, ...], list[tuple[int, bool]]] = {}
    for call in traffic.to("GET", BILL):
        query = traffic.query(call)
        key = (traffic.actor(call), *(text(query, name) for name in ("product", "account", "biller_code")))
        if message := answered_message(call):
            looked_up.setdefault(key, []).append((call.n, message == INVALID_ACCOUNT))
    for one in traffic.orders:
        before = [
            each for each in looked_up.get((one.actor, one.product, one.account, one.biller), ()) if each[0] < one.n
        ]
        if not before:
            continue
        n, is_invalid = before[-1]
        yield Finding((n, one.n), f"request {one.n} pays the account that {n} told is invalid") if is_invalid else None


@obligation(
    "amount-in-range",
    "2.2",
    "error",
    "An amount is within the limits of its biller, or else of its product, as the client was shown them.",
    "Check min_amount and max_amount of the chosen biller, which go before the product's min and max.",
)
def amount_in_range(traffic: Traffic) -> Iterator[Occasion]:
    """By the catalog, the options and the list of billers, as they were read last before the payment."""
    for one in traffic.orders:
        allowed = traffic.shelf.range_before(one.n, one.product, one.biller)
        if one.amount is None or (allowed.low is None and allowed.high is None):
            continue
        if allowed.holds(one.amount):
            yield None
        else:
            yield Finding(
                (one.n,), f"request {one.n} pays {one.amount} of {shown(one.product)}, where {allowed} is allowed"
            )


@obligation(
    "identity-without-dashes",
    "4.11",
    "error",
    "An identity number is sent without dashes.",
    "Remove dashes and blanks from the number that the user typed before you send it as extras.ic_number.",
)
def identity_without_dashes(traffic: Traffic) -> Iterator[Occasion]:
    """Of every payment that sends one."""
    for one in traffic.orders:
        if one.identity:
            yield Finding((one.n,), f"request {one.n} sends an ic_number with a dash") if "-" in one.identity else None


@obligation(
    "billers-without-product-code",
    "4.6",
    "warning",
    "The list of billers is asked for without product_code.",
    "Leave product_code out; filter by biller_code or suggested_category.",
)
def billers_without_product_code(traffic: Traffic) -> Iterator[Occasion]:
    """Of every request for billers."""
    for call in traffic.to("GET", BILLERS):
        has_it = "product_code" in traffic.query(call)
        yield Finding((call.n,), f"request {call.n} sends product_code") if has_it else None


@obligation(
    "page-with-limit",
    "4.6",
    "warning",
    "A page of billers is asked for together with a limit.",
    "Send limit with page; without both you get the whole list.",
)
def page_with_limit(traffic: Traffic) -> Iterator[Occasion]:
    """Of every request for billers that has one of them."""
    for call in traffic.to("GET", BILLERS):
        query = traffic.query(call)
        if "page" in query and not text(query, "limit"):
            yield Finding((call.n,), f"request {call.n} sends page without limit")
        elif "limit" in query:
            yield None
