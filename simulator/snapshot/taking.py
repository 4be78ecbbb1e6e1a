"""Takes a snapshot of a sandbox, piece by piece."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from itertools import chain

from simulator.domain.commands import LoadScenario
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.snapshot import accounts, agenda, catalog, counters, counts, inboxes, jobs, logs, payments, rules
from simulator.snapshot.chunks import ENCODER
from simulator.snapshot.snapshot import HEAD, VERSION, Head, NotNow, Snapshot, log_of, snapshot_of
from simulator.snapshot.values import Writing
from simulator.tape.inputs import write

Changes = Mapping[str, object]
"""By the names of parts: what is equal until the content changes. It means nothing in another life."""

SCENARIO, SURROUNDINGS = "scenario", "surroundings"


def take(live: LiveSandbox, n: int) -> Snapshot:
    """A snapshot of a sandbox behind the first `n` entries of its tape, all at once. Raises `NotNow`."""
    return snapshot_of(parts_of(live, n))


def parts_of(
    live: LiveSandbox, n: int | None = None, unchanged: Container[str] = (), *, has_filters: bool = False
) -> Iterator[tuple[str, bytes]]:
    """The parts of a snapshot, the head last; each takes a few milliseconds. Raises `NotNow`, also when something has
    happened in the sandbox between two parts, which then are of different moments. `n` is how many entries its tape
    has, as it was counted if it has not kept all. Parts in `unchanged` may be empty: the caller has them. What
    `has_filters` is ready sooner when it is restored."""
    refuse_not_now(live)
    tape = live.tape
    entries = len(tape) + tape.left_out
    found: Counter[str] = Counter()
    for part in _parts(live, unchanged, has_filters=has_filters):
        found[log_of(part[0])] += 1
        yield part
        if len(tape) + tape.left_out != entries or live.tape is not tape:
            raise NotNow(f"something happened in the sandbox {live.id!r} while its snapshot was taken")
    refuse_not_now(live)
    now = max(live.clock.at(live.clock.latest), live.core.state.now)
    yield HEAD, ENCODER.encode(Head(VERSION, entries if n is None else n, now, dict(found)))


def changes(state: State) -> Changes:
    """What tells which of the largest parts have changed since somebody asked last, by their names."""
    return payments.changes(state) | agenda.changes(state) | counts.changes(state)


def refuse_not_now(live: LiveSandbox) -> None:
    """Raise `NotNow` when a request waits or an advance runs, and when the sandbox is closed."""
    if live.is_closed:
        raise NotNow(f"the sandbox {live.id!r} was deleted or is being reset")
    if live.tape.is_awaited:
        raise NotNow(f"a request of the sandbox {live.id!r} waits")
    if live.driver.advancing is not None or live.driver.is_settling:
        raise NotNow(f"the sandbox {live.id!r} is being advanced")


def _parts(live: LiveSandbox, unchanged: Container[str], *, has_filters: bool) -> Iterator[tuple[str, bytes]]:
    state = live.core.state
    pending = chain.from_iterable(one.kept()[2] for one in live.counters.evicted.values())
    others = jobs.Others(state, pending)
    yield SCENARIO, _scenario(live)
    yield SURROUNDINGS, _surroundings(live)
    yield from agenda.written(state, others, unchanged)
    elsewhere = (one for one in others.found if isinstance(one, Delivery))
    deliveries = sorted((*state.deliveries, *elsewhere), key=lambda one: one.serial)
    keys = accounts.webhook_keys(state, deliveries)
    yield from accounts.written(state, deliveries, keys)
    yield from catalog.written(state)
    yield from rules.written(state)
    yield from payments.written(state, unchanged, has_filters=has_filters)
    yield from jobs.written(state, others.found, keys)
    yield from counts.written(state, unchanged, has_filters=has_filters)
    yield from inboxes.written(live)
    yield from counters.written(live)
    yield from logs.written(live)


def _scenario(live: LiveSandbox) -> bytes:
    """The scenario that was loaded, as the command that did it; null when it is that of the beginning."""
    first, latest = live.beginning.spec.scenario, live.spec.scenario
    if latest is first or (latest.name == first.name and latest.document == first.document):
        return ENCODER.encode([[], None])
    return ENCODER.encode([[], write(LoadScenario(latest.name, latest.document)).decode()])


def _surroundings(live: LiveSandbox) -> bytes:
    """The clock, the bounds of the tape, the jobs whose attempts are in the air, and what probes have sent."""
    clock, writing = live.clock, Writing()
    content = {
        "mode": clock.mode,
        "rate": clock.rate,
        "wall": writing.plain(clock.latest),
        "tape": [live.tape.bytes, live.tape.left_out],
        "left_bytes": live.tape.left_bytes,
        "begun": live.courier.sent.begun,
        "probed": [writing.plain(one) for one in live.probed],
    }
    return writing.part(content)
