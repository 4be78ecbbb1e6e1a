"""Finds the secrets on a tape that somebody gave: in scenarios and commands, in requests, in addresses.

What the seed draws, such as the secret of a key that the control API makes, is none of them: every replay draws it
again. Neither is what the bundled scenarios have, which everybody knows.
"""

from collections.abc import Iterable, Iterator, Mapping
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
from simulator.wire.named_secrets import named_secrets
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
    published = _published()
    found = chain(_of_scenario(scenario), chain.from_iterable(_of_entry(one, compiler) for one in entries))
    return (one for one in found if one not in published and _OUR_PAYLOAD not in one)


@lru_cache(maxsize=1)
def _published() -> frozenset[str]:
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
            yield from _of_message(one.query, one.headers, one.body)
        case InboxReceived(query=query, headers=headers, body=body):
            yield from _of_message(query, headers, body)


def _of_message(query: bytes, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> Iterator[str]:
    yield from named_secrets(query)
    yield from named_secrets(body)
    for text in (query.decode("latin-1"), body.decode("utf-8", "replace")):
        yield from _of_addresses(text)
    for name, value in headers:
        if b"signature" not in name and name not in HARMLESS_HEADERS and is_secret_name(name.decode("latin-1")):
            yield from _of_header(value.decode("latin-1"))


def _of_header(value: str) -> Iterator[str]:
    """The credentials of `Bearer …` and `Basic …`; of a token with three parts only its signature, since the others say
    why it is refused."""
    scheme, _, rest = value.partition(" ")
    credentials = rest.strip() or scheme
    if credentials.lower() in SCHEMES or _OUR_PAYLOAD in credentials:
        return
    yield credentials.rpartition(".")[2] if credentials.count(".") == 2 else credentials  # a JWT's


def _of_addresses(text: str) -> Iterator[str]:
    if "//" not in text and _PERCENT not in text:
        return
    for found in credentials_in(text):
        yield unquote_plus(found)
    for found in userinfo_in(text):
        user, _, password = unquote_plus(found).partition(":")
        yield password or user
