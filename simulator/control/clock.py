"""`/_sim/sandboxes/{id}/clock`: read it, set it, advance it, stop an advance."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.due import fired
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import InvalidInput, body_of, parse_times, refuse_lost_sandbox, reply, sandbox_of
from simulator.domain.errors import Conflict
from simulator.domain.model.instants import LATEST
from simulator.domain.model.money import SERVICE_ZONE
from simulator.runtime.events import Action
from simulator.runtime.lanes import STOPPED, Advance
from simulator.runtime.live_sandbox import LiveSandbox

STOP_TIMEOUT_S = 5.0
"""How long to wait for an advance to stop; a receiver may take longer to answer."""


def _shown(live: LiveSandbox) -> dict[str, Any]:
    running = live.driver.advancing
    return {
        "mode": live.clock.mode,
        "now": render.moment(live.clock.now()),
        "rate": live.clock.rate,
        "pending": len(live.core.state.agenda),
        "next_due": render.moment(live.core.next_due),
        "advancing": None if running is None else _advancing(live, running),
    }


def _advancing(live: LiveSandbox, running: Advance) -> dict[str, Any]:
    return {
        "from": render.moment(running.began),
        "to": render.moment(running.target),
        "now": render.moment(live.clock.now()),
        "fired": running.events,
        "stopping": running.is_stopping,
        "started_wall": render.moment(running.wall),
    }


def _moved(live: LiveSandbox, name: str) -> Action:
    """Return an event with the new state of the clock, so that readers need not request it."""
    clock = live.clock
    return Action(name, clock.now(), clock.mode if name == "clock_set" else "", clock.mode, clock.rate)


async def show(request: Request) -> Response:
    """Return mode, time, rate, and due items."""
    return reply(_shown(sandbox_of(request)))


async def put(request: Request) -> Response:
    """Change mode, rate or time; time never decreases."""
    live = sandbox_of(request)
    wanted = await body_of(request, "clock-request")
    rate = float(wanted["rate"]) if "rate" in wanted else None
    mode = "xN" if "mode" not in wanted and rate is not None else wanted.get("mode")
    now = _time(live, wanted, "now") if "now" in wanted else None
    await live.driver.set_clock(mode, rate, now)
    live.events.note(_moved(live, "clock_set"))
    return reply(_shown(live))


async def advance(request: Request) -> Response:
    """Advance time, deliveries included, and report what happened."""
    live = sandbox_of(request)
    wanted = await body_of(request, "advance-request")
    target = None
    now = live.clock.now()
    if "seconds" in wanted:
        target = now + timedelta(seconds=float(wanted["seconds"]))
        if target >= LATEST:
            raise InvalidInput(
                f"seconds must end before {LATEST:%Y}: it is {now.astimezone(SERVICE_ZONE).isoformat()}", "seconds"
            )
    elif "to" in wanted:
        target = _time(live, wanted, "to")
        if target < now:
            raise InvalidInput(f"to is in the past: it is {now.astimezone(SERVICE_ZONE).isoformat()}", "to")
    done = await live.driver.advance(target)
    live.events.note(_moved(live, "clock_advanced"))
    return reply(_report(live, done))


def _time(live: LiveSandbox, wanted: dict[str, Any], name: str) -> datetime:
    """Return the target time of an advance: the present if the text may mean it. Raises `InvalidInput`."""
    (at, latest), now = parse_times(wanted[name], name), live.clock.now()
    return now if at < now <= latest else at


async def stop(request: Request) -> Response:
    """Stop the running advance after its current step. Raises `Conflict` when none runs."""
    live = sandbox_of(request)
    refuse_other_parameters(request)
    running = live.driver.advancing
    if running is None:
        raise Conflict("not_advancing", "this sandbox is not being advanced, so there is nothing to stop")
    if not running.is_stopping:
        live.events.note(_moved(live, "advance_stopped"))
    await running.stop(STOP_TIMEOUT_S)
    refuse_lost_sandbox(request)
    return reply(_shown(live))


def _report(live: LiveSandbox, done: Advance) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "now": render.moment(live.clock.now()),
        "fired": [fired(one) for one in done.fired],
        "left_out": done.left_out,
        "idle": done.is_idle,
        "stopped": done.stopped == STOPPED,
    }
    if held := Counter(each.name for each in live.holds):
        fields["held"] = dict(held)
    if done.stopped:
        fields["reason"] = done.stopped
    return fields
