"""What a sandbox counts for its expectations and its coverage, in a snapshot."""

from collections.abc import Iterator, Mapping

import msgspec

from simulator.domain.model.expectations import ExpectationKind
from simulator.runtime.counters import AnswerKey, KeptCounters
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.value_counts import KeptCounts
from simulator.snapshot.chunks import ENCODER, decoded
from simulator.snapshot.jobs import Jobs
from simulator.snapshot.snapshot import reading_part
from simulator.snapshot.values import part_of

COUNTERS, VALUES = "counters", "counters/values"


class Row(msgspec.Struct):
    """As `KeptCounters`, with pairs in the place of mappings and the ids of jobs."""

    answers: list[tuple[AnswerKey, int]]
    calls: list[tuple[int, int]]
    first: list[tuple[int, list[int]]]
    notes: list[tuple[int, str]]
    taken: int
    evicted: list[tuple[ExpectationKind, list[tuple[int, int]], list[tuple[int, int]], list[str], int]]
    values: list[int]


_DECODER = msgspec.json.Decoder(Row)
_VALUES_DECODER = msgspec.json.Decoder(KeptCounts)


def written(live: LiveSandbox) -> Iterator[tuple[str, bytes]]:
    """The parts of the counters."""
    one, evicted = live.counters, []
    for kind, log in one.evicted.items():
        counts, missed, pending, sweep_at = log.kept()
        jobs = [each.id for each in pending]
        evicted.append((kind, list(counts.items()), list(missed.items()), jobs, sweep_at))
    row = Row(
        answers=list(one.answers.items()),
        calls=list(one.calls.items()),
        first=list(one.first.items()),
        notes=list(one.notes.items()),
        taken=one.values_taken,
        evicted=evicted,
        values=list(one.values),
    )
    yield COUNTERS, ENCODER.encode(row)
    for place, values in one.values.items():
        yield f"{VALUES}/{place}", ENCODER.encode(values.kept())


def restore(live: LiveSandbox, parts: Mapping[str, bytes], jobs: Jobs) -> None:
    """Go on counting as it was; the counters follow their scenario already."""
    row = decoded(COUNTERS, part_of(parts, COUNTERS), _DECODER)
    names = {place: f"{VALUES}/{place}" for place in row.values}
    values = {place: decoded(name, part_of(parts, name), _VALUES_DECODER) for place, name in names.items()}
    with reading_part(COUNTERS):
        evicted = {
            kind: (dict(counts), dict(missed), [jobs[job] for job in pending], sweep_at)
            for kind, counts, missed, pending, sweep_at in row.evicted
        }
        pairs = dict(row.answers), dict(row.calls), dict(row.first), dict(row.notes)
        live.counters.restore(KeptCounters(*pairs, row.taken, evicted), values)
