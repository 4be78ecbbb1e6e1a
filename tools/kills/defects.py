"""`python -m tools.kills.defects NAME serve ...`: a server with one planted defect, which the kills must find."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

from simulator.cli.main import main
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.http_client.sender import HttpSender
from simulator.persistence.data_folder import DataFolder
from simulator.persistence.gate import Act, Gate
from simulator.persistence.keeper import StoreKeeper
from simulator.persistence.replay import rebuilding
from simulator.persistence.replay.player import Player
from simulator.runtime import lanes
from simulator.runtime.courier import Sender
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.server.transports import GatedTransport
from tests.support.processes import PROGRAM
from tools.kills.frequent_snapshots import use_short_intervals

LATE_S = 0.05


def _commits_come_late() -> None:
    def note(gate: Gate) -> None:
        if not gate._has_new:
            gate._has_new = True
            if gate._loop is not None:
                gate._loop.call_later(LATE_S, gate.commit)

    Gate.note = note  # type: ignore[assignment, method-assign]


def answers_do_not_wait() -> None:
    """Send answers at once, and write their inputs later."""
    _commits_come_late()
    GatedTransport.write = lambda transport, data: transport._transport.write(data)  # type: ignore[assignment, method-assign]
    Gate.is_open = _is_open_without_commit  # type: ignore[assignment, method-assign]


def _is_open_without_commit(gate: Gate, act: Act, refuse: Act = lambda: None) -> bool:
    return True


def callbacks_do_not_wait() -> None:
    """Send callbacks at once, and write their attempts later."""
    _commits_come_late()

    def ungated(folder: DataFolder, sender: Sender) -> Sender:
        return sender

    DataFolder.gated = ungated  # type: ignore[assignment, method-assign]


def interrupted_attempts_are_forgotten() -> None:
    """Neither end nor repeat the attempts that were in flight when the server ended."""
    leave_tape = rebuilding.leave_tape

    def forgetful(player: Player, *arguments: object, **named: object) -> object:
        in_flight, player.live.core.state.in_flight = player.live.core.state.in_flight, {}
        clock = leave_tape(player, *arguments, **named)  # type: ignore[arg-type]
        player.live.core.state.in_flight = in_flight
        return clock

    rebuilding.leave_tape = forgetful  # type: ignore[assignment]


def attempts_begin_before_their_turn() -> None:
    """Write an attempt when it is due, and wait for its turn at the receiver after that."""
    turn, send = HttpSender.turn, HttpSender.send

    async def send_in_turn(
        sender: HttpSender, outgoing: OutgoingRequest, timeout_s: float, owner: str = ""
    ) -> AttemptResult:
        async with turn(sender, outgoing.url, owner):
            return await send(sender, outgoing, timeout_s, owner)

    lanes.PER_RECEIVER = sys.maxsize  # type: ignore[attr-defined]
    HttpSender.turn = lambda sender, url, owner="": nullcontext(lambda: False)  # type: ignore[assignment, method-assign]
    HttpSender.send = send_in_turn  # type: ignore[assignment, method-assign]


def interrupted_attempts_count() -> None:
    """Let an attempt that the end of the server cut have failed."""

    def failed(kind: AttemptEnd, error: str) -> AttemptResult:
        return AttemptResult(AttemptEnd.CONNECTION, error=error)

    rebuilding.AttemptResult = failed  # type: ignore[assignment, attr-defined]


def rewinds_are_not_written() -> None:
    """Leave the entries after the moment of a rewind on disk, and append new entries after them."""
    use_short_intervals()

    begin = StoreKeeper.begin

    def forgetful(self: StoreKeeper, live: LiveSandbox) -> None:
        (self.follow if live.last_ending == "rewound" else partial(begin, self))(live)

    StoreKeeper.begin = forgetful  # type: ignore[method-assign]


DEFECTS: dict[str, Callable[[], None]] = {
    one.__name__: one
    for one in (
        answers_do_not_wait,
        callbacks_do_not_wait,
        interrupted_attempts_are_forgotten,
        attempts_begin_before_their_turn,
        interrupted_attempts_count,
        rewinds_are_not_written,
    )
}


def program(defect: str) -> list[str]:
    """Return the command that starts a server with a defect."""
    return [*PROGRAM[:-1], __name__, defect]


if __name__ == "__main__":
    DEFECTS[sys.argv.pop(1)]()
    sys.exit(main())
