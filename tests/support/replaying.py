"""Replays of the sandboxes of an application in this process."""

from collections.abc import Iterable

from simulator.app import App
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.player import Player
from simulator.persistence.replay.rebuilding import nowhere, player_for, player_of
from simulator.persistence.replay.tape_reader import ReadTape, read_tapes
from simulator.persistence.replay.tape_redaction import lines_without_secrets
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.persistence.tape.entries import Entry
from simulator.runtime import driver
from simulator.runtime.driver import ITEMS_PER_TURN_MAX
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.build import ScenarioCompiler
from tests.support.snapshots import assert_goes_on


def replayed(app: App, live: LiveSandbox, entries: Iterable[Entry] | None = None) -> tuple[Player, Difference | None]:
    """A player that has played the tape of a sandbox, up to its end or to the first difference."""
    player = player_of(live.id, live.beginning, app.replayer, nowhere(), ScenarioCompiler())
    return player, play(player, live.tape if entries is None else entries)


def play(player: Player, entries: Iterable[Entry]) -> Difference | None:
    """Play these entries up to the first difference."""
    found = next((found for entry in entries if (found := _play_next(player, entry))), None)
    player.end()
    return found


def _play_next(player: Player, entry: Entry) -> Difference | None:
    """Play an entry, and report a time before the previous entry's. With small turns the times of entries may fall,
    since a waiting request keeps the time of its arrival."""
    before = player.clock.now()
    found = player.play(entry)
    if found is None and player.clock.now() < before and driver.ITEMS_PER_TURN_MAX == ITEMS_PER_TURN_MAX:
        return Difference(player.place, "the time went back", before, player.clock.now())
    return found


def play_whole(player: Player, tape: ReadTape) -> Difference | None:
    """Play all of a tape that was read, its end included."""
    found = next((found for entry in tape.entries if (found := _play_next(player, entry))), None)
    assert tape.end is not None, "it was read whole"
    found = found or player.of_end(tape.end.due, tape.end.state)
    player.end()
    return found


def read_back(app: App, live: LiveSandbox, *, shows_secrets: bool) -> ReadTape:
    """The tape of a sandbox, written and read."""
    whole = take_tape(live)
    (tape,) = read_tapes(tape_lines(whole) if shows_secrets else lines_without_secrets(whole, app.replayer))
    assert not tape.damage, tape.damage
    return tape


def assert_replays(app: App) -> None:
    """Assert that every sandbox is rebuilt exactly from its tape after writing and reading, also from a snapshot in the
    middle."""
    for live in app.sandboxes:
        for shows_secrets in (True, False):
            tape = read_back(app, live, shows_secrets=shows_secrets)
            player = player_for(tape.head, app.replayer, nowhere())
            found = play_whole(player, tape)
            assert found is None, found
            assert player.live.core.violations() == live.core.violations()
            assert_goes_on(app, tape, {len(tape.entries) // 2})
