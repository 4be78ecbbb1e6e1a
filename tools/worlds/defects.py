"""Planted defects: small mistakes in real functions, one at a time, which the worlds must find.

A defect replaces a part of a function's source. The function object stays the same and gets new code, so tables of
handlers have the defect as well.
"""

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import CodeType, FunctionType


@dataclass(frozen=True)
class Defect:
    """A mistake in the function `where` (`module:name` below `simulator`): `instead` replaces `text`. `seed` found
    it before and is tried first."""

    name: str
    where: str
    text: str
    instead: str
    seed: int = 0


@contextmanager
def with_defect(defect: Defect) -> Iterator[None]:
    """Plant a defect for the time of the context."""
    function = _function(defect.where)
    healthy = function.__code__
    function.__code__ = _mistaken(function, defect)
    try:
        yield
    finally:
        function.__code__ = healthy


def _function(where: str) -> FunctionType:
    module, _, name = where.partition(":")
    found: object = import_module(f"simulator.{module}")
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    found = found.fget if isinstance(found, property) else found
    assert isinstance(found, FunctionType), f"{where} is no function"
    return found


def _mistaken(function: FunctionType, defect: Defect) -> CodeType:
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(defect.text) == 1, f"{defect.where} has {defect.text!r} {source.count(defect.text)} times"
    names = dict(function.__globals__)
    text = source.replace(defect.text, defect.instead).removeprefix("@property\n")
    exec(compile(text, function.__code__.co_filename, "exec"), names)  # noqa: S102  # the text is ours
    made = names[function.__name__]
    assert isinstance(made, FunctionType)
    return made.__code__


HANDLERS = "domain.handlers"
DEFECTS = (
    # Money
    Defect("a payment that a re-query fails is not refunded", f"{HANDLERS}.timeline:_enter_status",
           "if status is FAILED:", 'if status is FAILED and cause != "requery":', seed=1),
    Defect("a payment that fails at once is refunded twice", f"{HANDLERS}.timeline:_enter_status",
           "transaction.refund = entry.id",
           "transaction.refund = entry.id\n        if not results:\n"
           "            wallet.post(REFUND, cost, now, 'again', transaction.trxid)"),
    Defect("a long refid is not remembered", f"{HANDLERS}.payment_creation:_create",
           "    reseller.refids[command.refid] = transaction\n",
           "    if len(command.refid) < 50:\n        reseller.refids[command.refid] = transaction\n"),
    Defect("a wallet may be overdrawn by the last payment", f"{HANDLERS}.payment_creation:_check",
           "if cost > balance else", "if cost > balance + 1 else", seed=12),
    Defect("a void is accepted while another one waits", f"{HANDLERS}.case_requests:_reason_to_refuse",
           "if earlier:", "if earlier and earlier[-1].state is not CaseState.APPROVED:"),
    Defect("what was paid of a bill survives its void", f"{HANDLERS}.case_requests:_refund",
           "if transaction.bill is not None:", "if transaction.bill is None and state.bills_paid:"),
    Defect("a failed payment tells the balance before its refund", f"{HANDLERS}.timeline:_enter_status",
           "if results and status is not FAILED else", "if results else"),
    # Statuses
    Defect("a step for the second re-query is lost", f"{HANDLERS}.timeline:requery",
           "if step.requery == transaction.requeries and",
           "if step.requery == transaction.requeries != 2 and", seed=1),
    Defect("a settled payment keeps its next step", f"{HANDLERS}.timeline:_settle",
           "state.agenda.cancel(transaction.ticket)", "pass", seed=4),
    Defect("a step that may not follow ends the timeline", f"{HANDLERS}.timeline:step_due",
           "    _schedule_next(state, transaction, due.place + 1)\n",
           "    if follows:\n        _schedule_next(state, transaction, due.place + 1)\n", seed=16),
    Defect("a re-query of an acknowledged payment is checked anew", f"{HANDLERS}.payment_creation:pay",
           "if existing is not None:", "if existing is not None and not existing.requeries > 1:"),
    # Callbacks and webhooks
    Defect("the last retry is not made", f"{HANDLERS}.callback_jobs:end_attempt",
           "counted(callback.attempts) <= policy.retries", "counted(callback.attempts) < policy.retries"),
    Defect("one retry too many is made", f"{HANDLERS}.callback_jobs:end_attempt",
           "counted(callback.attempts) <= policy.retries", "counted(callback.attempts) <= policy.retries + 1"),
    Defect("a retry is counted from the begin of the attempt", f"{HANDLERS}.due_items:end_attempt",
           "else now + wait", "else attempt.at + wait"),
    Defect("a retry after a time-out is forgotten", f"{HANDLERS}.due_items:end_attempt",
           "        state.agenda.add(next_due, job)\n",
           "        if result.kind is not AttemptEnd.TIMEOUT:\n"
           "            state.agenda.add(next_due, job)\n"),
    Defect("the callback of a payment that is settled in reverse order is lost", f"{HANDLERS}.callback_jobs:schedule",
           "reversed(transaction.results[1:])", "reversed(transaction.results[2:])"),
    Defect("a duplicate of a callback is missing", f"{HANDLERS}.callback_jobs:_add_copies",
           "range(distortion.duplicates + 1)", "range(max(1, distortion.duplicates))"),
    Defect("the delay of callbacks is ignored", f"{HANDLERS}.callback_jobs:_add_copies",
           "state.agenda.add(now + _delay(state, callback, distortion), callback)",
           "state.agenda.add(now, callback)"),
    Defect("a webhook is retried at the pace of the first retry", "domain.model.webhooks:WebhookPolicy.wait",
           "min(retry, len(self.retry_after)) - 1", "0", seed=1),
    Defect("a replay of an event is not counted", f"{HANDLERS}.webhook_jobs:_replay",
           "failed.event.replays += 1", "failed.event.replays += failed.original is None", seed=43),
    Defect("results are applied in the order of answers", "runtime.lanes:results_in_order",
           "tasks[index] = latest[queue] = group.create_task(attempt(sends[index]))\n",
           "latest[queue] = group.create_task(attempt(sends[index]))\n"
           "            latest[queue].add_done_callback(lambda task: tasks.setdefault(len(tasks), task))\n", seed=2),
    Defect("the second of several callbacks of a payment is not sent", "runtime.driver:Driver._deliver",
           "for send in lane:", "for send in lane[:1]:", seed=1),
    Defect("a delivery that many others are due with is not started", "runtime.lanes:Lanes.start",
           "lanes[STARTED_PER_TURN_MAX:]", "lanes[STARTED_PER_TURN_MAX + 1:]", seed=4),
    # Scenarios that are loaded
    Defect("a reload forgets what is in the air", f"{HANDLERS}.scenario_reload:load",
           "state.follow(new)", "state.follow(new)\n    state.in_flight.clear()"),
    Defect("a reload drops retries with the schedule", f"{HANDLERS}.scenario_reload:_schedule",
           "waiting = state.agenda.cancel_all(ScheduledChange)",
           "waiting = []\n    state.agenda.cancel_all(object)"),
    # Time
    Defect("the last share of what is due is left", "runtime.driver:Driver._tick", "self.rearm(now)", "pass"),
    Defect("an earlier timer is not set", "runtime.driver:Driver._arm",
           "self._timer_due = due\n", "self._timer_due = now\n"),
    Defect("the clock goes back when it is stopped", "runtime.clock:Clock.set",
           "= self.wall(), now or current, timedelta()",
           "= self.wall(), now or (self._origin if mode == 'manual' else current), timedelta()", seed=1),
    Defect("an advance sets a running clock back", "runtime.clock:Clock.move_to",
           "if now > self.now():", "if now > self._origin:", seed=3),
    # Authentication
    Defect("a nonce is forgotten before its time", "domain.model.request_limits:Nonces.spend",
           "now - known.at < self._window or timestamp_s <= known.timestamp_s", "now - known.at < self._window / 4"),
    Defect("a key that is revoked while the body comes is accepted", "api.request_bodies:_identify_again",
           "or identify(call)", "", seed=17),
    Defect("a nonce of a payment is given back", "api.fault_effects:await_fault",
           "fault.has_waited = True", "fault.has_waited = True\n    nonces = call.sandbox.core.state.nonces\n"
           "    nonces.restore((), *nonces.kept())", seed=42),
    Defect("a delay ends in what nothing foresaw", "api.fault_effects:await_fault",
           "fault.has_waited = True", "fault.has_waited = True\n    raise TypeError", seed=42),
    Defect("a void is missing in the history", f"{HANDLERS}.timeline:propagate_change",
           "    state.resellers[transaction.kind.reseller].history.change_status(transaction)\n",
           "    if transaction.result.status is not Status.REFUNDED:\n"
           "        state.resellers[transaction.kind.reseller].history.change_status(transaction)\n", seed=6),
    Defect("the timer outlives an advance", "runtime.driver:Driver.advance",
           "self.rearm(self.clock.now(), is_clock_changed=True)", "self.rearm(self.clock.now())", seed=9),
    Defect("a reader of events who is woken misses the first", "runtime.event_reader:EventReader.wait",
           "await self._woken.wait()", "await self._woken.wait()\n"
           "        self.place = EventPosition(self.place.serial + 1, self.place.number)", seed=1),
    Defect("a deposit is lost when the same was deposited before", f"{HANDLERS}.reseller_changes:credit",
           "entry = reseller.wallet", "same = [one for one in reseller.wallet.entries if one.amount == amount]\n"
           "    entry = same[0] if same else reseller.wallet"),
    Defect("an allowlist that changes while the body comes is not looked at", "api.authentication:refuse_address",
           "if named is None or not", "if named is None or call.has_body or not", seed=3),
    Defect("a rule applies once more than it says", "domain.model.rule_book:RuleBook._applies",
           "count.chosen - count.selected >= rule.times", "count.chosen - count.selected > rule.times"),
    Defect("an address is blocked for half of its requests", "domain.model.request_limits:RequestRates.allow",
           "window.requests <= self._requests_max", "window.requests <= self._requests_max // 2", seed=17),
    # Numbers and memory
    Defect("the journal skips a number while somebody waits", "runtime.journal:BoundedLog.add",
           "        self.notifier.notify()", "        self.last_n += 1\n        self.notifier.notify()"),
    Defect("an evicted request is not counted", "runtime.journal:BoundedLog.add",
           "self.left_out += 1", "self.left_out += self._count_max > 100"),
    Defect("an evicted message of an inbox is not counted", "runtime.inboxes:Inboxes.evict_oldest",
           "inbox.evicted += 1", "inbox.evicted += 0", seed=6),
    Defect("the catalog is kept when a product changes", f"{HANDLERS}.catalog_changes:put_catalog",
           "state.catalog = catalog", "state.catalog = before if len(state.transactions) > 3 else catalog"),
    Defect("an agenda item stays when it has happened", "domain.agenda:Agenda.pop_due",
           "self.items.pop(heapq.heappop(heap)[1], None)", "self.items.get(heapq.heappop(heap)[1])"),
    Defect("who waits for a request is never woken", "runtime.wait_limits:Notifier.notify",
           "waiter.is_true()", "not self.waiting"),
    # The tape
    Defect("a clock that is set is not on the tape", "runtime.driver:Driver.set_clock",
           "self._record(ClockSet(", "str(ClockSet(", seed=4),
    Defect("the end of a wait has the time of its beginning", "api.call:ApiCall._resume",
           "RequestResumed(self.exchange, now,", "RequestResumed(self.exchange, self.exchange.at,"),
    Defect("a network that is set is not on the tape", "runtime.command_log:apply_logged",
           "tape.add(CommandApplied(now, command, trace=headers, answer=text), size)",
           "type(command).__name__ == 'SetNetwork' or tape.add(CommandApplied(now, command, trace=headers), size)",
           seed=54),
    Defect("ids of callbacks depend on more than the sandbox", f"{HANDLERS}.callback_jobs:_add",
           'id=f"cb-{state.callbacks_made}"', 'id=f"cb-{state.callbacks_made}-{id(state) % 97}"'),
    # The disk
    Defect("the body of a request that has to wait is not on disk", "api.request_bodies:await_body",
           "call.exchange.body, call.has_body = request.body, True", "call.has_body = True", seed=68),
    Defect("a snapshot on disk lacks a nonce", "persistence.snapshot.capture:_parts",
           "list(state.nonces))", "list(state.nonces)[1:])", seed=8),
    Defect("a callback leaves before its input is on disk", "persistence.gate:GatedSender.send",
           "await self._passed()", "pass", seed=8),
    Defect("a retry that was in the air is not ended when a process goes on",
           "persistence.replay.rebuilding:leave_tape",
           "if live.courier.sent.is_begun(job):", "if live.courier.sent.is_begun(job) and send.attempt.number < 2:",
           seed=118),
    Defect("a reset begins no new life on disk", "persistence.keeper:StoreKeeper.begin",
           "writer.new_life(", "live.id in writer.lives or writer.new_life(", seed=8),
    Defect("the end of an attempt is not on disk", "persistence.keeper:StoreRecorder.add",
           "n = self._append(", "n = 0 if 'EndAttempt' in str(type(getattr(entry, 'command', 0))) else self._append(",
           seed=8),
)  # fmt: skip
