"""Faults applied to a call: the first rule of an ordered list that applies is chosen, as `RuleBook` says.

The list is evaluated as soon as the endpoint is known. Where a rule needs the body, or applies only to executed
requests, and no earlier rule matches, the evaluation resumes just before the call is executed.
"""

from datetime import timedelta

import msgspec

from simulator.api import refusals
from simulator.api.call import ABORT, CUT, ApiCall, ChosenFault, Ending, Reply
from simulator.api.notes import note
from simulator.api.token_credentials import claimed_reseller
from simulator.auth import headers as names
from simulator.contract.query import decode_query
from simulator.domain.commands import CountFault
from simulator.domain.model import draw
from simulator.domain.model.draw import Spread
from simulator.domain.model.fault_kinds import (
    JSON,
    WITHOUT_BODY,
    AnswerDamage,
    DrippingAnswer,
    ExtraHeaders,
    Failure,
    FaultThen,
    ScriptedAnswer,
)
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.outcomes import ConnectionEnd
from simulator.domain.model.rules import Fields, Rule
from simulator.domain.state import payment_with
from simulator.persistence.tape.entries import Resumption
from simulator.runtime.holds import HoldEntry, Kind, reason
from simulator.runtime.journal import CONTENT_TYPE
from simulator.wire import error_bodies
from simulator.wire.formats import encode

TIMED_OUT = 504
REFUSED_FROM = 400  # the lowest status of a refusal
ONE_SECOND = timedelta(seconds=1)
FAULT_REPLIES = Reply(0, b"")  # the steps of a call end without a reply: `with_failures` makes it
DOCUMENTED_TIMEOUT = timedelta(seconds=29)  # SPEC 8


def choose_fault(call: ApiCall, before_body: bool = False) -> None:
    """Choose the fault of this call, unless already decided; store it in `call.fault`."""
    exchange, book = call.exchange, call.sandbox.core.state.faults
    account = None if before_body else call.fields.get("account")
    if call.fault is not None or not call.awaits_fault:
        return
    choice = book.find(
        lambda: _facts(call),
        exchange.selected_rule,
        account,
        before_body=before_body,
        matched_before=frozenset(call.matched_faults),
    )
    call.awaits_fault = choice.needs_body
    rule = choice.rule
    chosen = "" if rule is None or rule.then.after_commit else rule.id
    if choice.matched or chosen:
        call.sandbox.apply(CountFault(choice.matched, chosen, choice.is_selected, choice.values), call.now)
        call.matched_faults = choice.matched
    if rule is not None:
        call.fault = ChosenFault(rule, choice.is_selected, choice.values)
        if chosen:
            exchange.fault = rule.label


async def with_failures(call: ApiCall, reply: Reply) -> Reply:
    """Return the answer that replaces `reply`. A fault after the commit leaves refusals unchanged."""
    fault = call.fault
    assert fault is not None, "only a call that met a fault has failures"
    if fault.rule.then.after_commit:
        if reply.status >= REFUSED_FROM:
            return reply
        call.sandbox.apply(CountFault((), fault.rule.id, fault.is_selected, fault.values), call.now)
        call.exchange.fault = fault.rule.label
    if ended := await await_fault(call):
        return ended
    if call.is_lost and not fault.rule.then.after_commit:
        return refusals.lost_sandbox(call)
    if not fault.timed_out:
        for failure in fault.rule.then.failures:
            reply = _with_failure(call, reply, failure)
    return reply


def _with_failure(call: ApiCall, reply: Reply, failure: Failure) -> Reply:
    match failure:
        case ScriptedAnswer():
            return _answer(failure)
        case ExtraHeaders(headers):
            added = {name.lower() for name, _ in headers}
            kept = tuple(header for header in reply.headers if header[0].lower() not in added)
            return msgspec.structs.replace(reply, headers=kept + headers)
        case AnswerDamage.CUT if reply.body and reply.status not in WITHOUT_BODY:
            return msgspec.structs.replace(reply, ending=CUT)
        case AnswerDamage.NO_ANSWER | AnswerDamage.CUT:  # a body without a middle is not sent at all
            return Reply(0, b"", ending=ABORT)
        case AnswerDamage.MALFORMED:
            body = reply.body if isinstance(reply.body, bytes) else encode(reply.body)
            journaled = reply.journaled and _broken(reply.journaled)
            return msgspec.structs.replace(reply, body=_broken(body), journaled=journaled)
        case DrippingAnswer(bytes_per_second):  # divided by the rate of a faster clock, like any wait
            pace = bytes_per_second / call.sandbox.clock.wall_seconds(ONE_SECOND)
            return msgspec.structs.replace(reply, ending=Ending(ConnectionEnd.WHOLE, pace))


def _answer(scripted: ScriptedAnswer) -> Reply:
    status, body = scripted.status, scripted.body
    if body is None and status == TIMED_OUT:
        body = error_bodies.timed_out(DOCUMENTED_TIMEOUT)
    elif body is None:
        body = error_bodies.coded("scripted_fault", f"A fault of the scenario answers {status}.")
    has_type = scripted.type != JSON and status not in WITHOUT_BODY
    headers = ((CONTENT_TYPE, scripted.type.encode()),) if has_type else ()
    return Reply(status, body.encode() if isinstance(body, str) else body, headers)


def _broken(content: bytes) -> bytes:
    """Return the first half and a comma, which is never valid JSON."""
    return content[: len(content) // 2] + b","


def _facts(call: ApiCall) -> Fields:
    exchange = call.exchange
    key = call.headers.get(names.API_KEY, b"").decode("latin-1")
    owner = call.sandbox.core.state.keys.get(key)
    query = decode_query(exchange.query)[0] if exchange.query else {}  # without invalid encodings
    facts: dict[str, object] = {
        "now": call.now,
        "start": call.sandbox.core.state.started,
        "method": exchange.method,
        "path": exchange.path,
        "reseller": owner[0].code if owner else claimed_reseller(call),
        "key": key,
        "address": exchange.client,
        "query": {name: sent if isinstance(sent, str) else sent[0] for name, sent in query.items()},
        "headers": {name.decode("latin-1"): value.decode("latin-1") for name, value in call.headers.items()},
    }
    for name in ("product", "account", "refid", "amount", "extras"):
        facts[name] = call.fields.get(name, "")
    if call.reseller is not None and isinstance(refid := facts["refid"], str) and refid:
        known = payment_with(call.sandbox.core.state, call.reseller, refid)
        facts["new"] = "true" if known is None else "false"
    return facts


async def await_fault(call: ApiCall) -> Reply | None:
    """Wait for the delay of the call's fault, then in its hold, once; both end when the sandbox is deleted or reset."""
    fault = call.fault
    if fault is None or fault.has_waited or (fault.rule.then.delay is None and not fault.rule.then.hold):
        return None
    fault.has_waited = True
    then, reply, unanswered = fault.rule.then, None, call.sandbox.unanswered
    if then.after_commit:
        unanswered.append(call.exchange)
    try:
        if then.delay is not None:
            reply = await _wait_for_delay(call, fault, _drawn_delay(call, fault.rule, then.delay))
        if reply is None and then.hold and not call.is_lost:
            await _wait_in_hold(call, fault)
    finally:
        if then.after_commit:
            unanswered.remove(call.exchange)
    if not call.is_lost:
        return reply
    call.exchange.trxid = ""  # of a lost transaction; the new journal may reuse the id
    ending = "deleted" if call.sandbox.is_deleted else call.sandbox.last_ending
    note(call, f"the sandbox was {ending} during the {'hold' if then.hold else 'delay'} of a fault")
    return reply if then.after_commit else refusals.lost_sandbox(call)


async def _wait_for_delay(call: ApiCall, fault: ChosenFault, span: timedelta) -> Reply | None:
    """Wait for a delay of `span`; return 504 when the integration timeout comes first (SPEC 8).

    The wait takes wall time, divided by the rate of a faster clock, unless it is virtual.
    """
    sandbox, limit = call.sandbox, call.sandbox.scenario.limits.integration_timeout
    fault.timed_out = limit is not None and span > limit
    waited = limit if limit is not None and fault.timed_out else span
    wait_s = 0 if fault.rule.then.is_delay_virtual else sandbox.clock.wall_seconds(waited)
    await call.suspended(sandbox.sleep(wait_s))
    if limit is None or not fault.timed_out or (call.is_lost and not fault.rule.then.after_commit):
        return None
    text = f"a fault's delay of {span.total_seconds():g} s is longer than limits.integration_timeout"
    call.exchange.error, call.exchange.diagnosis = "integration_timeout", text
    return Reply(TIMED_OUT, error_bodies.timed_out(limit))


async def _wait_in_hold(call: ApiCall, fault: ChosenFault) -> None:
    """Wait in a hold. A client that leaves meanwhile frees its place."""
    exchange = call.exchange
    refid, what = call.fields.get("refid", ""), f"{exchange.method} {exchange.path}"
    name = fault.rule.then.hold
    kind: Kind = "answer" if fault.rule.then.after_commit else "request"
    entry = HoldEntry(name, kind, what, call.now, call.wall, refid if isinstance(refid, str) else "")
    how = await call.suspended(_hold(call, entry))
    departure = f"the client closed its connection during the hold {name!r}, so it got no answer"
    text = departure if how is Resumption.GONE else reason(how, name)
    if how is Resumption.READY and not call.is_lost:
        text = f"held as {name!r} until {call.now.astimezone(SERVICE_ZONE):%H:%M:%S}"
    if text:
        note(call, text)


async def _hold(call: ApiCall, entry: HoldEntry) -> Resumption:
    source = call.request.source
    if source is not None:
        source.on_left = entry.leave
        if source.has_left:
            return Resumption.GONE
    return await call.sandbox.holds.hold(entry)


def _drawn_delay(call: ApiCall, rule: Rule[FaultThen], delay: tuple[timedelta, timedelta] | Spread) -> timedelta:
    sandbox = call.sandbox
    chosen = sandbox.core.state.faults.times_chosen(rule)
    fraction = draw.fraction(sandbox.seed, rule.label, "delay", chosen)
    if isinstance(delay, Spread):
        return delay.at(fraction)
    low, high = delay
    return low + (high - low) * fraction
