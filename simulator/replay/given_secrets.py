"""Finds the secrets on a tape that somebody gave: in scenarios and commands, in requests, in addresses.

What the seed draws, such as the secret of a key that the control API makes, is none of them: every replay draws it
again. Neither is what the bundled scenarios have, which everybody knows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import unquote_plus

from simulator.auth import headers as names
from simulator.domain.commands import AddReseller, LoadScenario
from simulator.domain.model.scenario import ResellerStart, Scenario
from simulator.runtime.journal import Exchange
from simulator.scenario.compiler import ScenarioCompiler
from simulator.scenario.library import load_scenario
from simulator.scenario.reading.document import ScenarioError
from simulator.tape.entries import CommandApplied, Entry, InboxReceived, RequestBegan, RequestShown
from simulator.wire.secret_names import is_secret_name
from simulator.wire.shown_addresses import credentials_in
from simulator.wire.userinfo import userinfo_in

HARMLESS_HEADERS = frozenset({names.API_KEY, b"idempotency-key"})
"""Beside signatures, which are useless without the secret."""
SCHEMES = ("bearer", "basic")
_OUR_PAYLOAD = ".eyJpc3MiOiJyZXNlbGxlci1zaW0i"  # of the tokens that we issue
_PERCENT = "%"


def secrets_on(scenario: Scenario, entries: Iterable[Entry], compiler: ScenarioCompiler) -> Iterator[str]:
    """The secrets of a life that began with this scenario, those of its clients in their requests included."""
    known = published()
    found = chain(_of_scenario(scenario), chain.from_iterable(_of_entry(one, compiler) for one in entries))
    return (one for one in found if one not in known and _OUR_PAYLOAD not in one)


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


def _of_entry(entry: Entry, compiler: ScenarioCompiler) -> Iterator[str]:
    match entry:
        case CommandApplied(command=LoadScenario(name=name, document=document)):
            with suppress(ScenarioError):  # it was refused then, too
                yield from _of_scenario(compiler.scenario(document, name))
        case CommandApplied(command=AddReseller(start=start)):
            yield from _of_reseller(start)
            yield from _of_addresses(start.callback.url)
        case RequestBegan(exchange=Exchange() as one) | RequestShown(exchange=Exchange() as one) | (Exchange() as one):
            yield from _of_message(one.query, one.body)
        case InboxReceived(query=query, body=body):
            yield from _of_message(query, body)


def _of_message(query: bytes, body: bytes) -> Iterator[str]:
    """The credentials in addresses; those that are so by their names are found where they stand."""
    for text in (query.decode("latin-1"), body.decode("utf-8", "replace")):
        yield from _of_addresses(text)


def with_credential(name: str, value: str, replaced: Callable[[str], str]) -> str:
    """A header with its credential replaced, if it has one: what follows `Bearer` or `Basic`; of a token with three
    parts only its signature, since the others say why it is refused. Our own tokens are made again."""
    name = name.lower()
    if "signature" in name or name.encode() in HARMLESS_HEADERS or not is_secret_name(name):
        return value
    scheme, _, rest = value.partition(" ")
    credential = rest.strip() or scheme
    if credential.lower() in SCHEMES or _OUR_PAYLOAD in credential:
        return value
    secret = credential.rpartition(".")[2] if credential.count(".") == 2 else credential  # a JWT's
    return f"{value.removesuffix(secret)}{replaced(secret)}" if secret and value.endswith(secret) else value


def _of_addresses(text: str) -> Iterator[str]:
    if "//" not in text and _PERCENT not in text:
        return
    for found in credentials_in(text):
        yield unquote_plus(found)
    for found in userinfo_in(text):
        user, _, password = unquote_plus(found).partition(":")
        yield password or user
