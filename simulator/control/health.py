"""The health and readiness of a server: `/_sim/health` and `/_sim/ready`, also before the application exists."""

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response

from simulator import __version__
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import error, reply
from simulator.runtime.operations import STARTING, Operations
from simulator.wire.money import encode


async def health(request: Request) -> Response:
    """Return the status and the version."""
    return reply({"status": "ok", "version": __version__})


async def ready(request: Request) -> Response:
    """Return 200 when the server is ready for requests; 503 with the reason while it starts or stops, or while its
    store does not answer."""
    refuse_other_parameters(request)
    operations: Operations = request.app.state.operations
    why = operations.not_ready or operations.store_trouble
    return reply({"status": "ready", "version": __version__}) if why is None else error(503, why.code, why.message)


Answer = Callable[[], tuple[int, bytes]]
"""Returns a status and a body in the form of the control API."""


def early_answers(operations: Operations, root: str = "") -> Mapping[str, Answer]:
    """Return the answers by path, also below the `root` path of a proxy."""

    def ready() -> tuple[int, bytes]:
        why = operations.not_ready or STARTING
        return 503, encode({"error": why.code, "message": why.message, "path": ""})

    answers: dict[str, Answer] = {
        "/_sim/health": lambda: (200, encode({"status": "ok", "version": __version__})),
        "/_sim/ready": ready,
    }
    return {f"{before}{path}": one for path, one in answers.items() for before in ("", root)}
