"""The invariants of a world, some checked after each step, the expensive ones more rarely.

Each ledger entry, event and attempt is checked once, so the cost of a check is the cost of the step.
"""

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

from simulator.domain.agenda import CaseDue, StepDue
from simulator.domain.model.callbacks import Callback, CallbackState, is_retried
from simulator.domain.model.cases import CaseState
from simulator.domain.model.delivery_attempts import AttemptEnd, is_accepted
from simulator.domain.model.domain_events import AttemptOutcome, StatusChange
from simulator.domain.model.draw import typical
from simulator.domain.model.transactions import SETTLED, Status, may_follow
from simulator.domain.model.wallet import Entry, EntryType
from simulator.domain.model.webhooks import Delivery, DeliveryState
from simulator.domain.reports import invariants as reported
from tools.worlds.memory import Account, Life
from tools.worlds.network import Network
from tools.worlds.scenarios import SCHEDULED_DEPOSIT

# The retries according to SPEC 6.1 and the default scenario, independent of the code under test.
RETRIES = 3
CALLBACK_WAIT = timedelta(seconds=60)
WEBHOOK_WAITS = (timedelta(seconds=10), timedelta(seconds=60), timedelta(seconds=300))
INTERRUPTED = AttemptEnd.INTERRUPTED
FINAL = (Status.SUCCESSFUL, Status.FAILED)


class Invariants:
    """The checks of a world. `asked` are the refids that clients asked for, by sandbox and reseller. Problems are
    collected as sentences."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.asked: set[tuple[str, str, str]] = set()
        self.problems: list[str] = []

    def _object(self, life: Life, text: str) -> None:
        self.problems.append(f"{life.live.id}: {text}")

    # After each step

    def check(self, life: Life) -> None:
        """Check everything that happened since the last check."""
        now = self.check_clock(life)
        due, driver = life.core.state.agenda.next_due, life.live.driver
        late = timedelta(milliseconds=driver.clock.rate)  # timers wait for whole milliseconds
        is_idle = driver.clock.runs and not driver.is_settling and driver.advancing is None
        if due is not None and due + late <= now and is_idle:
            self._object(life, f"it is {now}, and what was due at {due} has not happened")
        if life.live.events.count == life.events_read and not life.is_rebuilt:
            return  # nothing happened that changes anything else
        life.is_rebuilt = False
        for reseller in life.core.state.resellers.values():
            account = life.account(reseller)
            entries = reseller.wallet.entries
            for place in range(account.entries, len(entries)):
                self._check_entry(life, reseller.code, account, place, entries[place])
            account.entries = len(entries)
            if reseller.wallet.balance != account.balance:
                self._object(
                    life, f"{reseller.code} has {reseller.wallet.balance}, its entries lead to {account.balance}"
                )
        self._check_numbers(life)
        self._check_events(life)

    def check_clock(self, life: Life) -> datetime:
        """Check that the time of a sandbox never goes back."""
        now = life.live.clock.now()
        if life.now is not None and now < life.now:
            self._object(life, f"the clock went back from {life.now} to {now}")
        life.now = now
        return now

    def _check_entry(self, life: Life, code: str, account: Account, place: int, entry: Entry) -> None:
        account.balance += entry.amount
        name = f"entry {entry.id} of {code}"
        if entry.id != place + 1 or entry.balance != account.balance:
            self._object(life, f"{name} is number {place + 1}, says {entry.balance} and leads to {account.balance}")
        if account.balance < 0:
            self._object(life, f"{name} takes the wallet below zero")
        if entry.type is EntryType.TRANSACTION:
            self._check_debit(life, code, account, entry)
        elif entry.type is EntryType.REFUND:
            if account.debits.get(entry.trxid) != entry.amount or entry.trxid in account.refunds:
                self._object(life, f"{name} returns {entry.amount} of {entry.trxid}, which was not owed")
            account.refunds.add(entry.trxid)
        elif account.deposits[entry.amount]:
            account.deposits[entry.amount] -= 1
        elif entry.amount != Decimal(SCHEDULED_DEPOSIT):
            self._object(life, f"{name} credits {entry.amount}, for which nobody asked")

    def _check_debit(self, life: Life, code: str, account: Account, entry: Entry) -> None:
        transaction = life.core.state.transactions.get(entry.trxid)
        if transaction is None or transaction.cost != -entry.amount or entry.trxid in account.debits:
            self._object(life, f"entry {entry.id} of {code} takes {entry.amount} for {entry.trxid}, which is not owed")
            return
        account.debits[entry.trxid] = -entry.amount
        if (life.live.id, code, transaction.refid) not in self.asked:
            self._object(life, f"nobody asked for the payment {transaction.refid!r}")

    def _check_numbers(self, life: Life) -> None:
        """Check that the numbers of the journal, inboxes and events have no gaps."""
        journal, events = life.journal, life.live.events
        if journal.last_n != journal.left_out + len(journal):
            self._object(life, f"the journal has {len(journal)} and left out {journal.left_out} of {journal.last_n}")
        if journal.last_n != life.answers:
            self._object(life, f"the journal is at {journal.last_n}, {life.answers} requests were answered")
        for inbox in life.live.inboxes:
            if inbox.last_n != inbox.left_out + len(inbox.received):
                self._object(
                    life, f"inbox {inbox.name} has {len(inbox.received)}, left out {inbox.left_out} of {inbox.last_n}"
                )
        if events.count < life.events_read:
            self._object(life, "the events begin anew")

    def _check_events(self, life: Life) -> None:
        """Check new events: statuses follow the table, attempts end once and not too early."""
        events = life.live.events
        new = events.count - life.events_read
        if not new:
            return
        life.events_read = events.count
        items = [item for item, _ in events.entries()]
        journal_n = None
        for place in range(max(0, len(items) - new), len(items)):
            item = items[place]
            match item:
                case AttemptOutcome():
                    self._check_attempt(life, item)
                case StatusChange():
                    self._check_status(life, item)
                case int():
                    if journal_n is not None and item != journal_n + 1:
                        self._object(life, f"request {item} is told behind request {journal_n}")
                    journal_n = item

    def _check_status(self, life: Life, item: StatusChange) -> None:
        transaction = life.core.state.transactions.by_number[item.number]
        trxid, status = transaction.trxid, transaction.results[item.place].status
        before = life.statuses.setdefault(trxid, [])
        if not may_follow(Status(before[-1]) if before else None, status):
            self._object(life, f"{trxid} is {status} after {before}")
        before.append(status)
        if status is Status.FAILED:
            refund = life.core.state.resellers[transaction.reseller].wallet.entry(transaction.entry_ids[-1])
            if transaction.results[item.place].balance != refund.balance:
                self._object(life, f"{trxid} failed, and does not tell the balance {refund.balance} after its refund")
        if sum(one in FINAL for one in before) > 1:
            self._object(life, f"{trxid} has several final statuses: {before}")

    def _check_attempt(self, life: Life, item: AttemptOutcome) -> None:
        state = life.core.state
        ended_at = life.ended_at.setdefault(item.job, [])
        ended_at.append(item.at)
        name = f"attempt {item.number} of {item.job}"
        if len(ended_at) != item.number:
            self._object(life, f"{name} is the {len(ended_at)}. that ended")
        job: Callback | Delivery | None = state.callbacks.find(item.job) or state.deliveries.find(item.job)
        if job is None or len(job.attempts) < item.number:
            return
        attempt = job.attempts[item.number - 1]
        is_callback = isinstance(job, Callback)
        if isinstance(job, Callback) and item.number == 1 and not job.is_repeat:
            earliest = job.result.at + typical(job.distortion.delay)
            if attempt.at < earliest:
                self._object(life, f"{name} began at {attempt.at}, its rule says {earliest} at the earliest")
        waits = (timedelta(0), *((CALLBACK_WAIT,) * RETRIES if is_callback else WEBHOOK_WAITS))
        endings = [one.result.kind for one in job.attempts[: item.number] if one.result is not None]
        is_interrupted = endings[-1] is INTERRUPTED
        count = len(endings) - endings.count(INTERRUPTED)  # an interrupted one counts for no limit, nor waits
        before = count - (not is_interrupted)
        if item.number > 1 and before <= RETRIES:
            wait = timedelta(0) if endings[-2] is INTERRUPTED else waits[before]
            if attempt.at < ended_at[-2] + wait:
                self._object(life, f"{name} began at {attempt.at}, {wait} after {ended_at[-2]} at the earliest")
        result = attempt.result
        assert result is not None, "it has ended"
        retried = not is_accepted(result) and (not is_callback or is_retried(result)) and count <= RETRIES
        due = item.at if is_interrupted else item.at + waits[count] if retried else None
        if item.next_due != due:
            self._object(life, f"{name} ended with {result.kind} {result.status}: next at {item.next_due}, not {due}")
        if count > RETRIES + 1:
            self._object(life, f"{name} is one too many")
        arrival = self._network.arrivals.get((life.core, item.job, item.number))
        if job.url.startswith("inbox:"):
            return
        if arrival is None or arrival.result is None or arrival.ended is None:
            self._object(life, f"{name} ended, but never left, or has not come back")
        elif (arrival.result.kind, arrival.result.status) != (result.kind, result.status) or item.at < arrival.ended:
            self._object(
                life, f"{name} ended {item.at} with {result}, at its receiver {arrival.ended} with {arrival.result}"
            )

    # Sometimes

    def check_all(self, life: Life) -> None:
        """Check all records."""
        self.problems += [f"{life.live.id}: {text}" for part in reported.violations(life.core.state) for text in part]
        self._check_jobs(life)
        self._check_payments(life)
        self._check_bills(life)

    def _check_jobs(self, life: Life) -> None:
        """Check that every unfinished job is on the agenda or in flight, once."""
        state = life.core.state
        waiting: Counter[str] = Counter()
        for _, _, item in state.agenda.waiting():
            match item:
                case Callback() | Delivery() as job:
                    waiting[job.id] += 1
                case CaseDue(case):
                    waiting[case.id] += 1
                case StepDue(number):
                    transaction = state.transactions.by_number[number]
                    waiting[transaction.trxid] += 1
                    if transaction.result.status in SETTLED:
                        self._object(life, f"{transaction.trxid} is settled and has a step on the agenda")
        if len(state.agenda) != sum(1 for _ in state.agenda.waiting()):
            self._object(life, "the agenda has items without a time")
        waiting.update(list(state.in_flight))
        over = (CallbackState.DELIVERED, CallbackState.FAILED, CallbackState.DROPPED)
        jobs = [(one.id, one.state not in over) for one in state.callbacks]
        jobs += [(one.id, one.state is DeliveryState.UNDER_WAY) for one in state.deliveries]
        jobs += [(one.trxid, one.ticket is not None) for one in state.transactions.values()]
        ending = (CaseState.APPROVED,)
        cases = [case for of_one in state.cases.values() for case in of_one]
        jobs += [(case.id, case.state in ending and case.kind == "void") for case in cases]
        for id_, is_open in jobs:
            if waiting[id_] != is_open:
                self._object(
                    life,
                    f"{id_} is {'open' if is_open else 'over'}, and {waiting[id_]} times on the agenda or in the air",
                )
        driver = life.live.driver
        waits = not driver.clock.runs and driver.lanes._collected  # for an advance
        if state.in_flight and not driver.is_busy and not waits:
            self._object(life, f"{sorted(state.in_flight)} are in the air, and nobody carries them")
        if state.callbacks_made != len(state.callbacks) + state.callbacks.left_out:
            self._object(life, f"{state.callbacks_made} callbacks were made, {len(state.callbacks)} are in the log")

    def _check_payments(self, life: Life) -> None:
        """Check that every acknowledged payment exists, was debited once, and has its callbacks in the log."""
        state = life.core.state
        for code, account in life.accounts.items():
            refids = state.resellers[code].refids
            for refid, payment in account.acknowledged.items():
                found = refids.get(refid)
                if found is None or found.trxid not in account.debits:
                    self._object(life, f"{code}: the payment {refid!r} was acknowledged and is lost")
                elif (found.product, found.account, found.amount) != (payment.product, payment.account, payment.amount):
                    self._object(life, f"{code}: {refid!r} is another payment than the acknowledged {payment}")
        for one in state.transactions.values():
            asked = [step.status for step in one.steps if step.requery and step.requery <= one.requeries]
            if not one.is_settled and SETTLED.intersection(asked):
                self._object(life, f"{one.trxid} was asked about {one.requeries} times, and is {one.result.status}")
        if state.callbacks.left_out:
            return
        told: Counter[tuple[str, str]] = Counter()
        for callback in state.callbacks:
            if not callback.is_repeat:
                told[callback.transaction.trxid, callback.result.status] += 1
        for one in state.transactions.values():
            distortion = one.kind.callbacks
            is_late = distortion.reverse and not one.is_settled
            for result in one.results[1:]:
                if told[one.trxid, result.status] != (0 if is_late else distortion.of(result.status).duplicates + 1):
                    text = f"{told[one.trxid, result.status]} callbacks tell that {one.trxid} is {result.status}"
                    self._object(life, text)

    def check_rest(self, life: Life) -> None:
        """Check that nothing is unfinished at the end."""
        state, driver = life.core.state, life.live.driver
        if driver.is_busy or state.in_flight:
            self._object(life, "is busy at rest")
        if len(state.agenda):
            self._object(life, f"has {len(state.agenda)} items on its agenda, the first due {state.agenda.next_due}")
        counts = [*state.callback_counts.values(), *state.webhook_counts.values()]
        if any(one.pending for one in counts):
            self._object(life, f"counts jobs that have not ended: {counts}")
        for one in state.transactions.values():
            if not one.is_settled and any(step.after is not None and step.status in SETTLED for step in one.steps):
                self._object(life, f"{one.trxid} is {one.result.status} for ever, with {one.steps}")

    def _check_bills(self, life: Life) -> None:
        """Check that the paid amount of a bill is the sum of its successful payments."""
        state = life.core.state
        paid: dict[object, Decimal] = {}
        for one in state.transactions.values():
            if one.bill is not None and one.result.status is Status.SUCCESSFUL:
                paid[one.bill] = paid.get(one.bill, Decimal(0)) + one.amount
        if {key: amount for key, amount in state.bills_paid.items() if amount} != paid:
            self._object(life, f"of bills {state.bills_paid} was paid, the payments add up to {paid}")
