"""What the proxy before several servers takes this one for, as its checks of `/_sim/ready` say, and what differs."""

import logging
from typing import Final

from starlette.requests import Request

from simulator.control.joined import shards_of
from simulator.runtime.operations import NotReady
from simulator.shards.ring import NAME_HEADER, NAMES_HEADER
from simulator.shards.servers import is_name
from simulator.shards.shards import Shards

SAID_MAX: Final = 16
"""Anybody may ask, with any name: so many different lines are logged."""

_LOG: Final = logging.getLogger(__name__)
_said: set[str] = set()


def wrong_place(request: Request) -> NotReady | None:
    """Why this server is not the one that the proxy takes it for; None when it is, or when nobody says. That the proxy
    has another list is logged alone: servers get a new one before the proxy does."""
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
            f"the list of the proxy has other servers than that of --shards, which has {', '.join(shards.servers)}:"
            " write its configuration anew with shard-config, or start this server with the list of now"
        )
    return None


def _as(shards: Shards | None, name: str) -> str:
    do = f"start it with --shard {name}, or write the configuration of the proxy anew with shard-config"
    if shards is None:
        return f"without --shards and --shard; {do}"
    return f"with --shard {shards.own.name}; {do}"


def _log(line: str) -> None:
    if line not in _said and len(_said) < SAID_MAX:
        _said.add(line)
        _LOG.warning(line)
