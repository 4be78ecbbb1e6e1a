"""The pace of requests and of questions about a payment (SPEC 3.1, 5.2, 8)."""

from collections import defaultdict, deque
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from simulator.audit.clauses import Finding, Occasion
from simulator.audit.client_traffic import Rate, Traffic
from simulator.audit.readers import PaymentOutcome, grouped, members, quote, text
from simulator.wire.traffic import Call

FORBIDDEN, UNAVAILABLE = 403, 503
BLOCKED = "ip_blocked"
NEAR = 0.8
RETRIES_MIN = 3
GROWTH_MIN = 1.5


def below_rate_limit(traffic: Traffic) -> Iterator[Occasion]:
    """Judge each address. If the log has lost its beginning, judge the pace of the requests that it still has."""
    for calls in grouped(traffic.calls, lambda call: call.client).values():
        refused = (call for call in calls if call.status == FORBIDDEN)
        blocked = next((call for call in refused if text(members(call.answer), "error") == BLOCKED), None)
        if blocked is not None:
            yield Finding((blocked.n,), f"request {blocked.n} was refused, as the limit was exceeded")
        elif traffic.rate is not None:
            yield _near(calls, traffic.rate)


def _near(calls: list[Call], rate: Rate) -> Occasion:
    """Return the interval with the most requests if they are near the limit."""
    within: deque[Call] = deque()
    near = rate.requests * NEAR
    for call in calls:
        within.append(call)
        while within and call.at - within[0].at >= rate.interval:
            within.popleft()
        if len(within) > near:
            text_ = f"requests {within[0].n} to {call.n} are {len(within)} in {rate.interval.total_seconds():g} s"
            return Finding((within[0].n, call.n), f"{text_}; the limit is {rate.requests}")
    first, last = calls[0], calls[-1]
    span = last.at - first.at
    if first.n > 1 and last.n > near and span and len(calls) * (rate.interval / span) > near:
        return Finding((first.n, last.n), f"requests {first.n} to {last.n} came at a pace near {rate.requests}")
    return None


def back_off_on_503(traffic: Traffic) -> Iterator[Occasion]:
    """Report three or more retries of a request that all got 503 at constant intervals of the service's time."""
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
    numbers = tuple(call.n for call in run)
    return Finding(numbers, f"requests {numbers[0]} to {numbers[-1]} all got 503, {round(min(gaps), 1):g} s apart")


APART_MIN = timedelta(seconds=5)
JITTER = timedelta(milliseconds=500)
"""The network may change the time between two requests by this much."""

GIVEN_UP_AFTER = timedelta(minutes=5)
"""After this time the service retries no callback any more."""


def polling_pace(traffic: Traffic) -> Iterator[Occasion]:
    """Measure the pace by the service's time. Requests at the same time, such as under a manual clock, are not judged.
    The first re-query may follow the creation at once."""
    for (_, refid), asked in traffic.by_refid.items():
        for place, (before, request) in enumerate(pairwise(asked)):
            is_due = before.outcome.is_open and (place > 0 or before.outcome is PaymentOutcome.PROCESSING)
            apart = request.at - before.at
            if not is_due or apart <= timedelta(0):  # a request with a late answer has a later number
                continue
            if apart < APART_MIN - JITTER:
                words = f"request {request.n} asks {round(apart.total_seconds(), 1):g} s after request {before.n}"
                yield Finding((before.n, request.n), f"refid {quote(refid)}: {words}")
            else:
                yield None


def polling_to_the_end(traffic: Traffic) -> Iterator[Occasion]:
    """Report a payment without a final status if the client has not asked about it for five minutes and no callback has
    reported a final status."""
    for (_, refid), asked in traffic.by_refid.items():
        last = asked[-1]
        was_open = any(request.outcome.is_open or request.outcome is PaymentOutcome.UNKNOWN for request in asked)
        is_known = last.outcome.is_final or last.outcome is PaymentOutcome.REFUSED or traffic.knows_outcome(refid)
        if was_open and is_known:
            yield None
        elif (
            was_open
            and traffic.sees_callbacks
            and traffic.until is not None
            and traffic.until - last.at >= GIVEN_UP_AFTER
        ):
            words = f"was {last.outcome.value} in request {last.n}, and was not asked about for five minutes"
            yield Finding((last.n,), f"refid {quote(refid)} {words}")
