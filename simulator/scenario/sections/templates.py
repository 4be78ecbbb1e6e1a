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
DRAWN_MAX = 64
CHARS_MAX = 500
_PARTS = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+", re.ASCII)
_DRAWN = re.compile(r"(digits|alnum):([0-9]{1,3})", re.ASCII)


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
    if len(text) > CHARS_MAX:
        raise ValueError(f"must have at most {CHARS_MAX} characters")
    parts: list[str | Text] = []
    drawn_before = 0
    for match in _PARTS.finditer(text):
        parts.append(_part(match, field_name, drawn_before))
        drawn_before += match[1] is not None and _DRAWN.fullmatch(match[1]) is not None
    if all(isinstance(part, str) for part in parts):
        fixed = "".join(map(str, parts))
        return lambda facts: fixed
    makers = [_constant(part) if isinstance(part, str) else part for part in parts]
    return lambda facts: "".join([make(facts) for make in makers])


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
        raise ValueError(f"has the unknown placeholder {whole}; known: {known}")
    count = int(drawn[2])
    if not 0 < count <= DRAWN_MAX:
        raise ValueError(f"draws {count} characters; N is from 1 to {DRAWN_MAX}")
    return _draw(draw.digits if drawn[1] == "digits" else draw.alphanumeric, count, field_name, drawn_before)


def _constant(text: str) -> Text:
    return lambda facts: text


def _draw(drawer: Callable[..., str], count: int, field_name: str, drawn_before: int) -> Text:
    def drawn(facts: Fields) -> str:
        # The index among the drawing placeholders makes draws within a text differ.
        identity = ("text", field_name, facts["trxid"], *((drawn_before,) if drawn_before else ()))
        return drawer(facts["seed"], count, *identity)

    return drawn


if TYPE_CHECKING:
    from faker import Faker

# Faker has no ms_MY. Its Indonesian names are nearest to Malay names; its addresses of Malaysia are called en_MS.
NAME_LOCALES = ("id_ID", "en_US")
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
    return PersonPools(tuple(map(_name_pool, NAME_LOCALES)), _streets(), _towns(), _births())


def business(number: int) -> tuple[str, str]:
    """Return the name and address of a business. The names of any 100,000 consecutive numbers are distinct."""
    companies, places, streets, towns = _companies(), _places(), _streets(), _towns()
    place, company = divmod(number * _SPREAD % (len(companies) * len(places)), len(companies))
    street, town = number % len(streets), (number // len(streets) + number * 7) % len(towns)  # neighbours live apart
    return f"{companies[company]}, {places[place]}", f"{streets[street]}, {towns[town]}"


def _name_pool(locale: str) -> NamePool:
    fake = _faker(locale, "person")
    return NamePool(_pool(fake, fake.first_name), _pool(fake, fake.last_name))


@cache
def _streets() -> tuple[str, ...]:
    fake = _faker(ADDRESS_LOCALE, "address")
    return _pool(fake, fake.street_address)


@cache
def _towns() -> tuple[str, ...]:
    """Return towns with postcode and state."""
    fake = _faker(ADDRESS_LOCALE, "address")
    return _pool(fake, fake.city_state)


def _births() -> tuple[str, ...]:
    """Return dates and places of birth, as identity numbers begin."""
    fake = _faker(COMPANY_LOCALE, "python")
    days = (BORN_LAST - BORN_FIRST).days

    def birth() -> str:
        born = BORN_FIRST + timedelta(days=fake.pyint(0, days))
        return f"{born:%y%m%d}{fake.pyint(1, BIRTHPLACES):02}"

    return _pool(fake, birth)


@cache
def _companies() -> tuple[str, ...]:
    fake = _faker(COMPANY_LOCALE, "company", "person")
    return _distinct(fake, fake.company, COMPANIES)


@cache
def _places() -> tuple[str, ...]:
    fake = _faker(ADDRESS_LOCALE, "address")
    return _distinct(fake, fake.city, PLACES)


def _pool(fake: "Faker", make: Callable[[], str]) -> tuple[str, ...]:
    return tuple(islice(_texts(fake, make), POOL))


def _distinct(fake: "Faker", make: Callable[[], str], wanted: int) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in _texts(fake, make):
        found[text] = None
        if len(found) == wanted:
            break
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
