"""A sandbox against a model so simple that it is right: money, statuses, refids, voids and callback attempts."""

import itertools
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition
from hypothesis.stateful import rule as step_rule

from simulator.domain.commands import Credit, OpenCase
from simulator.domain.model.bills import BillKey
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import CaseKind, CaseThen, NoSuchTransaction
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, Send
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.rules import Fields, Rule
from simulator.domain.model.scenario import Limits
from simulator.domain.model.transactions import (
    Distortion,
    PaymentAnswer,
    PaymentRefused,
    Status,
    Step,
    Transaction,
    may_follow,
)
from simulator.domain.reports.coverage import coverage
from tests.support.tiers import examples
from tests.support.worlds import (
    ACCEPTED,
    START,
    after,
    delivered,
    fire_due,
    order,
    rule,
    sandbox,
)


def ends_with(digit: str) -> Callable[[Fields], bool]:
    return lambda facts: str(facts["account"]).endswith(digit)


SOON = (START + timedelta(minutes=5)).astimezone(SERVICE_ZONE).time()  # a time of day

# By the last digit of the account: how the payment ends and when.
ENDINGS = {
    "0": (ACCEPTED, after(2, Status.PROCESSING), after(5, Status.SUCCESSFUL)),
    "1": (ACCEPTED, after(5, Status.FAILED)),
    "2": (Step(Status.SUCCESSFUL),),
    "3": (Step(Status.FAILED),),
    "4": (Step(Status.PROCESSING), Step(Status.SUCCESSFUL, at=SOON)),
    "5": (ACCEPTED, Step(Status.PROCESSING, requery=1), Step(Status.FAILED, requery=2)),
    "6": (ACCEPTED, Step(Status.SUCCESSFUL, requery=2), after(30, Status.FAILED)),
    "7": (ACCEPTED, after(1, Status.SUCCESSFUL)),
    "8": (ACCEPTED, Step(Status.PROCESSING, requery=1), Step(Status.PROCESSING, at=SOON)),
    "9": (Step(Status.PROCESSING), after(2, Status.PROCESSING), Step(Status.PROCESSING, requery=2)),
}
PLANS = {
    "7": Distortion(duplicates=1),
    "0": Distortion(reverse=True),
    "1": Distortion(again_after=timedelta(seconds=30)),
    "4": Distortion(by_status={Status.SUCCESSFUL: Distortion(drop=True)}),
    "8": Distortion(by_status={Status.PROCESSING: Distortion(again_after=timedelta(minutes=2))}),
}
RULES = [
    rule(
        *steps,
        id_=f"r{digit}",
        when=ends_with(digit),
        callbacks=PLANS.get(digit),
    )
    for digit, steps in ENDINGS.items()
]
# The outcome of a void by the same digit. Other voids are unscripted, and refunded after a minute.
VOIDS = {
    "0": CaseThen(is_accepted=True, refund_after=timedelta(0)),
    "2": CaseThen(is_accepted=True, refused_after=timedelta(seconds=30)),
    "6": CaseThen(is_accepted=False),
}
VOID_RULES = tuple(Rule(f"v{digit}", ends_with(digit), then) for digit, then in VOIDS.items())
RETURNED = (Status.FAILED, Status.REFUNDED)
COST = Decimal("0.97")
CALLBACKS_BYTES = 12_000


A, P, S, F = Status.ACCEPTED, Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED


def next_soon(one: Transaction) -> datetime:
    """When a payment's step at a time of day is due: on the day of the start, or on a later one."""
    first = START + timedelta(minutes=5)
    return first + timedelta(days=max(0, (one.created - first) // timedelta(days=1) + 1))


def outcomes_of(one: Transaction, now: datetime) -> set[DomainOutcome]:
    """Return the outcomes of a payment as its records show them: its statuses and its pending items."""
    statuses = [result.status for result in one.results]
    pairs = set(itertools.pairwise(statuses))
    is_waiting = any(
        (step.after is not None and one.created + step.after > now)
        or (step.at is not None and next_soon(one) > now)
        or (step.requery is not None and step.requery > one.requeries)
        for step in one.steps
    )
    tests = {
        DomainOutcome.SUCCESSFUL_AFTER_PROCESSING: {(A, P), (P, S)} <= pairs,
        DomainOutcome.SUCCESSFUL_AT_ONCE: statuses[0] is S,
        DomainOutcome.FAILED_AFTER_ACCEPTED: (A, F) in pairs,
        DomainOutcome.FAILED_AFTER_PROCESSING: (P, F) in pairs,
        DomainOutcome.FAILED_AT_ONCE: statuses[0] is F,
        DomainOutcome.REFUNDED: statuses[-1] is Status.REFUNDED,
        DomainOutcome.STUCK: not one.is_settled and not is_waiting,
        DomainOutcome.REQUERIED: one.requeries > 0,
    }
    return {outcome for outcome, is_met in tests.items() if is_met}


class Payments(RuleBasedStateMachine):
    """The model: what every refid cost, what was credited, which voids were decided, which attempts are in the air."""

    def __init__(self) -> None:
        super().__init__()
        limits = Limits(callbacks=10, callbacks_bytes=CALLBACKS_BYTES)
        self.box = sandbox(*RULES, balance="500.00", voids=VOID_RULES, limits=limits)
        self.now: datetime = START
        self.credited = Decimal(0)
        self.costs: dict[str, Decimal] = {}
        self.trxids: dict[str, str] = {}
        self.histories: dict[str, list[Status]] = {}
        self.in_air: list[Send] = []
        self.decided: set[str] = set()

    @property
    def balance(self) -> Decimal:
        return self.box.state.resellers["R1"].wallet.balance

    @step_rule(number=st.integers(0, 15), digit=st.sampled_from(sorted(ENDINGS)), amount=st.integers(-1, 400))
    def pay(self, number: int, digit: str, amount: int) -> None:
        refid, before = f"ref-{number}", self.balance
        answer = self.box.apply(order(refid, amount=amount, account=f"55555{digit}"), self.now)
        cost = (amount * COST).quantize(Decimal("0.01"))
        if isinstance(answer, PaymentRefused):
            assert refid not in self.trxids
            assert self.balance == before
            assert amount < 1 or cost > before
        elif refid in self.trxids:
            assert isinstance(answer, PaymentAnswer)
            assert not answer.created
            assert answer.transaction.trxid == self.trxids[refid]
        else:
            assert answer.created
            self.trxids[refid], self.costs[refid] = answer.transaction.trxid, cost

    @step_rule(number=st.integers(0, 15))
    def void(self, number: int) -> None:
        refid, before = f"ref-{number}", self.balance
        answer = self.box.apply(OpenCase(CaseKind.VOID, "R1", refid), self.now)
        assert self.balance == before, "a void gives nothing back at once"
        if refid not in self.trxids:
            assert isinstance(answer, NoSuchTransaction)
            return
        is_first = self.status(refid) is Status.SUCCESSFUL and refid not in self.decided
        digit = self.box.state.transactions[self.trxids[refid]].account[-1]
        assert answer.is_accepted == (is_first and digit != "6")
        if is_first:
            self.decided.add(refid)

    @step_rule(cents=st.integers(1, 100_000))
    def credit(self, cents: int) -> None:
        amount = Decimal(cents) / 100
        self.box.apply(Credit("R1", amount), self.now)
        self.credited += amount

    @step_rule(seconds=st.sampled_from([0, 0.5, 1, 2, 5, 30, 60, 600]))
    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.in_air += [fired.send for fired in fire_due(self.box, self.now) if fired.send]

    @precondition(lambda self: self.in_air)
    @step_rule(
        data=st.data(),
        status=st.sampled_from([200, 204, 302, 404, 408, 429, 500, 503, None]),
        length=st.sampled_from([0, 100, 2000]),
    )
    def receiver_answers(self, data: st.DataObject, status: int | None, length: int) -> None:
        send = self.in_air.pop(data.draw(st.integers(0, len(self.in_air) - 1)))
        answered = AttemptResult(AttemptEnd.ANSWERED, status, "x" * length)
        outcome = answered if status else AttemptResult(AttemptEnd.TIMEOUT)
        delivered(self.box, send, outcome, self.now)

    @invariant()
    def money_is_conserved(self) -> None:
        spent = sum(
            (cost for refid, cost in self.costs.items() if self.status(refid) not in RETURNED), start=Decimal(0)
        )
        assert self.balance == Decimal("500.00") + self.credited - spent
        assert not self.box.violations()

    @invariant()
    def only_what_was_taken_is_refunded(self) -> None:
        refunded = {refid for refid in self.trxids if self.status(refid) is Status.REFUNDED}
        assert refunded <= self.decided
        digits = {self.box.state.transactions[self.trxids[refid]].account[-1] for refid in refunded}
        assert not digits & {"2", "6"}

    @invariant()
    def one_debit_a_refid(self) -> None:
        entries = self.box.state.resellers["R1"].wallet.entries
        debits = [entry.trxid for entry in entries if entry.amount < 0]
        assert sorted(debits) == sorted(set(self.trxids.values()))

    @invariant()
    def statuses_only_grow_along_the_table(self) -> None:
        for refid, trxid in self.trxids.items():
            now = [result.status for result in self.box.state.transactions[trxid].results]
            assert now[: len(self.histories.get(refid, []))] == self.histories.get(refid, [])
            assert all(may_follow(a, b) for a, b in zip([None, *now], now, strict=False))
            self.histories[refid] = now

    @invariant()
    def counted_outcomes_equal_a_recount(self) -> None:
        transactions = self.box.state.transactions.values()
        recount = Counter(outcome for one in transactions for outcome in outcomes_of(one, self.now))
        counted = coverage(self.box.state, {}).outcomes
        assert {id_: count for id_, count in counted.items() if id_.startswith("payment-")} == recount

    @invariant()
    def what_was_paid_of_a_bill_equals_a_recount(self) -> None:
        recount: Counter[BillKey] = Counter()
        for one in self.box.state.transactions.values():
            if one.result.status is S:
                recount[one.product, one.account, ""] += one.amount  # type: ignore[assignment]  # Decimals, not counts
        assert {key: paid for key, paid in self.box.state.bills_paid.items() if paid} == recount

    @invariant()
    def the_callback_log_knows_its_size_and_is_bounded(self) -> None:
        log = self.box.state.callbacks
        assert log.size == sum(one.size for one in log)
        assert len(log) <= 10
        assert log.size <= CALLBACKS_BYTES or len(log) == 1
        assert len(log) + log.left_out == self.box.state.callbacks_made
        shown = {one.id for one in log}
        jobs = [send.job for send in self.box.state.in_flight.values()]
        evicted = [job for job in jobs if isinstance(job, Callback) and job.id not in shown]
        assert not any(one.result and one.result.body for job in evicted for one in job.attempts)

    @invariant()
    def callbacks_have_at_most_four_attempts(self) -> None:
        for callback in self.box.state.callbacks:
            assert len(callback.attempts) <= 4
            unfinished = [attempt for attempt in callback.attempts if attempt.result is None]
            assert len(unfinished) <= 1

    def status(self, refid: str) -> Status:
        return self.box.state.transactions[self.trxids[refid]].result.status


TestPayments = Payments.TestCase
TestPayments.settings = settings(max_examples=examples(60), stateful_step_count=60)
