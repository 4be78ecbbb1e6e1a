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
from simulator.domain.model.effects import JobCounts
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.operations import (
    BOUNDS_US,
    CALLBACK,
    WEBHOOK,
    Durations,
    Operations,
    Served,
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


def single(name: str, kind: str, about: str, value: float) -> Metric:
    """Return a metric without labels."""
    return Metric(name, kind, about, {(): value})


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

_OF_PROCESS: Final = {
    "cpu_s": ("process_cpu_seconds_total", COUNTER, "Processor time of the process."),
    "open_files": ("process_open_fds", GAUGE, "Open files and connections of the process."),
    "open_files_max": ("process_max_fds", GAUGE, "How many of them it may have."),
    "resident_bytes": ("process_resident_memory_bytes", GAUGE, "Memory of the process."),
    "virtual_bytes": ("process_virtual_memory_bytes", GAUGE, "Address space of the process."),
}


async def show(request: Request) -> Response:
    """Return all metrics, always the same ones in the same order."""
    refuse_other_parameters(request)
    operations: Operations = request.app.state.operations
    operations.lag.look()
    held = await _held(sandboxes_of(request))
    metrics = [*_of_server(operations), *_of_traffic(sandboxes_of(request).served, held), *_of_sandboxes(held)]
    return Response(exposition([*metrics, *_of_process(operations)], BOUNDS_S), media_type=MEDIA_TYPE)


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
    yield Metric(f"{OWN}build_info", GAUGE, "The version that runs; always 1.", {version: 1})
    is_ready = int(operations.not_ready is None)
    yield single(f"{OWN}ready", GAUGE, "1 when /_sim/ready answers 200.", is_ready)
    lag: dict[Labels, list[float]] = {(): _in_seconds(operations.lag.lags)}
    yield Metric(f"{OWN}event_loop_lag_seconds", HISTOGRAM, "How late timers were, since metrics are read.", lag)
    yield single(f"{OWN}wall_steps_total", COUNTER, "How often the machine's clock was set.", operations.wall_steps)
    yield single(f"{OWN}mistakes_total", COUNTER, "Exceptions that nothing foresaw.", reported())
    refused: dict[Labels, int] = {(("code", code),): count for code, count in operations.refused.items()}
    yield Metric(f"{OWN}server_refusals_total", COUNTER, "Requests refused by the HTTP server.", refused)
    ends: dict[Labels, float] = {} if operations.certificate_ends_s is None else {(): operations.certificate_ends_s}
    yield Metric(f"{OWN}certificate_expiry_timestamp_seconds", GAUGE, "When the certificate of TLS expires.", ends)
    answered: dict[Labels, int] = {(("status", str(status)),): count for status, count in operations.answered.items()}
    yield Metric(f"{OWN}control_requests_total", COUNTER, "Answers of the control API.", answered)


def _of_traffic(served: Served, held: Mapping[str, int]) -> Iterator[Metric]:
    counts: Counter[Labels] = Counter()
    durations: dict[Labels, Durations] = {}
    for (method, path, status, _, _), one in served.answers.items():
        endpoint: Labels = (("endpoint", _name(path)), ("method", _name(method)))
        counts[*endpoint, ("status", str(status))] += sum(one[:-1])
        durations[endpoint] = _sum(durations.get(endpoint, no_durations()), one)
    yield Metric(f"{OWN}requests_total", COUNTER, "Answers of the reseller API; status 0 means no answer.", counts)
    seconds = {labels: _in_seconds(one) for labels, one in durations.items()}
    yield Metric(f"{OWN}request_duration_seconds", HISTOGRAM, "From a request's head to its answer.", seconds)
    attempts: dict[Labels, float] = {}
    by_kind: dict[Labels, Durations] = {}
    for (kind, outcome), one in served.attempts.items():
        of_kind: Labels = (("kind", kind),)
        attempts[*of_kind, ("outcome", outcome)] = sum(one[:-1])
        by_kind[of_kind] = _sum(by_kind.get(of_kind, no_durations()), one)
    yield Metric(f"{OWN}attempts_total", COUNTER, "Attempts of callbacks and webhooks that ended.", attempts)
    seconds = {labels: _in_seconds(one) for labels, one in by_kind.items()}
    yield Metric(f"{OWN}attempt_duration_seconds", HISTOGRAM, "How long receivers took.", seconds)
    evicted = served.evicted + held["evicted"]
    yield single(f"{OWN}journal_evicted_total", COUNTER, "Requests that journals have no more room for.", evicted)


def _of_sandboxes(held: Mapping[str, int]) -> Iterator[Metric]:
    yield single(f"{OWN}sandboxes", GAUGE, "Sandboxes.", held["sandboxes"])
    pending: dict[Labels, int] = {(("kind", kind),): held[kind] for kind in (CALLBACK, WEBHOOK)}
    yield Metric(f"{OWN}jobs_pending", GAUGE, "Callbacks and webhooks that have not ended.", pending)
    yield single(f"{OWN}attempts_in_flight", GAUGE, "Attempts that were sent and not answered.", held["in_flight"])
    yield single(f"{OWN}agenda_items", GAUGE, "Scheduled items of all sandboxes.", held["agenda"])
    yield single(f"{OWN}journal_requests", GAUGE, "Requests in all journals.", held["journaled"])
    yield single(f"{OWN}journal_bytes", GAUGE, "Memory of all journals, estimated.", held["journal_bytes"])


def _of_process(operations: Operations) -> Iterator[Metric]:
    found = process_figures()
    for name, (metric, kind, about) in _OF_PROCESS.items():
        if name in found:
            yield single(metric, kind, about, found[name])
    yield single("process_start_time_seconds", GAUGE, "When the process started.", operations.began_s)


def _name(text: str) -> str:
    return UNKNOWN if text == "*" else text


def _sum(one: Durations, other: Durations) -> Durations:
    return [a + b for a, b in zip(one, other, strict=True)]


def _in_seconds(durations: Durations) -> list[float]:
    return [*durations[:-1], durations[-1] / 1e6]
