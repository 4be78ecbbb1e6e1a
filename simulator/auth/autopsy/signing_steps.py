"""A refused request, and how clients sign it: in steps that can each be done in another way."""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import product
from typing import Any, NamedTuple

import msgspec

from simulator.auth.canonical import QueryRules, by_key, by_key_and_value, canonical_string, is_empty

TEXT_BYTES_MAX = 64 * 1024
"""Longer strings of a client are not compared."""
PARTS_MAX = 12
"""The members of a larger object are not left out, added, rewritten or reordered. Of a query, only so many parameters
are left out."""


class Other(NamedTuple):
    """Another secret that may have been used. `name` is in words, such as `the key K of reseller R`; empty for a secret
    that was replaced or belongs to no key."""

    name: str
    secret: bytes


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A request as received. `signature` is the whole value of X-Signature; `secret` is decoded, `hashed` is the body's
    hash by SPEC 5.1; `prefix` is the part of the path before `/v2`; `fields` are the parameters, or members of the
    body, that the path has. `others` and `nonces` (of other requests) are only set by callers that may show them."""

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
    fields: frozenset[str] = frozenset()
    rules: QueryRules = QueryRules()
    others: tuple[Other, ...] = ()
    nonces: tuple[bytes, ...] = ()
    body_bytes_max: int = 8 * 1024

    @property
    def text(self) -> bytes:
        """Return the body. Raises ValueError for a body that is too long to be written otherwise."""
        if len(self.body) > self.body_bytes_max:
            raise ValueError
        return self.body

    @property
    def paths(self) -> Iterable[bytes]:
        """Return the path, without and with the prefix of its sandbox."""
        return dict.fromkeys((self.path, self.prefix + self.path))


class Parts(NamedTuple):
    """The parts of a canonical string after `v1`."""

    timestamp: bytes
    nonce: bytes
    method: bytes
    query: bytes
    hashed: bytes


PLACES = {
    "timestamp": "timestamp",  # another value
    "nonce": "nonce",  # another value
    "method": "method",  # another value
    "parameters": "query",  # other parameters
    "bare": "query",  # a parameter that has no = to another, or to None if it is left out
    "empty": "query",  # a parameter whose value is empty, likewise
    "order": "query",  # the parameters to an order
    "spelling": "query",  # a parameter to one that is spelt otherwise
    "query": "query",  # the text of the query to another
    "body": "body hash",  # other bytes to hash
    "hash": "body hash",  # the digest of the body to a text, or another text
    "pieces": "string",  # the parts to the pieces of the string
    "separator": "string",  # another value
    "string": "string",  # the string to another
    "key": "key",  # another value
    "algorithm": "algorithm",  # the key and the string to a digest
    "encoding": "encoding",  # the text of a digest to the digest; from here on the way back, from X-Signature
    "wrapping": "encoding",  # the value of X-Signature to what is inside
    "prefix": "prefix",  # the value of X-Signature without its prefix, None when it has no such prefix
}
"""The steps of signing, each with its place in reports. A comment says what the transformations of a step yield."""
_NEEDED = {step: re.compile(form).search for step, form in {
    "empty": rb"=(?:&|$)", "order": rb"&", "spelling": rb"[^\w.=&-]",
}.items()}  # fmt: skip
"""What a query must have so that a step of it can be done in another way."""
_PARAMETER_STEPS = frozenset(step for step, place in PLACES.items() if place == "query") - {"query"}

Transformation = Callable[[Facts], Iterable[Any]]
"""Yields the ways to do a step in a request: each the result, or a function that makes it from the right input; alone
or in a pair with the text for `{}` in `SigningMistake.does`."""


class SigningMistake(msgspec.Struct, frozen=True, gc=False):
    """One known mistake. `does` says what the client does, `fix` what it should do; both end without a full stop, and
    `{}` in `does` stands for what the request has there. `common` is the number of its ways that clients often take:
    they are tried before all others, and for the header of the refusal."""

    step: str
    id: str
    does: str
    fix: str
    transformation: Transformation
    common: int = 0

    def ways(self, facts: Facts) -> Iterator["Way"]:
        """Yield the ways in which a client with this mistake may have done the step. Stop where the request does not
        allow it: its body is not JSON or too long, or its timestamp is not a number."""
        if self.step in _NEEDED and not _NEEDED[self.step](facts.query):
            return
        try:
            for change in self.transformation(facts):
                yield Way(self, *change) if isinstance(change, tuple) else Way(self, change)
        except (ValueError, OverflowError, RecursionError):
            return


class Way(msgspec.Struct, frozen=True, gc=False):
    """One way to make a mistake: how its step is done, and the text for `{}` in its sentence."""

    mistake: SigningMistake
    make: Any
    shown: str = ""

    @property
    def id(self) -> str:
        """Return the id of the mistake."""
        return self.mistake.id

    @property
    def does(self) -> str:
        """Return what the client does in this request."""
        return self.mistake.does.format(self.shown)


Ways = tuple[Way, ...]
Shown = Iterator[tuple[Any, str]]
Makes = dict[str, Any]
"""Steps that are done otherwise, each with `Way.make`."""


def rows(step: str, *each: Any) -> tuple[SigningMistake, ...]:
    """Return the mistakes of a step, the likeliest first. Each row is a `SigningMistake` without its step."""
    return tuple(SigningMistake(step, *row) for row in each)


def always(*changes: Any) -> Transformation:
    """Return a transformation that is the same for every request."""
    return lambda _: changes


class Signing:
    """Signs a request with one of the accepted forms of its query: rightly, or with some steps done in other ways."""

    def __init__(self, facts: Facts, empty: Callable[..., Any], order: Callable[..., Any]) -> None:
        self.facts = facts
        self._empty, self._order = empty, order
        self.parts = Parts(facts.timestamp, facts.nonce, facts.method, self._query({}), facts.hashed)
        self.right = canonical_string(*self.parts)

    def string(self, makes: Makes) -> bytes:
        """Return the string that a client signs if it does some steps otherwise."""
        timestamp, nonce, method, query, hashed = self.parts
        if not _PARAMETER_STEPS.isdisjoint(makes):
            query = self._query(makes)
        if "query" in makes:
            query = _done(makes["query"], query)
        if "body" in makes or "hash" in makes:
            hashed = self._hash(makes)
        get = makes.get
        parts = get("timestamp", timestamp), get("nonce", nonce), get("method", method), query, hashed
        pieces = makes["pieces"](parts) if "pieces" in makes else (b"v1", *parts)
        text: bytes = get("separator", b":").join(pieces)
        return _done(makes["string"], text) if "string" in makes else text

    def _query(self, makes: Makes) -> bytes:
        bare, empty = makes.get("bare", _dropped), makes.get("empty", self._empty)
        parts = makes.get("parameters") or self.facts.query.split(b"&")
        signed = (bare(part) if b"=" not in part else empty(part) if is_empty(part) else part for part in parts)
        parts = _done(makes.get("order", self._order), [part for part in signed if part is not None])
        return b"&".join(map(makes["spelling"], parts) if "spelling" in makes else parts)

    def _hash(self, makes: Makes) -> bytes:
        body: bytes = makes.get("body", self.facts.body)
        digest = sha256(body).digest() if "body" in makes else b64decode(self.facts.hashed)
        return _done(makes["hash"], digest) if "hash" in makes else b64encode(digest)


def _done(make: Any, *right: Any) -> Any:
    """Return the result of a step: `make` itself, or what it returns for the right input."""
    return make(*right) if callable(make) else make


def signings(facts: Facts) -> list[Signing]:
    """Return a `Signing` for each form of the query that the sandbox accepts, the most literal first."""
    kept: Callable[[bytes], bytes | None] = bytes
    empties = {"with": (kept,), "without": (_dropped,)}.get(facts.rules.empty_values, (kept, _dropped))
    orders = {"as_sent": (by_key,), "sorted": (by_key_and_value,)}.get(
        facts.rules.repeated_keys, (by_key, by_key_and_value)
    )
    if not facts.query:
        return [Signing(facts, kept, by_key)]
    forms: dict[bytes, Signing] = {}
    for empty, order in product(empties, orders):
        signing = Signing(facts, empty, order)
        forms.setdefault(signing.parts.query, signing)
    return list(forms.values())


def _dropped(_: bytes) -> None:
    """Leave out a parameter."""
