"""The limits of the service, and its requests to slow down (SPEC 5.2, 8)."""

from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import pairwise

from simulator.audit.reading import members, text
from simulator.audit.registry import Finding, Occasion, obligation
from simulator.audit.traffic import Rate, Traffic
from simulator.traffic.seen import Call

FORBIDDEN, UNAVAILABLE = 403, 503
BLOCKED = "ip_blocked"
NEAR = 0.8
RETRIES_MIN = 3
GROWTH_MIN = 1.5


@obligation(
    "below-rate-limit",
    "8",
    "warning",
    "An address stays well below 30,000 requests in five minutes; above that it is blocked for four hours.",
    "Poll less often, keep the catalog, and spread batches; stay below 80% of the limit.",
)
def below_rate_limit(traffic: Traffic) -> Iterator[Occasion]:
    """By address. Of a log that has lost its beginning, the pace of what it has counts."""
    by_client: dict[str, list[Call]] = defaultdict(list)
    for call in traffic.calls:
        by_client[call.client].append(call)
    for calls in by_client.values():
        blocked = next((one for one in calls if _is_blocked(one)), None)
        if blocked is not None:
            yield Finding((blocked.n,), f"request {blocked.n} was refused, as the limit was exceeded")
        elif traffic.rate is not None:
            yield _near(calls, traffic.rate)


def _is_blocked(call: Call) -> bool:
    return call.status == FORBIDDEN and text(members(call.answer), "error") == BLOCKED


def _near(calls: list[Call], rate: Rate) -> Occasion:
    """The interval with the most requests, if they are near the limit."""
    within: deque[Call] = deque()
    near = rate.requests * NEAR
    for call in calls:
        within.append(call)
        while call.at - within[0].at >= rate.interval:
            within.popleft()
        if len(within) > near:
            text_ = f"requests {within[0].n} to {call.n} are {len(within)} in {rate.interval.total_seconds():g} s"
            return Finding((within[0].n, call.n), f"{text_}; the limit is {rate.requests}")
    first, last = calls[0], calls[-1]
    span = last.at - first.at
    if first.n > 1 and last.n > near and span and len(calls) * (rate.interval / span) > near:
        return Finding((first.n, last.n), f"requests {first.n} to {last.n} came at a pace near {rate.requests}")
    return None


@obligation(
    "back-off-on-503",
    "5.2",
    "warning",
    "After a 503 a request is retried with exponential backoff.",
    "Double the wait after each 503, with some randomness, and begin with what Retry-After says.",
)
def back_off_on_503(traffic: Traffic) -> Iterator[Occasion]:
    """At least three retries of one request that all got 503, at a constant distance by the service's time."""
    runs: dict[tuple[str, str, bytes, bytes], list[Call]] = defaultdict(list)
    for call in traffic.calls:
        sent = (call.method, call.path, call.query, call.body)
        if call.status == UNAVAILABLE:
            runs[sent].append(call)
        elif sent in runs:
            yield _judged(runs.pop(sent))
    for run in runs.values():
        yield _judged(run)


def _judged(run: list[Call]) -> Occasion:
    gaps = [(after.at - before.at).total_seconds() for before, after in pairwise(run)]
    if len(gaps) < RETRIES_MIN or min(gaps) <= 0 or max(gaps) >= GROWTH_MIN * min(gaps):
        return None
    numbers = tuple(one.n for one in run)
    return Finding(numbers, f"requests {numbers[0]} to {numbers[-1]} all got 503, {round(min(gaps), 1):g} s apart")
