"""Callbacks and deliveries in a snapshot: those in the logs, and those that only the agenda or an attempt has still."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from simulator.domain.due import CallbackDue, DeliveryDue
from simulator.domain.model.callbacks import Callback, CallbackState
from simulator.domain.model.effects import Attempt, Send
from simulator.domain.model.webhooks import Delivery, DeliveryState, Event, Webhook
from simulator.domain.state import State
from simulator.snapshot.accounts import WebhookKeys
from simulator.snapshot.chunks import numbered, parts_of_log
from simulator.snapshot.copies import Copies
from simulator.snapshot.values import Reading, Writing, opened

CALLBACKS, DELIVERIES, OTHERS = "callbacks", "deliveries", "jobs"
SIZE = 64
_EVENT = ("id", "type", "created", "data", "replays")

Jobs = dict[str, Any]
"""Callbacks and deliveries by their ids."""


class Others:
    """The jobs that no log has any more: they are due, in flight, or expectations wait for their end."""

    def __init__(self, state: State, pending: Iterable[Any]) -> None:
        self._logs = state.callbacks, state.deliveries
        self._found: Jobs = {}
        self._note(*(send.job for send in state.in_flight.values()), *pending)

    def add(self, items: Iterable[Any]) -> None:
        """Find those among items of the agenda."""
        due = (item for item in items if isinstance(item, CallbackDue | DeliveryDue))
        self._note(*(one.callback if isinstance(one, CallbackDue) else one.delivery for one in due))

    def _note(self, *jobs: Any) -> None:
        for one in jobs:
            if all(log.find(one.id) is None for log in self._logs):
                self._found[one.id] = one

    @property
    def found(self) -> list[Any]:
        """Those that were found: callbacks first, in order of creation."""
        return sorted(self._found.values(), key=lambda one: (isinstance(one, Delivery), _number(one)))


def _number(one: Any) -> int:
    """The number of a job among its kind, in order of creation."""
    if isinstance(one, Callback):
        return int(one.id.rpartition("-")[2])
    serial: int = one.serial
    return serial


def written(state: State, others: list[Any], keys: WebhookKeys) -> Iterator[tuple[str, bytes]]:
    """The parts of all jobs."""
    for log, ones in ((CALLBACKS, state.callbacks), (DELIVERIES, state.deliveries)):
        for name, found in numbered(log, ones, _number, SIZE):
            writing = Writing()
            yield name, writing.part([_row(writing, one, keys) for one in found])
    writing = Writing()
    content = {
        "others": [_row(writing, one, keys) for one in others],
        "in_flight": [[job, send.attempt.number] for job, send in state.in_flight.items()],
        "callbacks_left_out": state.callbacks.left_out,
        "deliveries_left_out": state.deliveries.left_out,
        "last": list(state.deliveries.last),
    }
    yield OTHERS, writing.part(content)


def _row(writing: Writing, one: Any, keys: WebhookKeys) -> Any:
    return _callback(writing, one) if isinstance(one, Callback) else _delivery(writing, one, keys)


def _callback(writing: Writing, one: Callback) -> Any:
    results = one.transaction.results
    place = results.index(one.result) if one.result in results else writing.plain(one.result)
    number = one.transaction.number
    return [one.id, number, place, one.url, one.method, one.copy, one.is_repeat, one.state.value, one.attempts]


def _delivery(writing: Writing, one: Delivery, keys: WebhookKeys) -> Any:
    return {
        "id": one.id,
        "event": [writing.plain(getattr(one.event, name)) for name in _EVENT],
        "webhook": keys[id(one.webhook)],
        "of": [one.reseller, one.url, one.retry_limit, one.original, one.serial, one.n, one.state.value, one.error],
        "at": [writing.plain(one.created), writing.plain(one.completed)],
        "attempts": one.attempts,
    }


class JobReading:
    """Makes jobs of their rows. Deliveries of one event share it."""

    def __init__(self, transactions: Copies, webhooks: Mapping[str, Webhook]) -> None:
        self._transactions = transactions
        self._webhooks = webhooks
        self._events: dict[str, Event] = {}

    def job(self, reading: Reading, row: Any) -> Any:
        """The job of a row."""
        return self._callback(reading, row) if isinstance(row, list) else self._delivery(reading, row)

    def _callback(self, reading: Reading, row: list[Any]) -> Callback:
        id_, number, place, url, method, copy, is_repeat, state, attempts = row
        transaction = self._transactions[number]
        return Callback(
            id=id_,
            transaction=transaction,
            result=transaction.results[place] if isinstance(place, int) else reading.value(place),
            url=url,
            method=method,
            copy=copy,
            is_repeat=is_repeat,
            state=CallbackState(state),
            attempts=msgspec.convert(attempts, tuple[Attempt, ...]),
        )

    def _delivery(self, reading: Reading, row: dict[str, Any]) -> Delivery:
        values = dict(zip(_EVENT, map(reading.value, row["event"]), strict=True))
        event = self._events.setdefault(values["id"], Event(**values))
        reseller, url, retry_limit, original, serial, n, state, error = row["of"]
        return Delivery(
            id=row["id"],
            event=event,
            reseller=reseller,
            webhook=self._webhooks[row["webhook"]],
            url=url,
            retry_limit=retry_limit,
            created=reading.value(row["at"][0]),
            original=original,
            serial=serial,
            n=n,
            state=DeliveryState(state),
            error=error,
            completed=reading.value(row["at"][1]),
            attempts=msgspec.convert(row["attempts"], list[Attempt]),
        )


def restore(state: State, parts: Mapping[str, bytes], transactions: Copies, webhooks: Mapping[str, Webhook]) -> Jobs:
    """Have all jobs as they were. Answers them by their ids."""
    made = JobReading(transactions, webhooks)
    callbacks, deliveries = (_log(parts, log, made) for log in (CALLBACKS, DELIVERIES))
    with opened(parts, OTHERS) as (reading, content):
        others = [made.job(reading, row) for row in content["others"]]
        state.callbacks.restore(callbacks, content["callbacks_left_out"])
        last, last_ended = content["last"]
        state.deliveries.restore(deliveries, (last, last_ended), content["deliveries_left_out"])
        jobs: Jobs = {one.id: one for one in (*callbacks, *deliveries, *others)}
        for job, number in content["in_flight"]:
            state.in_flight[job] = Send(jobs[job], jobs[job].attempts[number - 1])
    return jobs


def _log(parts: Mapping[str, bytes], log: str, made: JobReading) -> list[Any]:
    found: list[Any] = []
    for name, _ in parts_of_log(parts, log):
        with opened(parts, name) as (reading, rows):
            found += [made.job(reading, row) for row in rows]
    return found
