"""`/_sim/sandboxes/{id}/audit`: what SPEC asks of a client, and whether this one does it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.audit.audit import Obligation, as_json, audited
from simulator.audit.traffic import Rate
from simulator.control.http import in_slices, reply, sandbox_of, sandboxes_of
from simulator.control.masking import mask_of
from simulator.control.parameters import refuse_other_parameters
from simulator.runtime.background import in_background, place
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.seen import Log, log_in_slices, log_of


async def show(request: Request) -> Response:
    """Every obligation, judged from what the journal and the delivery logs have kept."""
    refuse_other_parameters(request)
    live = sandbox_of(request)
    with place(0):
        [log] = await in_slices(log_in_slices(live))
        obligations = await in_background(judged, log, rate_of(live))
    sandboxes = sandboxes_of(request)
    # A refused request may have the credentials of another sandbox.
    owners = {one.owner for one in log.exchanges if one.owner}
    mask = mask_of(live, sandboxes, map(sandboxes.find, owners))
    return reply(as_json(obligations, left_out=log.left_out, shown=mask.text))


def judged(log: Log, rate: Rate | None) -> list[Obligation]:
    """The audit of a log."""
    return audited(log.calls(), log.notifications(), until=log.now, rate=rate)


def answer_of(live: LiveSandbox) -> dict[str, Any]:
    """The answer about a sandbox that nothing changes any more; secrets in it are not hidden yet."""
    log = log_of(live)
    return as_json(judged(log, rate_of(live)), left_out=log.left_out)


def rate_of(live: LiveSandbox) -> Rate | None:
    """The sandbox's own limit of requests."""
    limits = live.scenario.limits
    if limits.requests_per_interval is None:
        return None
    return Rate(limits.requests_per_interval, limits.rate_limit_interval)
