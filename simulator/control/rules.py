"""`/_sim/sandboxes/{id}/rules`: a scenario rule for the running sandbox, placed first."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import body_of, nothing, reply, sandbox_of
from simulator.domain.commands import AddRule, RemoveRule
from simulator.scenario.build import build_rule


async def add(request: Request) -> Response:
    """Place a rule before all others."""
    live = sandbox_of(request)
    wanted = await body_of(request, "rule-request")
    section = wanted["section"]
    state = live.core.state
    rule = build_rule(
        section,
        wanted["rule"],
        f"added-{live.rules_added + 1}",
        products=state.catalog.products,
        resellers=state.resellers,
    )
    live.core.apply(AddRule(section, rule), live.clock.now())
    live.rules_added += 1
    return reply({"id": rule.id}, 201)


async def remove(request: Request) -> Response:
    """Take a rule out; transactions that began under it go on."""
    live = sandbox_of(request)
    live.core.apply(RemoveRule(request.path_params["rule"]), live.clock.now())
    return nothing()
