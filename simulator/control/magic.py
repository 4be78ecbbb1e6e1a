"""`/_sim/sandboxes/{id}/magic`: the magic accounts of the sandbox's scenario."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import reply, sandbox_of
from simulator.control.parameters import refuse_other_parameters


async def show(request: Request) -> Response:
    """What the last digits of an account mean: `outcomes` by `OO`, `durations` in seconds by `D`."""
    refuse_other_parameters(request)
    magic = sandbox_of(request).scenario.magic
    outcomes = [{"digits": digits, "outcome": text} for digits, text in magic.outcomes.items()]
    durations = [{"digit": digit, "seconds": span.total_seconds()} for digit, span in magic.durations.items()]
    return reply({"outcomes": outcomes, "durations": durations})
