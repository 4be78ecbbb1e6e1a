"""`/_sim/sandboxes/{id}/holds`: list and release answers and deliveries that rules hold."""

from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.contract.validate import validator
from simulator.control import render
from simulator.control.filters import query_of, refuse_other_parameters, wait_of
from simulator.control.http import InvalidInput, body_of, reply, sandbox_of
from simulator.runtime.holds import HELD_S_MAX, HoldEntry


async def list_all(request: Request) -> Response:
    """List the held items, first come first; with `wait_for`, wait until that many are held or the timeout passes."""
    query = query_of(request, "holds-query")
    live, name = sandbox_of(request), query.get("name", "")
    wait_for, timeout_s = wait_of(query)
    holds, complete = live.holds, True
    if wait_for:
        complete = await live.wait_until(lambda: len(holds.of(name)) >= wait_for, timeout_s, holds.notifier)
    now = live.clock.wall()
    return reply({"holds": [_row(held, now) for held in holds.of(name)], "complete": complete})


async def release(request: Request) -> Response:
    """Release the items that wait under a name: the first `count`, all by default."""
    refuse_other_parameters(request)
    wanted = await body_of(request, "release-request", may_be_empty=True)
    count = int(wanted["count"]) if "count" in wanted else None
    holds, name = sandbox_of(request).holds, request.path_params["name"]
    readable = name.encode("utf-8", "replace").decode()  # bytes of a path that are not UTF-8 are lone surrogates
    for text in validator("holds-query").problems({"name": readable}).get("name", ()):
        raise InvalidInput(text, "name")
    released = holds.release(name, count)
    return reply({"released": released, "held": len(holds.of(name)) - released})


def _row(held: HoldEntry, now: datetime) -> dict[str, Any]:
    waited_s = max(0.0, (now - held.wall).total_seconds())
    return {
        "name": held.name,
        "kind": held.kind,
        "what": held.what,
        "refid": held.refid,
        "job": held.job or None,
        "since": render.moment(held.since),
        "waited": round(waited_s, 3),
        "ends_in": round(max(0.0, HELD_S_MAX - waited_s), 3),
    }
