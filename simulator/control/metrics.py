"""`/_sim/health`, `/_sim/ready` and `/_sim/metrics`: whether a server answers, also before the application exists, and
its state as Prometheus metrics.

Counting must not slow down requests noticeably, and labels never contain client input: endpoints are named as in the
contract. The sandboxes are counted in turns, so that the event loop is not blocked.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from simulator import __version__
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import error, reply, sandboxes_of
from simulator.runtime.operations import (
    BOUNDS_US,
    CALLBACK,
    STARTING,
    WEBHOOK,
    Durations,
    Operations,
    ServerCounts,
    no_durations,
    process_figures,
    reported,
)
from simulator.runtime.sandboxes import Sandboxes
from simulator.wire.formats import encode


async def health(request: Request) -> Response:
    """Return the status and the version."""
    return reply({"status": "ok", "version": __version__})


async def ready(request: Request) -> Response:
    """Return 200 when the server is ready for requests; 503 with the reason while it starts or stops, or while its
    store does not answer."""
    refuse_other_parameters(request)
    operations: Operations = request.app.state.operations
    why = operations.not_ready or operations.store_trouble
    return reply({"status": "ready", "version": __version__}) if why is None else error(503, why.code, why.message)


Answer = Callable[[], tuple[int, bytes]]
"""Returns a status and a body in the form of the control API."""


def early_answers(operations: Operations, root: str = "") -> Mapping[str, Answer]:
    """Return the answers by path, also below the `root` path of a proxy."""

    def ready() -> tuple[int, bytes]:
        why = operations.not_ready or STARTING
        return 503, encode({"error": why.code, "message": why.message, "path": ""})

    answers: dict[str, Answer] = {
        "/_sim/health": lambda: (200, encode({"status": "ok", "version": __version__})),
        "/_sim/ready": ready,
    }
    return {f"{before}{path}": answer for path, answer in answers.items() for before in ("", root)}


MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
OWN: Final = "reseller_sim_"
BOUNDS_S: Final = tuple(one / 1e6 for one in BOUNDS_US)
UNKNOWN: Final = "unknown"

Value = float | Sequence[float]
"""A number. A histogram has the count of each bucket, the last without a bound, followed by the sum in seconds."""
Samples = Value | Mapping[tuple[str, ...], Value]
"""The value of a metric; with labels, its value for each set of their texts."""


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


def exposition(
    values: Mapping[str, Samples],
    definitions: Mapping[str, Definition] = DEFINITIONS,
    bounds_s: Sequence[float] = BOUNDS_S,
) -> str:
    """Return the metrics that have values as text, ordered by labels. Values are by names, without the prefix of ours;
    `bounds_s` are the bounds of histogram buckets."""
    lines: list[str] = []
    for name, metric in definitions.items():
        samples = values.get(name.removeprefix(OWN))
        if samples is None:
            continue
        lines += (f"# HELP {name} {_escaped(metric.about)}", f"# TYPE {name} {metric.kind}")
        for texts, value in sorted(samples.items()) if isinstance(samples, Mapping) else [((), samples)]:
            quoted = (_escaped(text).replace('"', r"\"") for text in texts)
            labels = [f'{label}="{text}"' for label, text in zip(metric.labels, quoted, strict=True)]
            if isinstance(value, int | float):
                lines.append(_sample(name, labels, value))
            else:
                lines += _buckets(name, labels, value, bounds_s)
    return "".join(f"{line}\n" for line in lines)


def _buckets(name: str, labels: list[str], value: Sequence[float], bounds_s: Sequence[float]) -> Iterator[str]:
    *counts, sum_s = value
    total: float = 0
    for bound, count in zip((*(f"{one:g}" for one in bounds_s), "+Inf"), counts, strict=True):
        total += count
        yield _sample(f"{name}_bucket", [*labels, f'le="{bound}"'], total)
    yield _sample(f"{name}_sum", labels, sum_s)
    yield _sample(f"{name}_count", labels, total)


def _sample(name: str, labels: list[str], value: float) -> str:
    return f"{name}{{{','.join(labels)}}} {value!r}" if labels else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


async def show_metrics(request: Request) -> Response:
    """Return all metrics, always the same metrics in the same order."""
    refuse_other_parameters(request)
    operations: Operations = request.app.state.operations
    operations.lag.look()
    sandboxes = sandboxes_of(request)
    totals, server_counts = await _totals(sandboxes), sandboxes.server_counts
    ends_s = operations.certificate_ends_s
    values: dict[str, Samples] = {
        "build_info": {(__version__,): 1},
        "ready": int((operations.not_ready or operations.store_trouble) is None),
        "event_loop_lag_seconds": _in_seconds(operations.lag.lags),
        "wall_steps_total": operations.wall_steps,
        "mistakes_total": reported(),
        "server_refusals_total": {(code,): count for code, count in operations.refusals.items()},
        "certificate_expiry_timestamp_seconds": {} if ends_s is None else ends_s,
        "control_requests_total": {(str(status),): count for status, count in operations.answers.items()},
        **_of_traffic(server_counts),
        **totals,
        "journal_evicted_total": server_counts.evicted + totals["journal_evicted_total"],
        "jobs_pending": {(kind,): totals[kind] for kind in (CALLBACK, WEBHOOK)},
        **operations.store_figures(),
        **process_figures(),
        "process_start_time_seconds": operations.began_s,
    }
    return Response(exposition(values), media_type=MEDIA_TYPE)


async def _totals(sandboxes: Sandboxes) -> Counter[str]:
    """Return the totals of all sandboxes now, by metric; and the pending jobs of each kind."""
    names = ("sandboxes", "agenda_items", "attempts_in_flight", "journal_requests", "journal_bytes")
    totals = Counter(dict.fromkeys(names, 0))
    for live in sandboxes:
        state, journal = live.core.state, live.life.journal
        figures = (1, len(state.agenda), len(live.courier.sent.begun), len(journal), journal.size)
        totals.update(dict(zip(names, figures, strict=True)))
        totals["journal_evicted_total"] += journal.left_out - live.evicted_at_start
        for kind, counts in ((CALLBACK, state.callback_counts), (WEBHOOK, state.webhook_counts)):
            totals[kind] += sum(count.pending for count in counts.values())
        await asyncio.sleep(0)
    return totals


def _of_traffic(server_counts: ServerCounts) -> dict[str, Samples]:
    counts: Counter[tuple[str, ...]] = Counter()
    durations: dict[tuple[str, ...], Durations] = {}
    for (method, path, status, _, _), answer in server_counts.answers.items():
        endpoint = (_name(path), _name(method))
        counts[*endpoint, str(status)] += sum(answer[:-1])
        durations[endpoint] = _sum(durations.get(endpoint, no_durations()), answer)
    by_kind: dict[tuple[str, ...], Durations] = {}
    for (kind, _), one in server_counts.attempts.items():
        by_kind[kind,] = _sum(by_kind.get((kind,), no_durations()), one)
    return {
        "requests_total": counts,
        "request_duration_seconds": {endpoint: _in_seconds(duration) for endpoint, duration in durations.items()},
        "attempts_total": {attempt: sum(one[:-1]) for attempt, one in server_counts.attempts.items()},
        "attempt_duration_seconds": {kind: _in_seconds(one) for kind, one in by_kind.items()},
    }


def _name(text: str) -> str:
    return UNKNOWN if text == "*" else text


def _sum(value: Durations, other: Durations) -> Durations:
    return [a + b for a, b in zip(value, other, strict=True)]


def _in_seconds(durations: Durations) -> list[float]:
    return [*durations[:-1], durations[-1] / 1e6]
