"""Observed voids and disputes, and the ends of voids. The simulator refuses requests about payments that were not
successful, and repeated requests, without a rule."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from simulator.domain.model.transactions import Status
from simulator.staging.bodies import short
from simulator.staging.recorder.courses import ALIKE_S, ALIKE_SHARE, spread
from simulator.staging.recorder.payments import RecordedPayments, SeenPayment
from simulator.staging.recorder.rules import ObservedRequest, Outcome, explain, rules_of
from simulator.staging.recorder.traffic_values import DecodedCall, Notes, counted, format_duration, plain_line, template

USUAL_S = 60.0  # the default time from an accepted void to its refund
ACCEPTED, REFUSED = "Success", "Failed"


@dataclass(slots=True)
class SeenCase:
    """A request about a payment, this long after its creation."""

    payment: SeenPayment
    at_s: float
    status: str
    message: str


@dataclass(slots=True)
class _CaseOutcome:
    status: str
    message: str
    ends: str  # refund_after, refused_after or nothing
    times: list[float]


class Cases:
    """The first void or dispute of each successful payment; `section` is `voids` or `disputes`."""

    def __init__(self, section: str, payments: RecordedPayments) -> None:
        self.section = section
        self._payments = payments
        self._seen: dict[str, SeenCase] = {}

    def note(self, call: DecodedCall) -> None:
        """`POST /v2/transactions/void` or `check`."""
        asked, data, payments = call.asked, call.data, self._payments
        one = payments.by_trxid(short(asked.get("trxid")) or call.trxid)
        one = one or payments.followed.get(short(asked.get("refid")) or short(data.get("refid")))
        status = short(data.get("status"))
        if one is None or one.refid in self._seen or status not in (ACCEPTED, REFUSED):
            return
        known = {seen.status for seen in one.statuses}
        if Status.SUCCESSFUL in known and Status.REFUNDED not in known:
            facts = (*one.facts, *((("trxid", call.trxid),) if call.trxid else ()))
            message = template(short(data.get("message")), facts)
            self._seen[one.refid] = SeenCase(one, call.at_s - one.at_s, status, message)

    def voidable(self) -> set[str]:
        """Return the products with an accepted request."""
        return {one.payment.product for one in self._seen.values() if one.status == ACCEPTED}

    def rules(self, products: set[str] | None, notes: Notes, *, names_accounts: bool) -> Iterator[dict[str, Any]]:
        """Yield the rules of the section, for these products only; None means all."""
        cases = sorted(self._seen.values(), key=lambda one: (one.payment.product, one.payment.at_s, one.at_s))
        for product in dict.fromkeys(one.payment.product for one in cases):
            if products is None or product in products:
                of = [one for one in cases if one.payment.product == product]
                yield from self._of_product(product, of, notes, names_accounts=names_accounts)

    def _of_product(
        self, product: str, cases: list[SeenCase], notes: Notes, *, names_accounts: bool
    ) -> Iterator[dict[str, Any]]:
        outcomes: list[_CaseOutcome] = []
        observed = []
        for one in sorted(cases, key=lambda one: one.payment.at_s + one.at_s):
            place = self._place(one, outcomes)
            observed.append(ObservedRequest(one.payment.account, str(one.payment.amount), place))
        counts = Counter(one.outcome for one in observed)
        said = [Outcome(_then(one), _words(one, counts[place])) for place, one in enumerate(outcomes)]
        return rules_of(product, explain(observed, names_accounts=names_accounts), said, notes)

    def _place(self, one: SeenCase, outcomes: list[_CaseOutcome]) -> int:
        ends, after_s = self._end(one)
        for place, known in enumerate(outcomes):
            if (known.status, known.message) == (one.status, one.message) and _is_like(known, ends, after_s):
                if ends:
                    known.ends = ends
                    known.times.append(after_s)
                return place
        outcomes.append(_CaseOutcome(one.status, one.message, ends, [after_s] if ends else []))
        return len(outcomes) - 1

    def _end(self, one: SeenCase) -> tuple[str, float]:
        """Return how an accepted void ended, and after which time; empty if its end was not observed."""
        if self.section != "voids" or one.status == REFUSED:
            return "", 0.0
        refund = next((seen for seen in one.payment.statuses if seen.status is Status.REFUNDED), None)
        if refund is not None:
            seen_s, said = refund.seen_s, refund.stamp_s
            at_s = seen_s if said is None or abs(seen_s - said) <= ALIKE_S else said
            return "refund_after", max(0.0, at_s - one.at_s)
        waited_s = one.payment.last_s - one.at_s
        return ("refused_after", waited_s) if waited_s > USUAL_S + ALIKE_S else ("", 0.0)


def _is_like(known: _CaseOutcome, ends: str, after_s: float) -> bool:
    if not ends or not known.ends:
        return True
    if ends != known.ends:
        return False
    return ends == "refused_after" or abs(after_s - known.times[0]) <= max(ALIKE_S, ALIKE_SHARE * known.times[0])


def _then(one: _CaseOutcome) -> dict[str, Any]:
    shown: dict[str, Any] = {"status": one.status}
    if one.message:
        shown["message"] = one.message
    if one.ends:
        shown[one.ends] = format_duration(max(one.times) if one.ends == "refused_after" else median(one.times))
    return shown


def _words(one: _CaseOutcome, seen: int) -> str:
    text = f"{counted(seen, 'request')}: {one.status} {plain_line(one.message)}".rstrip()
    if one.ends == "refund_after":
        return f"{text}; refunded after {spread(one.times)}"
    if one.ends:
        return f"{text}; not refunded within {spread([max(one.times)])}"
    return text
