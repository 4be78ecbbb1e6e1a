"""The first and the last line of a tape: the beginning of the sandbox, and the number of entries."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from simulator import __version__
from simulator.persistence.replay.differences import unbegun
from simulator.persistence.replay.state_digest import state_digest
from simulator.persistence.tape.entries import Due, Entry, Time
from simulator.redaction import Secrets
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import NO_QUOTAS, Beginning, Ending, Quotas, SandboxSpec
from simulator.scenario.build import COMPILER, ScenarioCompiler

VERSION = 1
"""The version of the format. A reader refuses a higher version."""


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """The clock that a sandbox began with; `start` is the requested time, None for the present."""

    mode: str
    rate: float
    start: Time | None = None


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first line of a tape. `scenario` is the document with everything that it extends, `name` its name when the
    document has no name; `entries` is the number of lines up to the end. `masked` when stand-ins replace the secrets.
    `hidden` are secrets of the server, written by an earlier version. `drawn_for` is the id that unique credentials and
    tokens are derived from, when it is not `sandbox`: a fork has the id of its original."""

    tape: int
    version: str
    sandbox: str
    started: Time
    seed: int
    clock: Clock
    name: str
    scenario: Mapping[str, Any]
    entries: int
    unique_credentials: bool = False
    audited: bool = msgspec.field(default_factory=lambda: True)  # written always: empty values may be omitted
    masked: bool = False
    hidden: tuple[str, ...] = ()
    drawn_for: str = ""
    quotas: Quotas | None = None


class MarkState(msgspec.Struct, frozen=True, kw_only=True):
    """A mark after the first `n` entries, and the digest of the state there."""

    mark: str
    n: int
    state: str


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The last line: the number of entries, and `left_out`, the number of inputs that had no room. `now` is the time of
    the sandbox when the tape was taken. `due` are the attempts that were due and not begun, None for a full tape.
    `ended` says how the life ended, empty when it continues. `state` is the digest of the state, empty for a full tape;
    `marks` are the marks with a digest; `outside` is the `outside_digest`. Older tapes have no digests."""

    end: int
    left_out: Annotated[int, msgspec.Meta(ge=0)] = 0
    now: Time | None = None
    due: Due | None = None
    ended: Ending = ""
    state: str = ""
    marks: tuple[MarkState, ...] = ()
    outside: str = ""


class TakenTape(NamedTuple):
    """A tape at a moment, its `end` without the `outside_digest`. `former` are the secrets of former lives, `server`
    the server's."""

    head: Head
    entries: list[Entry]
    end: End
    former: tuple[Secrets, ...] = ()
    server: tuple[str, ...] = ()


def take_tape(live: LiveSandbox, now: datetime | None = None, ended: Ending = "") -> TakenTape:
    """Return the tape of a sandbox up to now, or of a life that `ended` at the time `now`. It can be read in a
    thread."""
    entries, left_out = live.tape.taken(), live.tape.left_out
    end = End(
        end=len(entries),
        left_out=left_out,
        now=now or live.clock.now(),
        due=None if left_out else unbegun(live),
        ended=ended,
        state="" if left_out else state_digest(live),
        marks=digests_of_marks(live),
    )
    head, server = head_of(live, len(entries)), tuple(live.server_secrets)
    return TakenTape(head, entries, end, live.former_secrets.generations, server)


def digests_of_marks(live: LiveSandbox) -> tuple[MarkState, ...]:
    """Return the marks of a sandbox that have a digest."""
    return tuple(MarkState(mark=one.name, n=one.n, state=one.state) for one in live.marks if one.state)


def head_of(live: LiveSandbox, entries: int = 0) -> Head:
    """Return the head of a sandbox's tape with this number of entries."""
    beginning = live.beginning
    spec = beginning.spec
    return Head(
        tape=VERSION,
        version=__version__,
        sandbox=live.id,
        started=beginning.started,
        seed=live.seed,
        clock=Clock(mode=beginning.mode, rate=beginning.rate, start=spec.start),
        name=spec.scenario.name,
        scenario=spec.scenario.document,
        entries=entries,
        unique_credentials=spec.unique_credentials,
        audited=spec.is_audited,
        hidden=live.hidden,
        drawn_for=spec.drawn_for,
        quotas=spec.quotas or None,
        masked=spec.is_masked,
    )


def beginning_of(head: Head, compiler: ScenarioCompiler = COMPILER) -> Beginning:
    """Return the beginning of a tape's life. Raises `ScenarioError`."""
    clock = head.clock
    spec = SandboxSpec(
        scenario=compiler.scenario(head.scenario, head.name),
        id=head.sandbox,
        seed=head.seed,
        mode=clock.mode,
        rate=clock.rate,
        start=clock.start,
        unique_credentials=head.unique_credentials,
        is_audited=head.audited,
        drawn_for=head.drawn_for,
        quotas=head.quotas or NO_QUOTAS,
        is_masked=head.masked,
    )
    return Beginning(spec, head.started, clock.mode, clock.rate)
