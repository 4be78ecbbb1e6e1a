"""`/_sim/sandboxes/{id}/marks` and `…/rewind`: name moments of a sandbox, return to one; and fork it from one."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.http import base_url, body_of, no_content, parse_times, reply, sandbox_of, sandboxes_of
from simulator.control.parameters import refuse_other_parameters
from simulator.domain.errors import DomainError, Unknown
from simulator.persistence.moments import Asked
from simulator.persistence.rewinding import Rewinder, refuse_lost
from simulator.runtime.background import place
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.marks import Mark


def _shown(mark: Mark) -> dict[str, Any]:
    return {"name": mark.name, "n": mark.n, "at": render.moment(mark.at)}


async def list_marks(request: Request) -> Response:
    """The marks, in the order in which they were made."""
    return reply({"marks": [_shown(one) for one in sandbox_of(request).marks]})


async def add_mark(request: Request) -> Response:
    """Mark the present, once what is due by now has happened."""
    live = sandbox_of(request)
    name = (await body_of(request, "mark-request"))["name"]
    life = live.driver
    await live.catch_up()
    refuse_lost(live, life)
    return reply(_shown(rewinder_of(request).mark(live, name)), 201)


async def remove_mark(request: Request) -> Response:
    """Forget a mark; the tape stays."""
    refuse_other_parameters(request)
    live, name = sandbox_of(request), request.path_params["mark"]
    live.marks.remove(name)
    live.keeper.unmark(live, name)
    return no_content()


async def rewind(request: Request) -> Response:
    """Return to a moment. Raises `Busy` when too many are being rebuilt."""
    live = sandbox_of(request)
    asked = asked_of(await body_of(request, "rewind-request"))
    with place(0):
        await rewinder_of(request).rewind(live, asked)
    return reply(render.sandbox(live, base_url(request)))


async def fork(request: Request, wanted: Mapping[str, Any]) -> LiveSandbox:
    """The second sandbox that a request to create one asks for; `wanted` is its body."""
    sandboxes, what = sandboxes_of(request), wanted["fork"]
    original = sandboxes.find(what["of"])
    if original is None:
        text = f"there is no sandbox {what['of']!r}; GET /_sim/sandboxes lists them"
        raise Unknown("unknown_sandbox", text, "fork.of")
    await original.catch_up()
    try:
        return await rewinder_of(request).fork(original, asked_of(what, "fork."), sandboxes, wanted.get("id"))
    except DomainError as error:
        if error.path in Asked._fields:  # the body has them within `fork`
            error.path = f"fork.{error.path}"
        raise


def asked_of(wanted: Mapping[str, Any], path: str = "") -> Asked:
    """The moment that a body names. Raises `InvalidInput`."""
    if "to" in wanted:
        return Asked(to=parse_times(wanted["to"], f"{path}to"))
    return Asked(wanted.get("mark"), n=int(wanted["n"]) if "n" in wanted else None)


def rewinder_of(request: Request) -> Rewinder:
    """What rewinds and forks the sandboxes of the server."""
    found: Rewinder = request.app.state.rewinder
    return found
