"""The text format of Prometheus, version 0.0.4: metrics with their samples, in a fixed order."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"

Labels = tuple[tuple[str, str], ...]
"""Names with their values."""


class Metric(NamedTuple):
    """A metric: its name, kind, a sentence about it, and its value for each set of labels. Of a histogram a value is
    how many are in each of its buckets, the last of which has no bound, and behind those their sum in seconds."""

    name: str
    kind: str
    about: str
    values: Mapping[Labels, float | Sequence[float]]


def single(name: str, kind: str, about: str, value: float) -> Metric:
    """A metric without labels."""
    return Metric(name, kind, about, {(): value})


def exposition(metrics: Iterable[Metric], bounds_s: Sequence[float]) -> str:
    """All metrics as text, each in the order of its labels; the buckets of histograms have these bounds."""
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
