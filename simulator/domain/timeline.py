"""The dated statuses that a transaction goes through: where money and callbacks follow a status.

The first step of a timeline is the answer to the creating request. Every later one comes when its time has passed
since the creation, or with its re-query. A step that cannot follow the status reached meanwhile is passed over.
"""

from datetime import date, datetime, timedelta

from simulator.domain import dispatch
from simulator.domain.calendar import SERVICE_ZONE
from simulator.domain.money import ZERO
from simulator.domain.rules import Fields, Step, Text
from simulator.domain.state import State, StepDue
from simulator.domain.transactions import Result, Status, Transaction, may_follow
from simulator.domain.wallet import EntryType

# What happens to a payment that no rule matches.
ORDINARY_STEPS = (
    Step(Status.ACCEPTED),
    Step(Status.PROCESSING, after=timedelta(seconds=2)),
    Step(Status.SUCCESSFUL, after=timedelta(seconds=5)),
)


def begin(state: State, transaction: Transaction, steps: tuple[Step, ...], now: datetime) -> None:
    """Give a new transaction its first status and put the dated rest on the agenda. The first has no callback."""
    first, *later = steps
    _enter(state, transaction, first, now, "creation")
    if transaction.is_settled:
        return
    transaction.steps = tuple(later)
    for step in later:
        if step.after is not None:
            transaction.tickets.append(state.agenda.add(now + step.after, StepDue(transaction, step)))


def step_due(state: State, due: StepDue, now: datetime) -> bool:
    """A dated step has come; False when it cannot follow what happened meanwhile."""
    if not may_follow(due.transaction.result.status, due.step.status):
        return False
    _enter(state, due.transaction, due.step, now, "step")
    return True


def requeried(state: State, transaction: Transaction, now: datetime) -> None:
    """Count a re-query and take the step that waited for it."""
    if transaction.is_settled:
        return
    transaction.requeries += 1
    for step in transaction.steps:
        if step.requery == transaction.requeries and may_follow(transaction.result.status, step.status):
            _enter(state, transaction, step, now, "requery")
            if transaction.is_settled:
                return


def _enter(state: State, transaction: Transaction, step: Step, now: datetime, cause: str) -> None:
    before = transaction.results[-1].status if transaction.results else None
    assert may_follow(before, step.status), f"{before} cannot become {step.status}"
    cost = transaction.cost
    wallet = state.resellers[transaction.reseller].wallet
    if step.status is Status.FAILED:
        entry = wallet.post(
            EntryType.REFUND, transaction.cost, now, f"refund of {transaction.refid}", transaction.trxid
        )
        transaction.entry_ids.append(entry.id)
        if not state.assumes("failed-wallet", "keep_cost"):
            cost = ZERO
    code = state.codes[step.status] if step.code is None else step.code
    texts = _texts(state, transaction, step)
    remarks = texts.pop("remarks", transaction.remarks)
    expiry = step.expiry or _expiry(state, transaction, step, now)
    transaction.results.append(
        Result(now, step.status, code, cost, wallet.balance, cause, remarks, expiry=expiry, **texts)
    )
    if transaction.is_settled:
        _clear(state, transaction)
    if cause != "creation":
        changed(state, transaction, now)


def changed(state: State, transaction: Transaction, now: datetime) -> None:
    """A status has changed since the creation: what follows from that, whatever caused it."""
    state.resellers[transaction.reseller].records.note_change(transaction)
    dispatch.announce(state, transaction, now)


def _clear(state: State, transaction: Transaction) -> None:
    for ticket in transaction.tickets:
        state.agenda.cancel(ticket)
    transaction.steps = ()
    transaction.tickets = []


def _texts(state: State, transaction: Transaction, step: Step) -> dict[str, str]:
    """The texts of a result: what the product delivers on success, under what the scenario wrote for this step."""
    templates: dict[str, Text] = {}
    if step.status is Status.SUCCESSFUL and (product := state.catalog.products.get(transaction.product)):
        templates.update(product.fulfilled.texts)
    if step.texts:
        templates.update(step.texts)
    if not templates:
        return {}
    facts = template_facts(state, transaction)
    return {name: template(facts) for name, template in templates.items()}


def template_facts(state: State, transaction: Transaction) -> Fields:
    """What the texts of a scenario may hold of a transaction."""
    return {
        "seed": state.seed,
        "trxid": transaction.trxid,
        "refid": transaction.refid,
        "reseller": transaction.reseller,
        "product": transaction.product,
        "account": transaction.account,
        "amount": transaction.amount,
    }


def _expiry(state: State, transaction: Transaction, step: Step, now: datetime) -> date | None:
    product = state.catalog.products.get(transaction.product)
    if step.status is not Status.SUCCESSFUL or product is None or product.fulfilled.valid_for is None:
        return None
    return (now + product.fulfilled.valid_for).astimezone(SERVICE_ZONE).date()
