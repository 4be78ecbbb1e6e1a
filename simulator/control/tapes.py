"""`/_sim/sandboxes/{id}/tape`: the inputs of a sandbox, to be replayed elsewhere; never with tokens of the server."""

from collections.abc import Iterator
from time import monotonic
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from simulator.control.access import may_see_secrets
from simulator.control.http import sandbox_of
from simulator.control.parameters import query_of
from simulator.domain.errors import Conflict
from simulator.persistence.replay.head import TakenTape, taken
from simulator.persistence.replay.tape_writer import packed, tape_lines
from simulator.persistence.replay.without_secrets import CannotMask, lines_in_steps
from simulator.redaction import Secrets
from simulator.runtime.background import in_background, place
from simulator.runtime.unread import whole

MEDIA_TYPE = "application/octet-stream"
SLICE_S: Final = 0.05
"""How long the file is made without a turn for others who wait for the same thread."""


async def show(request: Request) -> Response:
    """The tape up to now, as a file. Raises `Busy` when too much is being made at the same time."""
    live = sandbox_of(request)
    may_see_secrets(request, "a tape")  # also one with stand-ins has what the seed draws, such as tokens that are valid
    shows_secrets = query_of(request, "tape-query").get("secrets") == "shown"
    with place(live.tape.bytes):
        await whole(live.tape)
        tape = taken(live)
        try:
            lines = await _all(_with_secrets(tape) if shows_secrets else lines_in_steps(tape, request.app.state.again))
        except CannotMask as error:
            raise Conflict(
                "cannot_mask", f"the tape cannot be had without its secrets: {error}; ask for it with ?secrets=shown"
            ) from None
        content = b"".join(await _all(packed(lines)))
    name = f"{live.id}.tape"
    return Response(content, media_type=MEDIA_TYPE, headers={"content-disposition": f'attachment; filename="{name}"'})


def _with_secrets(tape: TakenTape) -> Iterator[bytes]:
    """The lines of a tape with the secrets of its sandbox. Whoever may see those may not see the server's: raises
    `Conflict` when one of them came to it."""
    of_server = Secrets((*tape.head.hidden, *tape.server))
    for line in tape_lines(tape._replace(head=msgspec.structs.replace(tape.head, hidden=()))):
        if len(of_server) and of_server.all_in(line):
            text = "a token of the control API came to this sandbox, which nobody is shown; ask without ?secrets=shown"
            raise Conflict("cannot_show", text)
        yield line


async def _all(steps: Iterator[bytes | None]) -> list[bytes]:
    """What the steps answer, made beside the event loop, in slices."""
    made: list[bytes] = []
    while await in_background(_slice, steps, made):
        pass
    return made


def _slice(steps: Iterator[bytes | None], made: list[bytes]) -> bool:
    """Take some steps; False when there are no more."""
    begun = monotonic()
    for step in steps:
        if step is not None:
            made.append(step)
        if monotonic() - begun > SLICE_S:
            return True
    return False
