"""Makes a sandbox of a snapshot, with the player that goes on with the tape's next entry."""

from collections.abc import Mapping, Sequence
from functools import partial

from simulator.domain.commands import LoadScenario
from simulator.domain.model.scenario import Scenario
from simulator.domain.sandbox import Sandbox
from simulator.domain.state import State, request_rates, rule_books, status_codes
from simulator.replay.player import Again, Player
from simulator.replay.rebuilding import Surroundings, begun
from simulator.replay.sharing import Shared, shared_of
from simulator.replay.tape_clock import TapeClock
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandbox_start import Beginning
from simulator.scenario.compiler import ScenarioCompiler
from simulator.snapshot import accounts, agenda, catalog, counters, counts, inboxes, jobs, logs, payments, rules
from simulator.snapshot.copies import Copies
from simulator.snapshot.snapshot import Snapshot, head_of
from simulator.snapshot.taking import SCENARIO, SURROUNDINGS
from simulator.snapshot.values import opened
from simulator.tape.entries import Entry
from simulator.tape.inputs import read

Parts = Mapping[str, bytes]


def restored(
    snapshot: Snapshot,
    id_: str,
    beginning: Beginning,
    again: Again,
    around: Surroundings,
    hidden: tuple[str, ...] = (),
    compiler: ScenarioCompiler | None = None,
    *,
    entries: Sequence[Entry] = (),
    is_masked: bool = False,
) -> Player:
    """A player that has played the first `snapshot.n` entries of the tape of a life that began so, and goes on with
    the next. The other arguments are those of `player_of`; `entries` are those of the tape that the sandbox is to have
    itself, as many as were kept; its logs share the records that are on it. Raises `BadSnapshot`, and `ScenarioError`
    for a scenario that this version does not accept."""
    head_of(snapshot.parts)
    own = compiler or ScenarioCompiler()
    begin = partial(begun, id_, beginning, around, hidden, own)
    live, clock = begin(Sandbox.empty)
    player = Player(live, clock, again, lambda: begin()[0], own, is_masked=is_masked)
    player.place = snapshot.n
    _follow(live, snapshot.parts, own)
    _state(live, snapshot.parts, shared_of(entries))
    _surroundings(live, clock, snapshot, entries)
    return player


def _follow(live: LiveSandbox, parts: Parts, compiler: ScenarioCompiler) -> None:
    """Follow the scenario that was loaded last, if one was."""
    with opened(parts, SCENARIO, type_=str | None) as (_, line):
        if line is None:
            return
        command = read(line.encode())
        assert isinstance(command, LoadScenario), "only this command has a scenario"
    scenario = compiler.scenario(command.document, command.name)
    _replace(live.core.state, scenario)
    live.follow(scenario)


def _replace(state: State, scenario: Scenario) -> None:
    """Let what is made of the scenario be made of this one; logs keep the size that they began with."""
    state.scenario = scenario
    state.nonces_by_reseller = state.assumes("nonce-scope", "reseller")
    limits = scenario.limits
    state.nonces.bound(limits.nonce_window, limits.timestamp_tolerance.total_seconds(), limits.nonces)
    state.rates = request_rates(limits)
    state.codes = status_codes(scenario)
    state.network.follow(scenario.network)
    rule_books(state, scenario)


def _state(live: LiveSandbox, parts: Parts, shared: Shared) -> None:
    state = live.core.state
    webhooks = accounts.restore(live.core, parts)
    catalog.restore(state, parts)
    rules.restore(state, parts)
    payments.restore(state, parts)
    transactions = Copies(state.transactions)
    found = jobs.restore(state, parts, transactions, webhooks)
    agenda.restore(state, parts, transactions, found)
    counts.restore(state, parts)
    inboxes.restore(live, parts)
    counters.restore(live, parts, found)
    logs.restore(live, parts, shared)


def _surroundings(live: LiveSandbox, clock: TapeClock, snapshot: Snapshot, entries: Sequence[Entry]) -> None:
    with opened(snapshot.parts, SURROUNDINGS) as (reading, content):
        clock.mode, clock.rate = content["mode"], content["rate"]
        wall = reading.value(content["wall"])
        size, left_out = content["tape"]
        left_bytes = content.get("left_bytes", 0)  # which an earlier version did not count
        live.courier.sent.restore_begun(content["begun"])
        live.probed.extend(map(reading.value, content["probed"]))
    clock.stand_at(snapshot.now, wall)
    clock.latest = wall
    live.tape.restore(entries, size, left_out, left_bytes)
