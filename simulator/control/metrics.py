"""`/_sim/metrics`: the state of the server as Prometheus metrics.

Counting must not slow down requests noticeably, and labels never contain client input: endpoints are named as in the
contract. Sums over sandboxes are computed in slices, so that the event loop is not blocked.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from simulator import __version__
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import sandboxes_of
from simulator.domain.model.delivery_attempts import JobCounts
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.operations import (
    BOUNDS_US,
    CALLBACK,
    WEBHOOK,
    Durations,
    Operations,
    ServerCounts,
    no_durations,
    process_figures,
    reported,
)
from simulator.runtime.sandboxes import Sandboxes

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"

Labels = tuple[tuple[str, str], ...]
"""Names with their values."""


class Metric(NamedTuple):
    """A metric: its name, kind, a sentence about it, and its value for each set of labels. The value of a histogram has
    the count of each bucket, the last without a bound, followed by the sum in seconds."""

    name: str
    kind: str
    about: str
    values: Mapping[Labels, float | Sequence[float]]


def exposition(metrics: Iterable[Metric], bounds_s: Sequence[float]) -> str:
    """Return all metrics as text, ordered by labels; `bounds_s` are the bounds of histogram buckets."""
    lines: list[str] = []
    for metric in metrics:
        lines += (f"# HELP {metric.name} {_escaped(metric.about)}", f"# TYPE {metric.name} {metric.kind}")
        for labels, value in sorted(metric.values.items()):
            if isinstance(value, int | float):
                lines.append(_sample(metric.name, labels, value))
            else:
                lines += _buckets(metric.name, labels, value, bounds_s)
    return "".join(f"{line}\n" for line in lines)


def _buckets(name: str, labels: Labels, value: Sequence[float], bounds_s: Sequence[float]) -> Iterable[str]:
    *counts, sum_s = value
    total: float = 0
    for bound, count in zip((*(f"{one:g}" for one in bounds_s), "+Inf"), counts, strict=True):
        total += count
        yield _sample(f"{name}_bucket", (*labels, ("le", bound)), total)
    yield _sample(f"{name}_sum", labels, sum_s)
    yield _sample(f"{name}_count", labels, total)


def _sample(name: str, labels: Labels, value: float) -> str:
    written = ",".join(f'{label}="{_quoted(text)}"' for label, text in labels)
    return f"{name}{{{written}}} {value!r}" if written else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', r"\"")


OWN: Final = "reseller_sim_"
BOUNDS_S: Final = tuple(one / 1e6 for one in BOUNDS_US)
UNKNOWN: Final = "unknown"
SLICE: Final = 50


class Definition(NamedTuple):
    """The kind and the labels of a metric, and a sentence about it for its HELP line and docs/operations.md."""

    kind: str
    labels: tuple[str, ...]
    about: str


_ENDPOINT: Final = ("endpoint", "method")
DEFINITIONS: Final = {
    f"{OWN}build_info": Definition(GAUGE, ("version",), "Always 1."),
    f"{OWN}ready": Definition(GAUGE, (), "1 while /_sim/ready answers 200."),
    f"{OWN}event_loop_lag_seconds": Definition(
        HISTOGRAM, (), "Delays of timers, from the first scrape until five minutes after the last."
    ),
    f"{OWN}wall_steps_total": Definition(
        COUNTER, (), "How often the machine's clock was set by more than five seconds."
    ),
    f"{OWN}mistakes_total": Definition(COUNTER, (), "Unexpected exceptions; the log has the stack."),
    f"{OWN}server_refusals_total": Definition(COUNTER, ("code",), "Requests refused by the HTTP server."),
    f"{OWN}certificate_expiry_timestamp_seconds": Definition(
        GAUGE, (), "With --tls-cert: the earliest expiry of a certificate in the file."
    ),
    f"{OWN}control_requests_total": Definition(COUNTER, ("status",), "Answers of the control API."),
    f"{OWN}requests_total": Definition(
        COUNTER,
        (*_ENDPOINT, "status"),
        "Answers of the reseller API; status 0 is a connection closed without an answer.",
    ),
    f"{OWN}request_duration_seconds": Definition(
        HISTOGRAM, _ENDPOINT, "From the head of a request to its answer, with delays of faults."
    ),
    f"{OWN}attempts_total": Definition(
        COUNTER,
        ("kind", "outcome"),
        "Finished attempts of callbacks and webhooks: accepted (2xx), refused (another status), timeout, connection,"
        " dns, blocked.",
    ),
    f"{OWN}attempt_duration_seconds": Definition(HISTOGRAM, ("kind",), "Response times of receivers."),
    f"{OWN}journal_evicted_total": Definition(COUNTER, (), "Requests that journals have evicted."),
    f"{OWN}sandboxes": Definition(GAUGE, (), "Sandboxes."),
    f"{OWN}jobs_pending": Definition(GAUGE, ("kind",), "Unfinished callbacks and webhooks, with retries."),
    f"{OWN}attempts_in_flight": Definition(GAUGE, (), "Attempts without an answer so far."),
    f"{OWN}agenda_items": Definition(GAUGE, (), "Scheduled statuses, callbacks, retries and changes."),
    f"{OWN}journal_requests": Definition(GAUGE, (), "Requests in all journals."),
    f"{OWN}journal_bytes": Definition(GAUGE, (), "Estimated memory of all journals."),
    f"{OWN}store_up": Definition(GAUGE, (), "With --store: 1 while PostgreSQL answers."),
    f"{OWN}store_commits_total": Definition(COUNTER, (), "With --store: commits of this server."),
    f"{OWN}store_outages_total": Definition(COUNTER, (), "With --store: how often PostgreSQL stopped answering."),
    f"{OWN}leases_lost_total": Definition(COUNTER, (), "With --store: how often this server lost its lease."),
    f"{OWN}takeovers_total": Definition(COUNTER, (), "With --store: sandboxes taken over from other servers."),
    f"{OWN}forwarded_total": Definition(COUNTER, (), "With --store: requests forwarded to other servers."),
    "process_cpu_seconds_total": Definition(COUNTER, (), "Processor time of the process."),
    "process_open_fds": Definition(GAUGE, (), "Open files and connections of the process."),
    "process_max_fds": Definition(GAUGE, (), "The limit of open files and connections."),
    "process_resident_memory_bytes": Definition(GAUGE, (), "Memory of the process."),
    "process_virtual_memory_bytes": Definition(GAUGE, (), "Address space of the process."),
    "process_start_time_seconds": Definition(GAUGE, (), "When the process started."),
}
"""Every metric by name, in the order of docs/operations.md."""

_OF_PROCESS: Final = {
    "cpu_s": "process_cpu_seconds_total",
    "open_files": "process_open_fds",
    "open_files_max": "process_max_fds",
    "resident_bytes": "process_resident_memory_bytes",
    "virtual_bytes": "process_virtual_memory_bytes",
}


def _metric(name: str, values: Mapping[Labels, float | Sequence[float]]) -> Metric:
    definition = DEFINITIONS[name]
    return Metric(name, definition.kind, definition.about, values)


async def show(request: Request) -> Response:
    """Return all metrics, always the same ones in the same order."""
    refuse_other_parameters(request)
    operations: Operations = request.app.state.operations
    operations.lag.look()
    held = await _held(sandboxes_of(request))
    metrics = [*_of_server(operations), *_of_traffic(sandboxes_of(request).served, held), *_of_sandboxes(held)]
    metrics += [*_of_store(operations), *_of_process(operations)]
    return Response(exposition(metrics, BOUNDS_S), media_type=MEDIA_TYPE)


async def _held(sandboxes: Sandboxes) -> Counter[str]:
    """Return the totals of all sandboxes now."""
    held: Counter[str] = Counter()
    for live in sandboxes:
        held.update(_of_one(live))
        held["evicted"] += live.life_journal.left_out - live.evicted_before
        for kind, counts in ((CALLBACK, live.core.state.callback_counts), (WEBHOOK, live.core.state.webhook_counts)):
            for part in _in_slices(list(counts.values())):
                held[kind] += sum(one.pending for one in part)
                await asyncio.sleep(0)
        await asyncio.sleep(0)
    return held


def _of_one(live: LiveSandbox) -> dict[str, int]:
    state, journal = live.core.state, live.life_journal
    return {
        "sandboxes": 1,
        "agenda": len(state.agenda),
        "in_flight": len(live.courier.sent.begun),
        "journaled": len(journal),
        "journal_bytes": journal.size,
    }


def _in_slices(counts: list[JobCounts]) -> Iterator[list[JobCounts]]:
    return (counts[start : start + SLICE] for start in range(0, len(counts), SLICE))


def _of_server(operations: Operations) -> Iterator[Metric]:
    version: Labels = (("version", __version__),)
    yield _metric(f"{OWN}build_info", {version: 1})
    is_ready = int((operations.not_ready or operations.store_trouble) is None)
    yield _metric(f"{OWN}ready", {(): is_ready})
    lag: dict[Labels, list[float]] = {(): _in_seconds(operations.lag.lags)}
    yield _metric(f"{OWN}event_loop_lag_seconds", lag)
    yield _metric(f"{OWN}wall_steps_total", {(): operations.wall_steps})
    yield _metric(f"{OWN}mistakes_total", {(): reported()})
    refused: dict[Labels, int] = {(("code", code),): count for code, count in operations.refused.items()}
    yield _metric(f"{OWN}server_refusals_total", refused)
    ends: dict[Labels, float] = {} if operations.certificate_ends_s is None else {(): operations.certificate_ends_s}
    yield _metric(f"{OWN}certificate_expiry_timestamp_seconds", ends)
    answered: dict[Labels, int] = {(("status", str(status)),): count for status, count in operations.answered.items()}
    yield _metric(f"{OWN}control_requests_total", answered)


def _of_traffic(served: ServerCounts, held: Mapping[str, int]) -> Iterator[Metric]:
    counts: Counter[Labels] = Counter()
    durations: dict[Labels, Durations] = {}
    for (method, path, status, _, _), one in served.answers.items():
        endpoint: Labels = (("endpoint", _name(path)), ("method", _name(method)))
        counts[*endpoint, ("status", str(status))] += sum(one[:-1])
        durations[endpoint] = _sum(durations.get(endpoint, no_durations()), one)
    yield _metric(f"{OWN}requests_total", counts)
    seconds = {labels: _in_seconds(one) for labels, one in durations.items()}
    yield _metric(f"{OWN}request_duration_seconds", seconds)
    attempts: dict[Labels, float] = {}
    by_kind: dict[Labels, Durations] = {}
    for (kind, outcome), one in served.attempts.items():
        of_kind: Labels = (("kind", kind),)
        attempts[*of_kind, ("outcome", outcome)] = sum(one[:-1])
        by_kind[of_kind] = _sum(by_kind.get(of_kind, no_durations()), one)
    yield _metric(f"{OWN}attempts_total", attempts)
    seconds = {labels: _in_seconds(one) for labels, one in by_kind.items()}
    yield _metric(f"{OWN}attempt_duration_seconds", seconds)
    evicted = served.evicted + held["evicted"]
    yield _metric(f"{OWN}journal_evicted_total", {(): evicted})


def _of_sandboxes(held: Mapping[str, int]) -> Iterator[Metric]:
    yield _metric(f"{OWN}sandboxes", {(): held["sandboxes"]})
    pending: dict[Labels, int] = {(("kind", kind),): held[kind] for kind in (CALLBACK, WEBHOOK)}
    yield _metric(f"{OWN}jobs_pending", pending)
    yield _metric(f"{OWN}attempts_in_flight", {(): held["in_flight"]})
    yield _metric(f"{OWN}agenda_items", {(): held["agenda"]})
    yield _metric(f"{OWN}journal_requests", {(): held["journaled"]})
    yield _metric(f"{OWN}journal_bytes", {(): held["journal_bytes"]})


def _of_store(operations: Operations) -> Iterator[Metric]:
    """Yield the metrics of PostgreSQL, if it is the store."""
    for name, value in operations.store_figures().items():
        yield _metric(f"{OWN}{name}", {(): value})


def _of_process(operations: Operations) -> Iterator[Metric]:
    found = process_figures()
    for name, metric in _OF_PROCESS.items():
        if name in found:
            yield _metric(metric, {(): found[name]})
    yield _metric("process_start_time_seconds", {(): operations.began_s})


def _name(text: str) -> str:
    return UNKNOWN if text == "*" else text


def _sum(one: Durations, other: Durations) -> Durations:
    return [a + b for a, b in zip(one, other, strict=True)]


def _in_seconds(durations: Durations) -> list[float]:
    return [*durations[:-1], durations[-1] / 1e6]
