"""`/_sim/sandboxes/{id}/tape`, `…/marks` and `…/rewind`: the tape of a sandbox, its marks, and
sandboxes that begin from a tape."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from time import monotonic
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.access import may_see_secrets
from simulator.control.filters import query_of, refuse_other_parameters
from simulator.control.http import InvalidInput, base_url, body_of, parse_times, reply, sandboxes_of
from simulator.domain.errors import Conflict, DomainError, Unacceptable, Unknown
from simulator.persistence.replay.codec import BadTape
from simulator.persistence.replay.rebuilding import load_whole_tape
from simulator.persistence.replay.tape_reader import ReadTape, lines_of, read_tapes
from simulator.persistence.replay.tape_redaction import CannotMask, lines_in_steps
from simulator.persistence.replay.tape_writer import TakenTape, packed, take_tape, tape_lines
from simulator.persistence.rewinding import MomentRef, Rewinder, refuse_lost
from simulator.redaction import Secrets
from simulator.runtime.background import in_background, place
from simulator.runtime.live_sandbox import LiveSandbox


async def list_marks(request: Request, live: LiveSandbox) -> Response:
    """List the marks in order of creation."""
    return reply({"marks": [render.members(mark, "name", "n", "at") for mark in live.marks]})


async def add_mark(request: Request, live: LiveSandbox) -> Response:
    """Mark the present, once all items due by now have been processed."""
    name = (await body_of(request, "mark-request"))["name"]
    life = live.life
    await live.process_due()
    refuse_lost(live, life)
    mark = rewinder_of(request).mark(live, name)
    return reply(render.members(mark, "name", "n", "at"), 201)


async def remove_mark(request: Request, live: LiveSandbox) -> Response:
    """Delete a mark; the tape stays."""
    refuse_other_parameters(request)
    name = request.path_params["mark"]
    live.marks.remove(name)
    live.keeper.unmark(live, name)
    return Response(status_code=204)


async def rewind(request: Request, live: LiveSandbox) -> Response:
    """Return to a moment. Raises `Busy` when too many are being rebuilt."""
    asked = asked_of(await body_of(request, "rewind-request"))
    with place(0):
        await rewinder_of(request).rewind(live, asked)
    return reply(render.sandbox(live, base_url(request)))


async def fork(request: Request, wanted: Mapping[str, Any]) -> LiveSandbox:
    """Return the fork that a request to create a sandbox asks for; `wanted` is its body."""
    sandboxes, what = sandboxes_of(request), wanted["fork"]
    original = sandboxes.find(what["of"])
    if original is None:
        text = f"there is no sandbox {what['of']!r}; GET /_sim/sandboxes lists them"
        raise Unknown("unknown_sandbox", text, "fork.of")
    await original.process_due()
    try:
        return await rewinder_of(request).fork(original, asked_of(what, "fork."), sandboxes, wanted.get("id"))
    except DomainError as error:
        if error.path in MomentRef._fields:  # the body has them within `fork`
            error.path = f"fork.{error.path}"
        raise


def asked_of(wanted: Mapping[str, Any], path: str = "") -> MomentRef:
    """Return the moment that a body names. Raises `InvalidInput`."""
    if "to" in wanted:
        return MomentRef(to=parse_times(wanted["to"], f"{path}to"))
    return MomentRef(wanted.get("mark"), n=int(wanted["n"]) if "n" in wanted else None)


def rewinder_of(request: Request) -> Rewinder:
    """Return the rewinder of the server's sandboxes."""
    found: Rewinder = request.app.state.rewinder
    return found


MEDIA_TYPE = "application/octet-stream"
SLICE_S: Final = 0.05
"""How long the file is rendered before other users of the thread get a turn."""

READ_BYTES_MAX: Final = 256 * 1024 * 1024
"""The memory limit for reading a tape to begin a sandbox from."""


async def begin(request: Request, content: bytes, wanted: Mapping[str, Any], id_: str | None, path: str) -> LiveSandbox:
    """Return a new sandbox that begins at the moment of a tape that is `wanted`; `path` is the position of this value
    in the request."""
    if len(wanted.keys() & set(MomentRef._fields)) > 1:
        raise InvalidInput(f"give at most one of {', '.join(MomentRef._fields)}", path.rstrip("."))
    try:
        tape = await in_background(_chosen, content, wanted.get("sandbox"), wanted.get("life"))
        return await rewinder_of(request).begin(tape, asked_of(wanted, path), sandboxes_of(request), id_)
    except BadTape as bad:
        raise Unacceptable("bad_tape", str(bad), path.rstrip(".")) from None
    except DomainError as error:
        error.path = error.path and (error.path if error.path == "id" else f"{path}{error.path}")
        raise


def _chosen(content: bytes, sandbox: str | None, life: int | None) -> ReadTape:
    """Return a tape of a file, the last tape of the sandbox if no life is named. Raises `BadTape`."""
    tapes = list(read_tapes(lines_of(BytesIO(content), READ_BYTES_MAX), READ_BYTES_MAX))
    names = list(dict.fromkeys(tape.head.sandbox for tape in tapes))
    if sandbox is None and len(names) > 1:
        raise BadTape(f"the file has the tapes of {', '.join(names)}: choose one with 'sandbox'")
    found = [tape for tape in tapes if sandbox in (None, tape.head.sandbox)]
    if not found:
        raise BadTape(f"the file has no tape of {sandbox}; it has {', '.join(names)}" if names else "it is empty")
    if life is not None and life > len(found):
        raise BadTape(f"the file has {len(found)} lives of {found[0].head.sandbox}, but not life {life}")
    chosen = found[-1 if life is None else life - 1]
    if chosen.damage and not chosen.is_cut:
        raise BadTape(chosen.damage)
    return chosen


async def show(request: Request, live: LiveSandbox) -> Response:
    """Return the tape up to now, as a file. Raises `Busy` when too many are being rendered."""
    may_see_secrets(request, "a tape")  # also one with stand-ins has what the seed draws, such as tokens that are valid
    shows_secrets = query_of(request, "tape-query").get("secrets") == "shown"
    with place(live.tape.bytes):
        await load_whole_tape(live.tape)
        tape = take_tape(live)
        steps = _with_secrets(tape) if shows_secrets else lines_in_steps(tape, request.app.state.replayer)
        try:
            lines = await _all(steps)
        except CannotMask as error:
            text = f"the tape cannot be redacted: {error}; ask for it with ?secrets=shown"
            raise Conflict("cannot_mask", text) from None
        content = b"".join(await _all(packed(lines)))
    headers = {"content-disposition": f'attachment; filename="{live.id}.tape"'}
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


def _with_secrets(tape: TakenTape) -> Iterator[bytes]:
    """Yield the lines of a tape with the secrets of its sandbox, but never with the server's: raises `Conflict` when
    the sandbox received a secret of the server."""
    of_server = Secrets(tape.server)
    for line in tape_lines(tape):
        if any(of_server.spans(line)):
            text = "this sandbox received a token of the control API, which is never shown; ask without ?secrets=shown"
            raise Conflict("cannot_show", text)
        yield line


async def _all(steps: Iterator[bytes | None]) -> list[bytes]:
    """Return the results of all steps, executed in a thread in slices."""
    made: list[bytes] = []

    def execute_some() -> bool:
        begun = monotonic()
        for step in steps:
            if step is not None:
                made.append(step)
            if monotonic() - begun > SLICE_S:
                return True
        return False

    while await in_background(execute_some):
        pass
    return made
