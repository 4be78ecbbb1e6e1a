"""Check that each sandbox of a world can be rebuilt from its tape."""

from itertools import chain

from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.rebuilding import nowhere, player_for
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from tests.support.replaying import play_whole, read_back, replayed
from tools.worlds.sandbox_view import view_of
from tools.worlds.world import World


def tapes(made: World) -> list[str]:
    """Return the differences after a rebuild from the tape in memory. This is a proof of a run."""
    problems = []
    for live in made.app.sandboxes:
        if live.is_closed:  # its tape already belongs to its next life, which has not begun
            continue
        player, difference = replayed(made.app, live)
        if difference is not None:
            problems.append(_said(live.id, difference))
        else:
            before, after = view_of(live), view_of(player.live)
            problems += [f"{live.id}: {name}: {before[name]} was {after[name]} when replayed"
                         for name in before if before[name] != after[name]]  # fmt: skip
    return problems


def written_tapes(made: World) -> list[str]:
    """Return the differences after a rebuild from written tapes, with and without secrets. This is a proof of a
    run."""
    problems = []
    for live in (one for one in made.app.sandboxes if not one.is_closed):
        for shows_secrets in (True, False):
            tape = read_back(made.app, live, shows_secrets=shows_secrets)
            difference = play_whole(player_for(tape.head, made.app.replayer, nowhere()), tape)
            if difference is not None:
                problems.append(_said(live.id, difference))
    return problems


def _said(box: str, found: Difference) -> str:
    sides = f"{found.recorded!r} was {found.replayed!r} when replayed"
    return f"{box}: entry {found.entry} of its tape: {found.what}: {sides}"


def lines(made: World) -> bytes:
    """Return the tapes of all sandboxes as a file that `replay` reads."""
    return b"".join(chain.from_iterable(tape_lines(take_tape(live)) for live in made.app.sandboxes))
