"""Receivers of callbacks and webhooks (SPEC 5.5, 6.1, 6.3). Inboxes of the simulator do not belong to the client and
are not judged."""

import re
from collections.abc import Iterator

from simulator.audit.clauses import Finding, Occasion
from simulator.audit.client_traffic import Traffic
from simulator.audit.readers import is_accepted, is_clients_own
from simulator.wire.traffic import Notification

TIMEOUT_US = 30_000_000
_TIMED_OUT = re.compile(r"\bwithin [0-9]|time[d-]? ?out", re.IGNORECASE)


def receiver_in_time(traffic: Traffic) -> Iterator[Occasion]:
    """Judge every attempt. Under a manual clock the simulator has a shorter timeout."""
    for attempt in (each for delivery in traffic.received for each in delivery.attempts):
        is_late = attempt.status == 0 and _TIMED_OUT.search(attempt.error) is not None
        if is_late or attempt.duration_us > TIMEOUT_US:
            yield Finding((attempt.n,), f"the receiver of {_named(attempt)} gave no answer in time")
        elif attempt.status:
            yield None


def receiver_without_redirect(traffic: Traffic) -> Iterator[Occasion]:
    """Judge every attempt that was answered."""
    for attempt in (each for delivery in traffic.received for each in delivery.attempts):
        if attempt.status:
            is_redirect = 300 <= attempt.status < 400
            yield Finding((attempt.n,), f"{_named(attempt)} was answered {attempt.status}") if is_redirect else None


def receiver_accepts(traffic: Traffic) -> Iterator[Occasion]:
    """Report a callback that no attempt delivered. Other obligations report redirects and timeouts."""
    for delivery in traffic.received:
        last = delivery.last
        if delivery.is_accepted:
            yield None
        elif delivery.is_over(traffic.until) and not 300 <= last.status < 400 and not _TIMED_OUT.search(last.error):
            answer = str(last.status) if last.status else "no answer"
            yield Finding(delivery.numbers, f"{_named(last)} got {answer}, and was never accepted")


def forgeries_refused(traffic: Traffic) -> Iterator[Occasion]:
    """Judge by the probes that were sent."""
    for probe in _probes(traffic):
        if probe.is_forged:
            finding = Finding((probe.n,), f"the forgery {probe.probe} was answered {probe.status}")
            yield finding if is_accepted(probe) else None


def repetitions_accepted(traffic: Traffic) -> Iterator[Occasion]:
    """Judge by the probes that were sent."""
    for probe in _probes(traffic):
        if not probe.is_forged:
            yield None if is_accepted(probe) else Finding((probe.n,), f"{probe.probe} was answered {probe.status}")


def _named(notification: Notification) -> str:
    """Return a name of the notification for a sentence."""
    return f"{notification.kind} {notification.n}{' (SPEC 6.3)' if notification.kind == 'webhook' else ''}"


def _probes(traffic: Traffic) -> Iterator[Notification]:
    """Return the probes that the client's receiver answered."""
    return (
        notification
        for notification in traffic.notifications
        if notification.probe and notification.status and is_clients_own(notification)
    )
