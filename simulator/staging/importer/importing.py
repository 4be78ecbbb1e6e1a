"""One import: asks the account, and makes the text of a scenario of its answers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from simulator.staging.importer.account import read_account
from simulator.staging.importer.answers import Answers, State, fingerprint
from simulator.staging.importer.written import written
from simulator.staging.service import HttpService
from simulator.staging.session import Clock, Session
from simulator.staging.signing import Credentials, secret_bytes, split_base

MASKED = "(not shown)"
MASKED_CHARS_MIN = 8  # a shorter text is found in harmless ones


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to import. `accounts` are account numbers by product; `keep_urls` see `written`."""

    base_url: str
    credentials: Credentials = field(repr=False)
    state: Path
    accounts: Mapping[str, Sequence[str]]
    keep_urls: bool = False
    per_second: float = 2.0
    requests_max: int = 5000
    timeout_s: float = 60.0


def import_account(wanted: Wanted, clock: Clock, progress: Callable[[str], None]) -> str:
    """The text of the scenario. The state file is deleted when it is complete.

    Raises `Refused`, `NotOurs`, `NoAnswer`, `NotExercised` when the requests are used up, `MustWait` and `CannotSign`.
    """
    host = split_base(wanted.base_url).netloc
    secret_bytes(wanted.credentials.secret)
    mask = masking(wanted.credentials)
    with (
        State(wanted.state, fingerprint(wanted.base_url, wanted.credentials.key), mask) as state,
        closing(HttpService(wanted.base_url, wanted.timeout_s)) as service,
    ):
        session = Session(service, wanted.credentials, clock, wanted.per_second, wanted.requests_max)
        account = read_account(Answers(session, state), state, wanted.accounts, progress)
        text = mask("\n".join([*written(account, host, keep_urls=wanted.keep_urls), ""]))
        state.remove()
    return text


def masking(credentials: Credentials) -> Callable[[str], str]:
    """A function that hides the key and the secret in a text."""
    hidden = [one for one in (credentials.secret, credentials.key) if len(one) >= MASKED_CHARS_MIN]

    def mask(text: str) -> str:
        for one in hidden:
            text = text.replace(one, MASKED)
        return text

    return mask
