"""How the snapshots are taken and restored that a server keeps in memory."""

from collections import deque
from typing import Any, Final

from simulator.replay.kept_snapshots import Snapshots
from simulator.replay.player import Player
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.snapshot.apart import IsKnown, Pieces, pieces_apart
from simulator.snapshot.restoring import restored
from simulator.snapshot.snapshot import NotNow, sharing, snapshot_of
from simulator.snapshot.taking import parts_of


def _indexed(*arguments: Any, **more: Any) -> Player:
    """The same as `restored`, with histories and statements indexed at once: this runs beside the event loop."""
    player = restored(*arguments, **more)
    deque(player.live.core.index_in_slices(), maxlen=0)
    return player


def _apart(live: LiveSandbox, is_known: IsKnown) -> Pieces:
    return pieces_apart(lambda: parts_of(live), is_known)


IN_MEMORY: Final = Snapshots(parts_of, snapshot_of, _indexed, NotNow, sharing, _apart)
