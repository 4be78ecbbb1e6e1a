"""Faults as they meet a call: which one, how long it delays, what it makes of the answer (DESIGN 9)."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

from simulator.api.bearer import claimed_reseller
from simulator.api.call import Call, Reply
from simulator.domain.model import draw
from simulator.domain.model.faults import FaultThen
from simulator.domain.model.rules import Rule
from simulator.server.endings import ABORT, CUT, WHOLE, drip
from simulator.wire import errors
from simulator.wire.json import encode

REFUSED_FROM = 400  # the first status of an answer that says no
ONE_SECOND = timedelta(seconds=1)
ERROR_CODES = {504: ("integration_timeout", "The integration did not answer within 29 seconds.")}


async def meet_fault(call: Call, *, needs_body: bool) -> FaultThen | None:
    """The fault for this call, after its delay has passed; None when there is none."""
    core, exchange = call.sandbox.core, call.exchange
    book = core.state.body_faults if needs_body else core.state.early_faults
    rule = core.fault(_facts(call), exchange.wanted_rule, needs_body=needs_body)
    if rule is None:
        return None
    exchange.fault = rule.label
    await _delay(call, rule, book.times_chosen(rule))
    if rule.then.drip is not None:  # a wait like any other: a faster clock makes it shorter
        return replace(rule.then, drip=rule.then.drip / call.sandbox.clock.wall_seconds(ONE_SECOND))
    return rule.then


def spoiled(call: Call, fault: FaultThen, reply: Reply) -> Reply:
    """What the client gets in place of `reply`. A refusal committed nothing, so that a fault after the commit leaves
    it alone."""
    if fault.after_commit and reply.status >= REFUSED_FROM:
        call.exchange.fault = ""
        return reply
    if fault.status is not None:
        body = fault.body if fault.body is not None else _error_body(fault.status)
        reply = Reply(fault.status, body.encode() if isinstance(body, str) else body)
    if fault.disconnect == "head":
        return Reply(reply.status, b"", ending=ABORT)
    if fault.disconnect == "body":
        return Reply(reply.status, reply.body, reply.headers, CUT, reply.journaled)
    if fault.malformed:
        body = reply.body if isinstance(reply.body, bytes) else encode(reply.body)
        reply = Reply(reply.status, _broken(body), reply.headers, WHOLE, reply.journaled and _broken(reply.journaled))
    if fault.drip is not None:
        return Reply(reply.status, reply.body, reply.headers, drip(fault.drip), reply.journaled)
    return reply


def _broken(content: bytes) -> bytes:
    """The first half and a comma, with which no JSON ends."""
    return content[: len(content) // 2] + b","


def _error_body(status: int) -> dict[str, Any]:
    code, text = ERROR_CODES.get(status, ("scripted_fault", f"A fault of the scenario answers {status}."))
    return errors.coded(code, text)


def _facts(call: Call) -> dict[str, object]:
    exchange = call.exchange
    key = call.headers.get(b"x-api-key", b"").decode("latin-1")
    owner = call.sandbox.core.state.keys.get(key)
    facts: dict[str, object] = {
        "method": exchange.method,
        "path": exchange.path,
        "reseller": owner[0].code if owner else claimed_reseller(call),
        "headers": {name.decode("latin-1"): value.decode("latin-1") for name, value in call.headers.items()},
    }
    for name in ("product", "account", "refid", "amount", "extras"):
        facts[name] = call.fields.get(name, "")
    if call.reseller is not None and isinstance(refid := facts["refid"], str) and refid:
        facts["new"] = "false" if refid in call.reseller.refids else "true"
    return facts


async def _delay(call: Call, rule: Rule[FaultThen], chosen: int) -> None:
    """A real wait: wall time, divided by the rate of a faster clock; drawn from the range, the same in every run."""
    if rule.then.delay is None:
        return
    low, high = rule.then.delay
    sandbox = call.sandbox
    span = low + (high - low) * draw.fraction(sandbox.seed, rule.id, "delay", chosen)
    await asyncio.sleep(sandbox.clock.wall_seconds(span))
    sandbox.driver.catch_up()
