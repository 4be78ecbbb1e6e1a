"""The autopsy of a signature: what is wrong with it, how to mend it, and the string that should have been signed; and
its short form, a line for the header of the refusal.

A hash does not show how similar two strings are. So if no known mistake explains a signature, the string that the
client says it signed is compared with the right string.
"""

from binascii import b2a_base64
from collections.abc import Mapping
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from simulator.auth.autopsy.body_mistakes import body_flaw
from simulator.auth.autopsy.search import search
from simulator.auth.autopsy.signing_steps import Facts, Parts, Ways, signings
from simulator.auth.canonical import QueryRules, body_hash, canonical_string
from simulator.auth.form import FIX, PREFIX, wrong_digest, wrong_form
from simulator.auth.headers import API_KEY
from simulator.auth.signature import Claim
from simulator.short_text import one_line, shortened

_UNCOMMON = "no common mistake was found in a short search; run `reseller-sim explain --last` for a longer search"
IS_RIGHT = "the signature is right"
_UNKNOWN = "no known mistake explains the signature"
_UNFINISHED = ", but not all pairs were tried: the request is long, or several forms of its query are accepted"
_UNKNOWN_FIX = (
    "print the string that your client passes to the HMAC, and compare it with `reseller-sim explain --string`; "
    "compare the secret with that of the key, too"
)
# The pieces of a canonical string, which colons separate, and how to mend each. Only the query may have colons itself.
_PIECES = {
    "version": "begin the string with v1:",
    "timestamp": "sign the value of X-Timestamp, to the character",
    "nonce": "sign the value of X-Nonce, to the character",
    "method": "sign the method that is sent, in capitals",
    "query": "sign what follows the ? as it is sent, sorted by key; nothing without a ?",
    "body hash": "sign the Base64 of the SHA-256 of the exact bytes that are sent; without a body, of no bytes",
}
_SIX = "sign v1:<timestamp>:<nonce>:<METHOD>:<query>:<body hash>, with all five colons, and nothing after it"
_NOT_OF_IT = "the signature was not made of it with this secret"
_OTHER_KEY = "print the secret, its decoded bytes and the string where the HMAC is made: one of them is another there"


class Piece(NamedTuple):
    """A piece that differs; `given` is None when the given string cannot be divided into six."""

    name: str
    expected: bytes
    given: bytes | None

    @property
    def difference(self) -> str:
        """Return how the piece differs. The query may have secrets, so it is not shown."""
        if self.given is None:
            return f"there are not six pieces between colons, and from the {self.name} on it differs"
        if self.name in ("query", "body hash"):
            what = "missing" if not self.given else "another" if self.expected else "present, though none was sent"
            return f"the {self.name} is {what}"
        given, expected = (f"'{one_line(shortened(value))}'" for value in (self.given, self.expected))
        return f"the {self.name} is {given} where {expected} is expected"


class Compared(msgspec.Struct, frozen=True):
    """A string that the client says it signed, and the expected string: `pieces` are the pieces that differ. If the
    signature was made of it (`is_signed`), `found` are the known mistakes of the later steps."""

    signed: bytes
    expected: Parts
    is_signed: bool
    found: Ways
    sentence: str
    fix: str
    pieces: tuple[Piece, ...]


class Autopsy(msgspec.Struct, frozen=True):
    """The result for one signature. `found` is empty when it is right, and when no known mistake explains it. `signed`
    is the string that was signed, None when no known mistake explains the signature."""

    found: Ways
    sentence: str
    fix: str
    expected: Parts
    signed: bytes | None = None
    compared: Compared | None = None

    @property
    def is_right(self) -> bool:
        """Return whether the signature is right."""
        return self.signed is not None and not self.found

    @property
    def string(self) -> bytes:
        """Return the string that should have been signed."""
        return canonical_string(*self.expected)


def autopsy(facts: Facts, given: bytes | None = None) -> Autopsy:
    """Search for what is wrong with a signature, and compare `given`, the string that the client says it signed, if
    any. Takes some tenths of a second when nothing explains the signature."""
    match, is_complete = search(facts)
    compared = None if given is None else compare(facts, given)
    if match is not None:
        does = ", and ".join(way.does for way in match.found)
        fix = "; ".join(dict.fromkeys(way.mistake.fix for way in match.found))
        return Autopsy(match.found, does or IS_RIGHT, fix, match.signing.parts, match.string, compared)
    form = wrong_form(facts.signature)
    sentence = form or body_flaw(facts) or _UNKNOWN + ("" if is_complete else _UNFINISHED)
    if compared is None:
        return Autopsy((), sentence, FIX if form else _UNKNOWN_FIX, signings(facts)[0].parts)
    sentence = compared.sentence if compared.is_signed else sentence
    return Autopsy((), sentence, compared.fix, compared.expected, compared=compared)


def diagnose(
    claim: Claim,
    method: str,
    path: str,
    query: bytes,
    body: bytes,
    rules: QueryRules,
    prefix: str = "",
    headers: Mapping[bytes, bytes] = MappingProxyType({}),
    fields: frozenset[str] = frozenset(),
) -> str:
    """Return a line about the client's mistake that led to `invalid_signature`, for the header of the response that the
    owner of the key reads: it names only mistakes that were made with the secret of the key. `rules` are the rules of
    the verification, `prefix` is the part of the path before `path`, `fields` are those of the path."""
    facts = Facts(
        timestamp=claim.timestamp,
        nonce=claim.nonce,
        method=method.encode(),
        query=query,
        body=body,
        hashed=body_hash(body),
        signature=PREFIX + b2a_base64(claim.signature, newline=False),
        secret=claim.key_record.secret_bytes,
        path=path.encode("utf-8", "surrogateescape"),
        prefix=prefix.encode("utf-8", "surrogateescape"),
        host=headers.get(b"host", b""),
        api_key=headers.get(API_KEY, b""),
        fields=fields,
        rules=rules,
        body_bytes_max=1024,  # the event loop waits for the search
    )
    match, _ = search(facts, is_short=True)
    if match is not None:
        return " and ".join(f"{way.does}; {way.mistake.fix}" for way in match.found)
    return wrong_digest(claim.signature) or body_flaw(facts) or _UNCOMMON


def compare(facts: Facts, given: bytes) -> Compared:
    """Compare a string of at most `TEXT_BYTES_MAX` with the accepted form that shares its longest beginning."""
    accepted = (signing.parts for signing in signings(facts))
    expected = max(accepted, key=lambda parts: first_difference(canonical_string(*parts), given))
    match, _ = search(facts, given)
    found = match and match.found
    pieces = _different_pieces(canonical_string(*expected), given)
    differs = ", and ".join(piece.difference for piece in pieces)
    fixes = [_SIX if piece.given is None else _PIECES[piece.name] for piece in pieces]
    if found is None:
        form = wrong_form(facts.signature)
        sentence = f"in your string {differs}; and " if pieces else "your string is as expected, but "
        sentence += form or _NOT_OF_IT
        fixes.append(FIX if form else _OTHER_KEY)
    else:
        sentence = f"your string was signed: {differs}" if pieces else "your string is as expected"
        sentence = ", and ".join((sentence, *(way.does for way in found)))
        fixes += [way.mistake.fix for way in found]
    return Compared(given, expected, found is not None, found or (), sentence, "; ".join(dict.fromkeys(fixes)), pieces)


def first_difference(string: bytes, other: bytes) -> int:
    """Return how many bytes at the beginning are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(string, other, strict=False)))


def _different_pieces(expected: bytes, given: bytes) -> tuple[Piece, ...]:
    wanted, has = _divided(expected), _divided(given)
    each = [Piece(*piece) for piece in zip(_PIECES, wanted, has, strict=False) if piece[1] != piece[2]]
    if len(has) == len(_PIECES):
        return tuple(each)
    name = each[0].name if each else [*_PIECES][len(has)]
    return (Piece(name, wanted[[*_PIECES].index(name)], None),)


def _divided(text: bytes) -> list[bytes]:
    """Return six pieces, or fewer if there are fewer colons."""
    *before, rest = text.split(b":", len(_PIECES) - 2)
    return [*before, *rest.rsplit(b":", 1)]
