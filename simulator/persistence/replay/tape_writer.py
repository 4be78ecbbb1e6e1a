"""Tapes as compressed lines: the head, which is the beginning of the sandbox, the entries, and the end."""

import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from simulator import __version__
from simulator.persistence.replay.codec import Numbers, entry_line, written_line
from simulator.persistence.replay.differences import state_digest, unbegun
from simulator.persistence.tape.entries import Due, Entry, RequestBegan, Time
from simulator.redaction import Secrets
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import NO_QUOTAS, Beginning, LifeEnding, Quotas, SandboxSpec
from simulator.scenario.build import COMPILER, ScenarioCompiler

_LEVEL: Final = 6
GZIP: Final = 31  # with the head and the end of gzip
VERSION = 1
"""The version of the format. A reader refuses a higher version."""


class HeadClock(msgspec.Struct, frozen=True, kw_only=True):
    """The clock that a sandbox began with; `start` is the requested time, None for the present."""

    mode: str
    rate: float
    start: Time | None = None


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first line of a tape. `scenario` is the document with everything that it extends, `name` its name when the
    document has no name; `entries` is the number of lines up to the end. `masked` when stand-ins replace the secrets.
    `drawn_for` is the id that unique credentials and tokens are derived from, when it is not `sandbox`: a fork has the
    id of its original."""

    tape: int
    version: str
    sandbox: str
    started: Time
    seed: int
    clock: HeadClock
    name: str
    scenario: Mapping[str, Any]
    entries: int
    unique_credentials: bool = False
    audited: bool = msgspec.field(default_factory=lambda: True)  # written always: empty values may be omitted
    masked: bool = False
    drawn_for: str = ""
    quotas: Quotas | None = None


class MarkState(msgspec.Struct, frozen=True, kw_only=True):
    """A mark after the first `n` entries, and the digest of the state there."""

    mark: str
    n: Annotated[int, msgspec.Meta(ge=0)]
    state: str


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The last line: the number of entries, and `left_out`, the number of inputs that had no room. `now` is the time of
    the sandbox when the tape was taken. `due` are the attempts that were due and not begun, None for a full tape.
    `ended` says how the life ended, empty when it continues. `state` is the digest of the state, empty for a full tape;
    `marks` are the marks with a digest. Older tapes have no digests."""

    end: int
    left_out: Annotated[int, msgspec.Meta(ge=0)] = 0
    now: Time | None = None
    due: Due | None = None
    ended: LifeEnding = ""
    state: str = ""
    marks: tuple[MarkState, ...] = ()


class TakenTape(NamedTuple):
    """A tape at a moment. `keys` are the API keys of its sandbox, `former` the secrets of former lives, `server` the
    server's."""

    head: Head
    entries: Iterable[Entry]
    end: End
    keys: Container[str] = ()
    former: tuple[Secrets, ...] = ()
    server: tuple[str, ...] = ()


def take_tape(live: LiveSandbox, now: datetime | None = None, ended: LifeEnding = "") -> TakenTape:
    """Return the tape of a sandbox up to now, or of a life that `ended` at the time `now`. It can be read in a
    thread."""
    entries = live.tape.frozen_entries()
    end = end_of(live, len(entries), live.tape.left_out, now, ended)
    head, keys, server = head_of(live, len(entries)), frozenset(live.core.state.keys), tuple(live.server_secrets.known)
    return TakenTape(head, entries, end, keys, live.former_secrets.generations, server)


def end_of(
    live: LiveSandbox, entries: int, left_out: int = 0, now: datetime | None = None, ended: LifeEnding = ""
) -> End:
    """Return the end of a sandbox's tape with this number of entries, as in `take_tape`."""
    return End(
        end=entries,
        left_out=left_out,
        now=now or live.clock.now(),
        due=None if left_out else unbegun(live),
        ended=ended,
        state="" if left_out else state_digest(live),
        marks=tuple(MarkState(mark=mark.name, n=mark.n, state=mark.state) for mark in live.marks if mark.state),
    )


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
        clock=HeadClock(mode=beginning.mode, rate=beginning.rate, start=spec.start),
        name=spec.scenario.name,
        scenario=spec.scenario.document,
        entries=entries,
        unique_credentials=spec.unique_credentials,
        audited=spec.is_audited,
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


def packed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the compressed lines, in pieces that take at most a few milliseconds each. The output is deterministic.
    Outputs can be concatenated into a single file."""
    packer = zlib.compressobj(_LEVEL, wbits=GZIP)
    yield from filter(None, map(packer.compress, lines))
    yield packer.flush()


def tape_lines(tape: TakenTape) -> Iterator[bytes]:
    """Yield a tape line by line, with line ends, including all secrets on it."""
    yield written_line(tape.head)
    yield from entry_lines(tape.entries)
    yield written_line(tape.end)


def entry_lines(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield the lines of entries, in order."""
    began: Numbers = {}
    for number, entry in enumerate(entries, 1):
        if isinstance(entry, RequestBegan):
            began[id(entry.exchange)] = number
        yield entry_line(entry, began)
