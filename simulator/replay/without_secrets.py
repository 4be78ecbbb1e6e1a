"""A tape without the secrets that were given, which still replays.

In the inputs each of them is replaced by a stand-in. Then the sandbox is rebuilt from these inputs, and what it answers
and sends is what is on the tape: whatever depends on a secret, such as the signature of a webhook, is of the stand-in.
The signatures of clients cannot be made again, so that a replay takes the verdict on them from the tape.
"""

from collections.abc import Iterator

import msgspec

from simulator import __version__
from simulator.replay.given_secrets import secrets_on
from simulator.replay.head import head_of
from simulator.replay.masking import Masking
from simulator.replay.player import Again
from simulator.replay.proof import player_for
from simulator.replay.reading import read_tapes
from simulator.replay.rebuilding import nowhere
from simulator.replay.stand_ins import StandIns
from simulator.replay.writing import lines_of
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.compiler import ScenarioCompiler


def lines_without_secrets(live: LiveSandbox, again: Again) -> Iterator[bytes]:
    """The lines of a sandbox's tape up to now. It may take as long as the sandbox took for its inputs, and may be made
    beside the event loop."""
    entries = list(live.tape)
    scenario, left_out = live.beginning.spec.scenario, live.tape.left_out
    stand_ins = StandIns()
    for secret in (*live.server_secrets, *secrets_on(scenario, entries, ScenarioCompiler())):
        stand_ins.add(secret)
    head = head_of(live, len(entries), __version__)
    found = lines_of(head, entries, left_out)
    if not stand_ins:
        return found
    (tape,) = read_tapes(Masking(stand_ins).masked(found))
    assert not tape.damage, tape.damage
    player = player_for(msgspec.structs.replace(tape.head, masked=True), again, nowhere())
    for entry in tape.entries:
        player.play(entry)
    player.end()
    rebuilt = list(player.live.tape)
    made = msgspec.structs.replace(tape.head, masked=True, entries=len(rebuilt))
    return lines_of(made, rebuilt, left_out)
