"""What a fault does to an exchange, read from its `then`."""

from datetime import timedelta

from simulator.domain.model.faults import FaultThen
from simulator.scenario.reader import Reader


def fault(item: Reader, *, needs_body: bool) -> FaultThen:
    """A fault's `then`. What would do nothing is reported."""
    status = item["status"].optional_integer()
    disconnect = _disconnect(item["disconnect"])
    if item["body"].is_given and status is None:
        item["body"].problem("misplaced", "a body goes with a status; write 'status' beside it", at_key=True)
    after_commit = item["after_commit"].boolean()
    malformed, drip = item["malformed"].boolean(), item["drip"]["bytes_per_second"].optional_amount()
    if after_commit and status is None and disconnect is None and not malformed and drip is None:
        text = "after_commit needs 'status', 'disconnect', 'malformed' or 'drip' beside it: what happens to the answer"
        item["after_commit"].problem("misplaced", text, at_key=True)
    if disconnect is not None:
        for spoiler in ("malformed", "drip"):
            if item[spoiler].is_given:
                text = f"a connection that is closed has no answer for {spoiler!r}; leave one of the two out"
                item[spoiler].problem("misplaced", text, at_key=True)
    body = item["body"].node
    return FaultThen(
        status=status,
        body=body.plain() if body is not None else None,
        delay=_delay(item["delay"]),
        disconnect=disconnect,
        malformed=malformed,
        drip=None if drip is None else float(drip),
        after_commit=after_commit,
        nonce_service_down=item["nonce_service"].text() == "down",
        internal_error=item["internal_error"].boolean(),
        needs_body=needs_body,
    )


def _disconnect(item: Reader) -> str | None:
    if item.boolean():
        return "head"
    return item.text() or None


def _delay(item: Reader) -> tuple[timedelta, timedelta] | None:
    """`5s`, or `[200ms, 2s]` to draw from."""
    if not item.is_given:
        return None
    if not item.is_list:
        exactly = item.duration()
        return exactly, exactly
    spans = [entry.duration() for entry in item.items()]
    if len(spans) != 2:
        return None
    low, high = spans
    if low > high:
        item.problem("out_of_range", "the first delay is longer than the second")
    return low, high
