"""`/_sim/sandboxes/{id}/tape`: the inputs of a sandbox, to be replayed elsewhere."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import sandbox_of
from simulator.control.parameters import query_of
from simulator.domain.errors import Conflict
from simulator.replay.head import TakenTape, taken
from simulator.replay.player import Again
from simulator.replay.tape_file import packed
from simulator.replay.without_secrets import CannotMask, lines_without_secrets
from simulator.replay.writing import tape_lines
from simulator.runtime.background import in_background, place
from simulator.runtime.unread import whole

MEDIA_TYPE = "application/octet-stream"


async def show(request: Request) -> Response:
    """The tape up to now, as a file. Raises `Busy` when too much is being made at the same time."""
    live = sandbox_of(request)
    shows_secrets = query_of(request, "tape-query").get("secrets") == "shown"
    with place(live.tape.bytes):
        await whole(live.tape)
        try:
            content = await in_background(_file, taken(live), None if shows_secrets else request.app.state.again)
        except CannotMask as error:
            raise Conflict(
                "cannot_mask", f"the tape cannot be had without its secrets: {error}; ask for it with ?secrets=shown"
            ) from None
    name = f"{live.id}.tape"
    return Response(content, media_type=MEDIA_TYPE, headers={"content-disposition": f'attachment; filename="{name}"'})


def _file(tape: TakenTape, again: Again | None) -> bytes:
    """The file; without secrets if there is somebody who answers requests again."""
    return b"".join(packed(tape_lines(tape) if again is None else lines_without_secrets(tape, again)))
