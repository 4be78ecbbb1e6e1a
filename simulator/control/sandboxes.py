"""`/_sim/sandboxes`: create, list, show, reset, delete; and check the invariants."""

from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.clock import refuse_idle_rate
from simulator.control.http import (
    InvalidInput,
    bytes_of,
    decoded,
    in_slices,
    no_content,
    parse_time,
    reply,
    sandbox_of,
    sandboxes_of,
)
from simulator.runtime.background import in_background, place
from simulator.runtime.live_sandbox import LiveSandbox, SandboxSpec
from simulator.scenario.library import load_scenario, names, scenario_from_object


def base_url(request: Request) -> str:
    """The server's URL as this client reaches it."""
    return f"{request.url.scheme}://{request.headers['host']}"


async def list_all(request: Request) -> Response:
    """Every sandbox."""
    url = base_url(request)
    rows = await in_slices([render.sandbox(live, url)] for live in sandboxes_of(request))
    return reply({"sandboxes": rows})


async def create(request: Request) -> Response:
    """Create a sandbox, ready for use. Raises `Busy` when too many are being created."""
    raw = await bytes_of(request)
    with place(len(raw)):
        live = await _created(request, await in_background(decoded, raw, "sandbox-request", may_be_empty=True))
    live.start()
    return reply(render.sandbox(live, base_url(request)), 201)


async def _created(request: Request, wanted: dict[str, Any]) -> LiveSandbox:
    clock = wanted.get("clock", {})
    refuse_idle_rate(_mode(clock), _rate(clock))
    return await sandboxes_of(request).build(
        SandboxSpec(
            scenario=await _scenario(wanted.get("scenario", request.app.state.default_scenario)),
            id=wanted.get("id"),
            seed=wanted.get("seed"),
            mode=_mode(clock),
            rate=_rate(clock),
            start=_start(clock),
            unique_credentials=wanted.get("credentials") == "unique",
        )
    )


async def _scenario(wanted: Any) -> Any:
    """A bundled scenario by name, or one from an object; clients may not name a path."""
    if isinstance(wanted, str):
        if wanted not in names():
            raise InvalidInput(
                f"there is no bundled scenario {wanted!r}; choose one of {', '.join(names())}", "scenario"
            )
        return await in_background(load_scenario, wanted)
    return await in_background(scenario_from_object, wanted) if isinstance(wanted, dict) else wanted


def _mode(clock: dict[str, Any]) -> str | None:
    """A clock with a rate alone runs at that rate."""
    mode: str | None = clock.get("mode")
    return "xN" if mode is None and "rate" in clock else mode


def _rate(clock: dict[str, Any]) -> float | None:
    return float(clock["rate"]) if "rate" in clock else None


def _start(clock: dict[str, Any]) -> datetime | None:
    return parse_time(clock["start"], "clock.start") if clock.get("start") is not None else None


async def show(request: Request) -> Response:
    """One sandbox."""
    return reply(render.sandbox(sandbox_of(request), base_url(request)))


async def delete(request: Request) -> Response:
    """Delete a sandbox."""
    await sandboxes_of(request).delete(request.path_params["sandbox"])
    return no_content()


async def reset(request: Request) -> Response:
    """Return to the start of the scenario. Raises `Busy` when too many are being reset."""
    live = sandbox_of(request)
    with place(0):
        await live.reset()
    return reply(render.sandbox(live, base_url(request)))


async def invariants(request: Request) -> Response:
    """The violated invariants of the ledger, as of this request."""
    violations = await in_slices(sandbox_of(request).core.violations_in_slices())
    return reply({"ok": not violations, "violations": violations})
