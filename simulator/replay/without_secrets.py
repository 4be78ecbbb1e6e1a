"""A tape without the secrets that were given, which still replays.

In the inputs each of them is replaced by a stand-in. Then the sandbox is rebuilt from these inputs, and what it answers
and sends is what is on the tape: whatever depends on a secret, such as the signature of a webhook, is of the stand-in.
The signatures of clients cannot be made again, so that a replay takes the verdict on them from the tape.
"""

from collections.abc import Iterator

import msgspec

from simulator.replay.given_secrets import secrets_on
from simulator.replay.head import TakenTape, beginning_of, taken
from simulator.replay.masking import Masking
from simulator.replay.player import Again
from simulator.replay.proof import player_for
from simulator.replay.reading import read_tapes
from simulator.replay.rebuilding import nowhere
from simulator.replay.stand_ins import StandIns
from simulator.replay.writing import tape_lines
from simulator.scenario.compiler import ScenarioCompiler


def lines_without_secrets(tape: TakenTape, again: Again) -> Iterator[bytes]:
    """The lines of a tape. It may take as long as the sandbox took for its inputs, and may be made beside the event
    loop."""
    compiler = ScenarioCompiler()
    scenario = beginning_of(tape.head, compiler).spec.scenario
    stand_ins = StandIns()
    for secret in (*tape.head.hidden, *secrets_on(scenario, tape.entries, compiler)):
        stand_ins.add(secret)
    if not stand_ins:
        return tape_lines(tape)
    (given,) = read_tapes(Masking(stand_ins).masked(tape_lines(tape)))
    assert not given.damage, given.damage
    head = msgspec.structs.replace(given.head, masked=True)
    player = player_for(head, again, nowhere())
    for entry in given.entries:
        player.play(entry)
    player.end()
    made = taken(player.live)
    return tape_lines(TakenTape(msgspec.structs.replace(head, entries=len(made.entries)), made.entries, tape.left_out))
