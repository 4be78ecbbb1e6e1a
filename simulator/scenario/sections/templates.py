"""Generated texts: placeholders such as `SN-{refid}-{digits:4}`, and people, addresses and identity numbers from Faker.

Draws depend on the sandbox's seed, the place in the scenario and the transaction, and so are the same in every run.
Faker is imported lazily, with the first name, which takes a tenth of a second once, and fills bounded pools from fixed
seeds. Every sandbox of the process shares them; the sandbox's seed decides who is drawn. A newer Faker may have other
names: 40.1 to 40.54 generate the same people, the next major version is excluded.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from itertools import count, islice
from typing import TYPE_CHECKING

from simulator.domain.model import draw
from simulator.domain.model.bills import NamePool, PersonPools
from simulator.domain.model.rules import Fields, Text
from simulator.scenario.reading.value_reader import ValueReader, text_of

NAMES = ("refid", "trxid", "account", "product", "amount", "reseller")
_PARTS = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+", re.ASCII)
_DRAWN = re.compile(r"(digits|alnum):([1-9][0-9]?)", re.ASCII)


def templates(item: ValueReader, names: Iterable[str]) -> dict[str, Text]:
    """Return the templates of the members `names` that are given and valid."""
    found: dict[str, Text] = {}
    for name in filter(item.has, names):
        compiled = item[name].parsed(partial(template, field_name=name), "bad_template")
        if compiled is not None:
            found[name] = compiled
    return found


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled text, called with the facts of a transaction. Templates with equal texts are equal, so that a reload
    of an unchanged file changes nothing in the catalog."""

    text: str
    field_name: str
    make: Text = field(compare=False)

    def __call__(self, facts: Fields) -> str:
        """Return the text with its placeholders filled."""
        return self.make(facts)


@lru_cache(maxsize=4096)
def template(text: str, field_name: str) -> Template:
    """Compile `text`, the value of a result's `field_name`. Raises `ValueError` for an unknown placeholder."""
    return Template(text, field_name, _compiled(text, field_name))


def _compiled(text: str, field_name: str) -> Text:
    parts: list[str | Text] = []
    drawn_before = 0
    for match in _PARTS.finditer(text):
        parts.append(_part(match, field_name, drawn_before))
        drawn_before += match[1] is not None and _DRAWN.fullmatch(match[1]) is not None
    if all(isinstance(part, str) for part in parts):
        fixed = "".join(map(str, parts))
        return lambda facts: fixed
    return lambda facts: "".join([part if isinstance(part, str) else part(facts) for part in parts])


def _part(match: re.Match[str], field_name: str, drawn_before: int) -> str | Text:
    whole, name = match[0], match[1]
    if whole in ("{{", "}}"):
        return whole[0]
    if whole in ("{", "}"):
        raise ValueError(f"has a single {whole!r}; write {whole * 2!r} for a brace")
    if name is None:
        return whole
    if name in NAMES:
        return lambda facts: text_of(facts[name])
    drawn = _DRAWN.fullmatch(name)
    if drawn is None:
        known = ", ".join(f"{{{one}}}" for one in (*NAMES, "digits:N", "alnum:N"))
        raise ValueError(f"has the unknown placeholder {whole}; known: {known}, with N from 1 to 99")
    drawer: Callable[..., str] = draw.digits if drawn[1] == "digits" else draw.alphanumeric
    length = int(drawn[2])

    def draw_text(facts: Fields) -> str:
        # The index among the drawing placeholders makes draws within a text differ.
        identity = ("text", field_name, facts["trxid"], *((drawn_before,) if drawn_before else ()))
        return drawer(facts["seed"], length, *identity)

    return draw_text


if TYPE_CHECKING:
    from faker import Faker

# Faker has no ms_MY. Its Indonesian names are nearest to Malay names; its addresses of Malaysia are called en_MS.
NAME_LOCALES, NAME_KINDS = ("id_ID", "en_US"), ("first_name", "last_name")
ADDRESS_LOCALE = "en_MS"
COMPANY_LOCALE = "en_US"

POOL = 200  # sizes of the pools: given names, family names, streets, towns, beginnings of identity numbers
COMPANIES, PLACES = 400, 250  # their product is as many as a catalog generates
BORN_FIRST, BORN_LAST = date(1945, 1, 1), date(2004, 12, 31)
BIRTHPLACES = 16  # states and federal territories
# The factor is coprime to the number of businesses, so that consecutive numbers get distant, distinct names.
_SPREAD = 38_197


@cache
def person_pools() -> PersonPools:
    """Return the pools that account holders are drawn from."""
    names = (NamePool(*(_pool(locale, kind, "person") for kind in NAME_KINDS)) for locale in NAME_LOCALES)
    return PersonPools(tuple(names), *_addresses(), _births())


def business(number: int) -> tuple[str, str]:
    """Return the name and address of a business. The names of any 100,000 consecutive numbers are distinct."""
    companies = _distinct(COMPANIES, COMPANY_LOCALE, "company", "company", "person")
    places, (streets, towns) = _distinct(PLACES, ADDRESS_LOCALE, "city", "address"), _addresses()
    place, company = divmod(number * _SPREAD % (len(companies) * len(places)), len(companies))
    street, town = number % len(streets), (number // len(streets) + number * 7) % len(towns)  # neighbours live apart
    return f"{companies[company]}, {places[place]}", f"{streets[street]}, {towns[town]}"


def _addresses() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return streets, and towns with postcode and state."""
    return _pool(ADDRESS_LOCALE, "street_address", "address"), _pool(ADDRESS_LOCALE, "city_state", "address")


def _births() -> tuple[str, ...]:
    """Return dates and places of birth, as identity numbers begin."""
    fake = _faker(COMPANY_LOCALE, "python")
    days = (BORN_LAST - BORN_FIRST).days

    def birth() -> str:
        born = BORN_FIRST + timedelta(days=fake.pyint(0, days))
        return f"{born:%y%m%d}{fake.pyint(1, BIRTHPLACES):02}"

    return tuple(islice(_texts(fake, birth), POOL))


@cache
def _pool(locale: str, kind: str, *providers: str) -> tuple[str, ...]:
    """Return texts of this kind, a method of Faker."""
    fake = _faker(locale, *providers)
    return tuple(islice(_texts(fake, getattr(fake, kind)), POOL))


@cache
def _distinct(size: int, locale: str, kind: str, *providers: str) -> tuple[str, ...]:
    """Return this number of different texts."""
    fake = _faker(locale, *providers)
    texts, found = _texts(fake, getattr(fake, kind)), dict[str, None]()
    while len(found) < size:
        found[next(texts)] = None
    return tuple(found)


def _texts(fake: "Faker", make: Callable[[], str]) -> Iterator[str]:
    """Yield an endless sequence of texts, each from its own seed, so that a change in Faker affects single texts. Only
    texts valid in a header and on a single line are used."""
    for seed in count(1):
        fake.seed_instance(seed)
        text = make()
        if text.isascii() and text.isprintable():
            yield text


def _faker(locale: str, *providers: str) -> "Faker":
    """Return a Faker with only these providers, and uniform weights: a tenth of the usual cost."""
    from faker import Faker

    return Faker(locale, providers=[f"faker.providers.{name}" for name in providers], use_weighting=False)
