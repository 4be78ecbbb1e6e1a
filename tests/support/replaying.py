"""Replays what an application in this process did, sandbox by sandbox."""

from simulator.app import App
from simulator.replay.differences import Difference
from simulator.replay.player import Player
from simulator.replay.rebuilding import nowhere, player_of
from simulator.runtime.live_sandbox import LiveSandbox


def replayed(app: App, live: LiveSandbox) -> tuple[Player, Difference | None]:
    """A player that has played the tape of a sandbox, up to its end or to the first difference."""
    player = player_of(live.id, live.beginning, app.again, nowhere())
    found = next((found for entry in live.tape if (found := player.play(entry))), None)
    player.end()
    return player, found


def assert_replays(app: App) -> None:
    """Every sandbox of the application is rebuilt from its tape as it is."""
    for live in app.sandboxes:
        _, found = replayed(app, live)
        assert found is None, found
