"""Finds the secrets on a tape that were given to the sandbox: in scenarios and commands.

What the seed draws, such as the secret of a key that the control API makes, is none of them: every replay draws it
again. Neither is what the bundled scenarios have, which everybody knows.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import unquote_plus

from simulator.auth import headers as names
from simulator.auth.signature import MESSAGES
from simulator.domain.commands import AddReseller, LoadScenario, RevokeApiKey
from simulator.domain.model.scenario import ResellerStart, Scenario
from simulator.runtime.journal import Exchange
from simulator.scenario.compiler import ScenarioCompiler
from simulator.scenario.library import load_scenario
from simulator.scenario.reading.document import ScenarioError
from simulator.tape.entries import CommandApplied, Entry, RequestBegan, RequestShown
from simulator.wire.shown_addresses import credentials_in
from simulator.wire.userinfo import userinfo_in

OF_KNOWN_KEYS = MESSAGES.keys() - {
    "missing_api_key", "invalid_api_key", "body_too_large", "invalid_token"
} | {"ip_not_allowed", "nonce_service_unavailable"}  # fmt: skip
"""Refusals of a request whose key the sandbox has."""

_PERCENT = "%"


class Given:
    """What was given to one life: its `secrets`, in order, the API `keys` and the names of `users`, which are none. A
    key that was drawn later is known when a request was judged by it."""

    def __init__(self, scenario: Scenario, compiler: ScenarioCompiler) -> None:
        self._compiler = compiler
        self.secrets: dict[str, None] = {}
        self.keys: set[str] = set()
        self.users: set[str] = set()
        self._begin(scenario)

    def learn(self, entry: Entry) -> None:
        """Take those of an entry of the tape."""
        match entry:
            case CommandApplied(command=LoadScenario(name=name, document=document)):
                with suppress(ScenarioError):  # it was refused then, too
                    self._begin(self._compiler.scenario(document, name))
            case CommandApplied(command=AddReseller(start=start)):
                self._take(start, chain(_of_reseller(start), _of_addresses(start.callback.url)))
            case CommandApplied(command=RevokeApiKey(key=key)):
                self.keys.add(key)
            case (
                RequestBegan(exchange=Exchange() as one)
                | RequestShown(exchange=Exchange() as one)
                | (Exchange() as one)
            ) if one.reseller or one.error in OF_KNOWN_KEYS:
                self.keys |= {value.decode("latin-1") for name, value in one.headers if name == names.API_KEY}

    def _begin(self, scenario: Scenario) -> None:
        for start in scenario.resellers:
            self._take(start, ())
        self._add(_of_scenario(scenario))

    def _take(self, start: ResellerStart, secrets: Iterator[str] | tuple[()]) -> None:
        self.keys |= {key.key for key in start.keys}
        self.users |= {user.username for user in start.users}
        self._add(secrets)

    def _add(self, secrets: Iterator[str] | tuple[()]) -> None:
        self.secrets |= dict.fromkeys(one for one in secrets if one not in published())


@lru_cache(maxsize=1)
def published() -> frozenset[str]:
    """Those of the bundled scenario."""
    return frozenset(_of_scenario(load_scenario("default")))


def _of_scenario(scenario: Scenario) -> Iterator[str]:
    document = scenario.document
    written = set(_texts(document))
    held = chain.from_iterable(map(_of_reseller, scenario.resellers))
    yield from (one for one in held if one in written)
    webhook = scenario.webhooks.catalog
    if webhook is not None and webhook.secret in written:
        yield webhook.secret
    yield from chain.from_iterable(map(_of_addresses, written))


def _of_reseller(reseller: ResellerStart) -> Iterator[str]:
    yield from (key.secret for key in reseller.keys)
    yield from (user.password for user in reseller.users)
    if reseller.webhook is not None:
        yield reseller.webhook.secret


def _texts(value: Any) -> Iterator[str]:
    """All texts of a document, however deep; it has at most the depth of a scenario."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_texts, value.values()))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_texts, value))


def _of_addresses(text: str) -> Iterator[str]:
    if "//" not in text and _PERCENT not in text:
        return
    for found in credentials_in(text):
        yield unquote_plus(found)
    for found in userinfo_in(text):
        user, _, password = unquote_plus(found).partition(":")
        yield password or user
