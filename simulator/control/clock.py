"""`/_sim/sandboxes/{id}/clock`: read it, set it, advance it."""

from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.fired import fired
from simulator.control.http import InvalidInput, body_of, parse_time, reply, sandbox_of
from simulator.domain.model.instants import LATEST
from simulator.runtime.advance import Advance
from simulator.runtime.event_items import Action
from simulator.runtime.live_sandbox import LiveSandbox


def _shown(live: LiveSandbox) -> dict[str, Any]:
    return {
        "mode": live.clock.mode,
        "now": render.moment(live.clock.now()),
        "rate": live.clock.rate,
        "pending": len(live.core.state.agenda),
        "next_due": render.moment(live.core.next_due),
    }


async def show(request: Request) -> Response:
    """Mode, time, rate, and due items."""
    return reply(_shown(sandbox_of(request)))


async def put(request: Request) -> Response:
    """Change mode, rate or time; time never decreases."""
    live = sandbox_of(request)
    wanted = await body_of(request, "clock-request")
    rate = float(wanted["rate"]) if "rate" in wanted else None
    mode = "xN" if "mode" not in wanted and rate is not None else wanted.get("mode")
    now = parse_time(wanted["now"], "now") if "now" in wanted else None
    await live.driver.set_clock(mode, rate, now)
    live.events.note(Action("clock_set", live.clock.now(), live.clock.mode))
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
            raise InvalidInput(f"seconds must end before {LATEST:%Y}: it is {now.isoformat()}", "seconds")
    elif "to" in wanted:
        target = parse_time(wanted["to"], "to")
        if target < now:
            raise InvalidInput(f"to is in the past: it is {now.isoformat()}", "to")
    done = await live.driver.advance(target)
    live.events.note(Action("clock_advanced", live.clock.now()))
    return reply(_report(live, done))


def _report(live: LiveSandbox, done: Advance) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "now": render.moment(live.clock.now()),
        "fired": [fired(one) for one in done.fired],
        "left_out": done.left_out,
        "idle": done.is_idle,
    }
    if done.stopped:
        fields["reason"] = done.stopped
    return fields
