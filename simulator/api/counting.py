"""Counts answers where the journal is written: by endpoint, status, error and ending of the connection."""

from simulator.api.call import ABORT, Ending
from simulator.api.routes import PathTable
from simulator.runtime.counters import Counters
from simulator.runtime.journal import Exchange


def count_answer(counters: Counters, paths: PathTable, exchange: Exchange, ending: Ending | None) -> None:
    """Count one answer; unknown paths and methods share one key, so that clients cannot grow the table."""
    answers = counters.answers
    key = (exchange.method, exchange.path, exchange.status, exchange.error, "" if ending is None else ending.name)
    count = answers.get(key)
    if count is None:  # only new keys need normalizing to the names of the contract
        key = (*_named(paths, exchange.method, exchange.path), *key[2:])
        count = answers.get(key, 0)
    answers[key] = count + 1
    if counters.calls:
        counters.note_call(_facts(exchange, ending))


def _facts(exchange: Exchange, ending: Ending | None) -> dict[str, object]:
    """The facts that an expectation may test; a connection closed without an answer has the status 0."""
    return {
        "method": exchange.method,
        "path": exchange.path,
        "status": "0" if ending is ABORT else str(exchange.status),
        "error": str(exchange.error),
        "reseller": exchange.reseller,
        "refid": exchange.refid,
    }


def _named(paths: PathTable, method: str, path: str) -> tuple[str, str]:
    name = paths.name_of(path)
    methods = paths.exact.get(path) or paths.match(path)[0] or ()
    return method if method in methods else "*", name
