"""The health and readiness of a server: `/_sim/health` and `/_sim/ready`, also before the application exists."""

import logging
from collections.abc import Callable, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from simulator import __version__
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import error, reply
from simulator.control.sharding import shards_of
from simulator.runtime.operations import STARTING, NotReady, Operations
from simulator.shards.ring import NAME_HEADER, NAMES_HEADER
from simulator.shards.servers import is_name
from simulator.shards.shards import Shards
from simulator.wire.money import encode


async def health(request: Request) -> Response:
    """Return the status and the version."""
    return reply({"status": "ok", "version": __version__})


async def ready(request: Request) -> Response:
    """Return 200 when the server is ready for requests; 503 with the reason while it starts or stops, or when its proxy
    mistakes it for another shard."""
    refuse_other_parameters(request)
    operations: Operations = request.app.state.operations
    why = operations.not_ready or wrong_place(request)
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


SAID_MAX: Final = 16
"""The limit of different log lines, since anyone can send any name."""

_LOG: Final = logging.getLogger(__name__)
_said: set[str] = set()


def wrong_place(request: Request) -> NotReady | None:
    """Return why this server is not the shard that the proxy takes it for; None when it is, or without such a header. A
    different list of shards is only logged, since servers get a new list before the proxy does."""
    name = request.headers.get(NAME_HEADER)
    if name is None or not is_name(name):
        return None
    shards = shards_of(request)
    if shards is None or shards.own.name != name:
        found = NotReady(
            "wrong_shard", f"the proxy takes this server for {name!r}, and it was started {_as(shards, name)}"
        )
        _log(found.message)
        return found
    names = request.headers.get(NAMES_HEADER, shards.digest)
    if names != shards.digest:
        _log(
            f"the list of the proxy differs from --shards, which has {', '.join(shards.servers)}:"
            " write its configuration again with shard-config, or start this server with the list of the proxy"
        )
    return None


def _as(shards: Shards | None, name: str) -> str:
    do = f"start it with --shard {name}, or write the configuration of the proxy again with shard-config"
    if shards is None:
        return f"without --shards and --shard; {do}"
    return f"with --shard {shards.own.name}; {do}"


def _log(line: str) -> None:
    if line not in _said and len(_said) < SAID_MAX:
        _said.add(line)
        _LOG.warning(line)
