"""Generates fictional names, addresses and identity numbers with Faker.

Faker is imported lazily, with the first name, which takes a tenth of a second once, and fills bounded pools from fixed
seeds. Every sandbox of the process shares them; the sandbox's seed decides who is drawn. A newer Faker may have other
names: 40.1 to 40.54 generate the same people, the next major version is excluded.
"""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache
from itertools import count, islice
from typing import TYPE_CHECKING

from simulator.domain.model.bills import NamePool, PersonPools

if TYPE_CHECKING:
    from faker import Faker

# Faker has no ms_MY. Of its names the Indonesian ones are nearest to Malay; its addresses of Malaysia are called en_MS.
NAME_LOCALES = ("id_ID", "en_US")
ADDRESS_LOCALE = "en_MS"
COMPANY_LOCALE = "en_US"

POOL = 200  # how many there are of each: given names, family names, streets, towns, beginnings of identity numbers
COMPANIES, PLACES = 400, 250  # their product is as many as a catalog generates
BORN_FIRST, BORN_LAST = date(1945, 1, 1), date(2004, 12, 31)
BIRTHPLACES = 16  # states and federal territories
# The factor is coprime to the number of businesses, so that consecutive numbers get distant, distinct names.
_SPREAD = 38_197


@cache
def person_pools() -> PersonPools:
    """The pools that account holders are drawn from."""
    return PersonPools(tuple(map(_name_pool, NAME_LOCALES)), _streets(), _towns(), _births())


def business(number: int) -> tuple[str, str]:
    """The name and address of a business. The names of any 100,000 consecutive numbers are distinct."""
    companies, places, streets, towns = _companies(), _places(), _streets(), _towns()
    place, company = divmod(number * _SPREAD % (len(companies) * len(places)), len(companies))
    street, town = number % len(streets), (number // len(streets) + number * 7) % len(towns)  # neighbours live apart
    return f"{companies[company]}, {places[place]}", f"{streets[street]}, {towns[town]}"


def _name_pool(locale: str) -> NamePool:
    fake = _faker(locale, "person")
    return NamePool(_drawn(fake, fake.first_name), _drawn(fake, fake.last_name))


@cache
def _streets() -> tuple[str, ...]:
    fake = _faker(ADDRESS_LOCALE, "address")
    return _drawn(fake, fake.street_address)


@cache
def _towns() -> tuple[str, ...]:
    """With postcode and state."""
    fake = _faker(ADDRESS_LOCALE, "address")
    return _drawn(fake, fake.city_state)


def _births() -> tuple[str, ...]:
    """Dates and places of birth, as identity numbers begin."""
    fake = _faker(COMPANY_LOCALE, "python")
    days = (BORN_LAST - BORN_FIRST).days

    def birth() -> str:
        born = BORN_FIRST + timedelta(days=fake.pyint(0, days))
        return f"{born:%y%m%d}{fake.pyint(1, BIRTHPLACES):02}"

    return _drawn(fake, birth)


@cache
def _companies() -> tuple[str, ...]:
    fake = _faker(COMPANY_LOCALE, "company", "person")
    return _distinct(fake, fake.company, COMPANIES)


@cache
def _places() -> tuple[str, ...]:
    fake = _faker(ADDRESS_LOCALE, "address")
    return _distinct(fake, fake.city, PLACES)


def _drawn(fake: "Faker", make: Callable[[], str]) -> tuple[str, ...]:
    return tuple(islice(_texts(fake, make), POOL))


def _distinct(fake: "Faker", make: Callable[[], str], wanted: int) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in _texts(fake, make):
        found[text] = None
        if len(found) == wanted:
            break
    return tuple(found)


def _texts(fake: "Faker", make: Callable[[], str]) -> Iterator[str]:
    """An endless sequence of texts, each from its own seed, so that a change in Faker affects single texts. Only texts
    valid in a header and on one line."""
    for seed in count(1):
        fake.seed_instance(seed)
        text = make()
        if text.isascii() and text.isprintable():
            yield text


def _faker(locale: str, *providers: str) -> "Faker":
    """A Faker with only these providers, and uniform weights: a tenth of the usual cost."""
    from faker import Faker

    return Faker(locale, providers=[f"faker.providers.{name}" for name in providers], use_weighting=False)
