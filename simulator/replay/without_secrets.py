"""A tape without the secrets that were given, which still replays.

In the inputs each of them is replaced by a stand-in. Then the sandbox is rebuilt from these inputs, and what it answers
and sends is what is on the tape: whatever depends on a secret, such as the signature of a webhook, is of the stand-in.
The signatures of clients cannot be made again, so that a replay takes the verdict on them from the tape.
"""

from collections.abc import Iterator, Sequence

import msgspec

from simulator.replay.given_secrets import published, secrets_on
from simulator.replay.head import TakenTape, beginning_of, taken
from simulator.replay.masking import Masking
from simulator.replay.player import Again
from simulator.replay.proof import player_for
from simulator.replay.reading import read_tapes
from simulator.replay.rebuilding import nowhere
from simulator.replay.stand_ins import StandIns
from simulator.replay.writing import tape_lines
from simulator.runtime.journal import Exchange
from simulator.scenario.compiler import ScenarioCompiler
from simulator.tape.entries import AttemptSent, Entry


class CannotMask(Exception):
    """With stand-ins for its secrets this tape would tell something else; the text says why."""


def lines_without_secrets(tape: TakenTape, again: Again) -> Iterator[bytes]:
    """The lines of a tape. It may take as long as the sandbox took for its inputs, and may be made beside the event
    loop. Raises `CannotMask`."""
    try:
        return _lines(tape, again)
    except CannotMask:
        raise
    except Exception as error:  # a secret is also a word of the scenario, or of the tape
        raise CannotMask(f"a secret of it is also something else ({type(error).__name__}: {error})") from None


def _lines(tape: TakenTape, again: Again) -> Iterator[bytes]:
    compiler = ScenarioCompiler()
    scenario = beginning_of(tape.head, compiler).spec.scenario
    stand_ins = StandIns(published())
    for secret in (*tape.head.hidden, *secrets_on(scenario, tape.entries, compiler)):
        stand_ins.add(secret)
    before = list(tape_lines(tape))
    masked = list(Masking(stand_ins).masked(before))
    if masked == before:
        return iter(before)
    (given,) = read_tapes(masked)
    assert not given.damage, given.damage
    head = msgspec.structs.replace(given.head, masked=True)
    player = player_for(head, again, nowhere())
    for entry in given.entries:
        player.play(entry)
    player.end()
    made = taken(player.live)
    if _answered(made.entries) != _answered(tape.entries):
        raise CannotMask("a secret of it is also something else, such as an account: requests are answered otherwise")
    if _sent(made.entries) != _sent(tape.entries):
        raise CannotMask("a secret of it is also something else: other callbacks or webhooks are sent")
    written = made._replace(head=msgspec.structs.replace(head, entries=len(made.entries)), left_out=tape.left_out)
    return tape_lines(written if not tape.left_out else written._replace(due=None))


def _answered(entries: Sequence[Entry]) -> list[tuple[int, int, str]]:
    """What was answered to the requests on a tape, in few words."""
    found = (getattr(one, "exchange", one) for one in entries)
    return [(one.n, one.status, one.error) for one in found if isinstance(one, Exchange) and one.n]


def _sent(entries: Sequence[Entry]) -> list[tuple[str, int]]:
    """The attempts on a tape."""
    return [(one.job, one.attempt) for one in entries if isinstance(one, AttemptSent)]
