"""What a refused request is known by, and what a mistake is: another way to do one step of signing."""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum, auto
from typing import Any, NamedTuple

import msgspec

from simulator.auth.canonical import QueryRules

BODY_BYTES_MAX = 64 * 1024
"""Of a longer body only the hash is looked at."""
QUERY_BYTES_MAX = 4096
"""Of a longer query the mistakes of parameters and spellings are not tried."""
JSON_BYTES_MAX = 8 * 1024
"""A longer body is not written otherwise."""


class Other(NamedTuple):
    """Another secret that may have been used. `name` is in words, such as `the key K of reseller R`; empty for one that
    was replaced or belongs to no key."""

    name: str
    secret: bytes


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came. `signature` is the whole value of X-Signature; `secret` is decoded, `hashed` is the body's
    hash by SPEC 5.1; `prefix` is the part of the path before `/v2`. Only callers that may show them give `others` and
    `nonces` (of other requests)."""

    timestamp: bytes
    nonce: bytes
    method: bytes
    query: bytes
    body: bytes
    hashed: bytes
    signature: bytes
    secret: bytes
    path: bytes = b""
    prefix: bytes = b""
    host: bytes = b""
    api_key: bytes = b""
    rules: QueryRules = QueryRules()
    others: tuple[Other, ...] = ()
    nonces: tuple[bytes, ...] = ()
    json_bytes_max: int = JSON_BYTES_MAX

    @property
    def paths(self) -> Iterable[bytes]:
        """The path, without and with the prefix of its sandbox."""
        return dict.fromkeys((self.path, self.prefix + self.path))


class Parts(NamedTuple):
    """The parts of a canonical string behind `v1`."""

    timestamp: bytes
    nonce: bytes
    method: bytes
    query: bytes
    hashed: bytes


class Place(Enum):
    """Where a mistake is made; the value is what the place is called in words."""

    TIMESTAMP = "timestamp"
    NONCE = "nonce"
    METHOD = "method"
    QUERY = "query"
    BODY_HASH = "body hash"
    STRING = "string"
    KEY = "key"
    ALGORITHM = "algorithm"
    ENCODING = "encoding"
    PREFIX = "prefix"


class Step(IntEnum):
    """A step of signing. The comment says what a way to do it is: a value, or a function of what to what."""

    KEY = auto()  # a value
    ALGORITHM = auto()  # the key and the string: a digest
    TIMESTAMP = auto()  # a value
    NONCE = auto()  # a value
    METHOD = auto()  # a value
    PARAMETERS = auto()  # the parameters as sent: others
    BARE = auto()  # a parameter that has no =: another, or None if it is left out
    EMPTY = auto()  # a parameter whose value is empty: another, or None if it is left out
    ORDER = auto()  # parameters: in order
    SPELLING = auto()  # one parameter: spelt otherwise
    QUERY = auto()  # the text of the query: another
    BODY = auto()  # a value: the bytes that are hashed
    HASH = auto()  # the body and its SHA-256: a text
    PIECES = auto()  # the parts: the pieces of the string
    SEPARATOR = auto()  # a value
    STRING = auto()  # the string: another
    PREFIX = auto()  # X-Signature: without its prefix, None if it is not made so
    WRAPPING = auto()  # what follows the prefix: without what is around it, None if nothing is
    ENCODING = auto()  # what is left: pairs of digests that it may stand for, and how they are written


QUERY_STEPS = frozenset(range(Step.PARAMETERS, Step.QUERY + 1))
SIGNATURE_STEPS = frozenset({Step.PREFIX, Step.WRAPPING, Step.ENCODING})
_PLACES = {
    Step.BODY: Place.BODY_HASH, Step.HASH: Place.BODY_HASH, Step.PIECES: Place.STRING, Step.SEPARATOR: Place.STRING,
    Step.WRAPPING: Place.ENCODING, **dict.fromkeys(map(Step, QUERY_STEPS), Place.QUERY),
}  # fmt: skip


class Mistake(NamedTuple):
    """One known mistake. `does` says what the client does, `fix` what it should do; both end without a full stop, and
    `{}` in `does` stands for what the request has there. `ways` yields how `step` is done then: each a value, or a
    value and what stands for `{}`. `many_ways` yields those that are too many to try each with other mistakes."""

    id: str
    step: Step
    does: str
    fix: str
    ways: Callable[[Facts], Iterable[Any]]
    many_ways: Callable[[Facts], Iterable[Any]] = lambda _: ()

    @property
    def place(self) -> Place:
        """Where it is made."""
        return _PLACES.get(self.step) or Place[self.step.name]

    @property
    def sentence(self) -> str:
        """What the client does and what it should do."""
        return f"{self.does}; {self.fix}"


class Found(NamedTuple):
    """A mistake that a request has; `shown` is what stands for `{}` in its words."""

    mistake: Mistake
    shown: str = ""

    @property
    def id(self) -> str:
        """Its id in the table."""
        return self.mistake.id

    @property
    def does(self) -> str:
        """What the client does."""
        return self.mistake.does.format(self.shown)

    @property
    def sentence(self) -> str:
        """What the client does and how to mend it."""
        return f"{self.does}; {self.mistake.fix}"


class Way(NamedTuple):
    """Another way to do a step."""

    step: Step
    make: Any
    found: Found


def rows(step: Step, *each: tuple[Any, ...]) -> tuple[Mistake, ...]:
    """The rows of a table whose mistakes are made in the same step: id, what the client does, fix, and the ways."""
    return tuple(Mistake(name, step, *more) for name, *more in each)


def ways_of(mistake: Mistake, made: Iterable[Any]) -> Iterator[Way]:
    """How a client that makes this mistake may have done its step, from what the table yields."""
    for one in made:
        make, shown = one if isinstance(one, tuple) else (one, "")
        yield Way(mistake.step, make, Found(mistake, shown))
