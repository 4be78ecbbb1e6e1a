"""One import: asks the account, and makes the text of a scenario of its answers."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simulator.staging.client import Client, Manners
from simulator.staging.importer.account import Account, read_account
from simulator.staging.importer.answers import Answers, State, fingerprint
from simulator.staging.importer.written import written
from simulator.staging.signing import Credentials, split_base

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


def import_account(wanted: Wanted, manners: Manners, progress: Callable[[str], None]) -> str:
    """The text of the scenario. The state file is deleted when it is complete.

    Raises `Refused`, `NotOurs`, `NoAnswer`, `Spent`, `MustWait` and `CannotSign`.
    """
    host = split_base(wanted.base_url).netloc
    mask = masking(wanted.credentials)
    with State(wanted.state, fingerprint(wanted.base_url, wanted.credentials.key), mask) as state:
        account = asyncio.run(_read(wanted, manners, state, progress))
        text = mask("\n".join([*written(account, host, keep_urls=wanted.keep_urls), ""]))
        state.remove()
    return text


async def _read(wanted: Wanted, manners: Manners, state: State, progress: Callable[[str], None]) -> Account:
    async with Client(wanted.base_url, wanted.credentials, manners) as client:
        return await read_account(Answers(client, state), state, wanted.accounts, progress)


def masking(credentials: Credentials) -> Callable[[str], str]:
    """A function that hides the key and the secret in a text."""
    hidden = [one for one in (credentials.secret, credentials.key) if len(one) >= MASKED_CHARS_MIN]

    def mask(text: str) -> str:
        for one in hidden:
            text = text.replace(one, MASKED)
        return text

    return mask
