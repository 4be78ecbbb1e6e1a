"""The string that a client says it signed: whether the signature is made of it, and how it differs from the right one.

A hash does not show what is near to it, so this is the only way to explain a signature that no known mistake does.
"""

from itertools import islice, takewhile
from typing import NamedTuple

import msgspec

from simulator.auth.autopsy.mistakes import MISTAKES
from simulator.auth.autopsy.search import HMACS_MAX, candidates, digest_of, readings
from simulator.auth.autopsy.signing import Facts, Parts, Ways, signings
from simulator.auth.canonical import canonical_string
from simulator.auth.form import FIX, wrong_form
from simulator.shortened import one_line, shortened

STRING_BYTES_MAX = 64 * 1024
"""A longer string is not compared."""
PIECES = ("version", "timestamp", "nonce", "method", "query", "body hash")
"""What the colons of a canonical string separate; only the query may have some itself."""
_SHOWN_MAX = 80
_SHOWN = frozenset({"version", "timestamp", "nonce", "method"})  # which have no secret and are short
_FIXES = {
    "version": "begin the string with v1:",
    "timestamp": "sign the value of X-Timestamp, to the character",
    "nonce": "sign the value of X-Nonce, to the character",
    "method": "sign the method that is sent, in capitals",
    "query": "sign what follows the ? as it is sent, sorted by key; nothing without one",
    "body hash": "sign the Base64 of the SHA-256 of the exact bytes that are sent; without a body, of no bytes",
}
_SIX = "sign v1:<timestamp>:<nonce>:<METHOD>:<query>:<body hash>, with all five colons, and nothing behind it"
_NOT_OF_IT = "the signature was not made of it with this secret"
_OTHER_KEY = "print the secret, its decoded bytes and the string where the HMAC is made: one of them is another there"


class Piece(NamedTuple):
    """A piece that differs; `given` is None when the given string cannot be divided into six."""

    name: str
    expected: bytes
    given: bytes | None


class Compared(msgspec.Struct, frozen=True):
    """A given string beside the expected one, of which `at` characters at the beginning are equal. `found` are the
    known mistakes in the string and, if it `is_signed`, in what was done with it; `pieces` are those that differ."""

    given: bytes
    expected: Parts
    is_signed: bool
    is_expected: bool
    found: Ways
    sentence: str
    fix: str
    at: int
    pieces: tuple[Piece, ...]


def compare(facts: Facts, given: bytes) -> Compared:
    """Compare a string with the accepted form that begins most like it. `given` has at most `STRING_BYTES_MAX`."""
    accepted = (signing.parts for signing in signings(facts))
    expected = max(accepted, key=lambda parts: first_difference(canonical_string(*parts), given))
    string = canonical_string(*expected)
    is_expected = given == string
    signed = _signed(facts, given)
    pieces = () if is_expected else _pieces(string, given)
    in_string = () if is_expected else _in_string(facts, given)
    doubt = "" if signed is not None else wrong_form(facts.signature) or _NOT_OF_IT
    sentence, fix = _words(pieces, in_string, signed or (), is_expected=is_expected, doubt=doubt)
    found, at = (*in_string, *(signed or ())), first_difference(string, given)
    return Compared(given, expected, signed is not None, is_expected, found, sentence, fix, at, pieces)


def first_difference(string: bytes, other: bytes) -> int:
    """Return how many bytes at the beginning are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(string, other, strict=False)))


def _signed(facts: Facts, given: bytes) -> Ways | None:
    """The mistakes in key, algorithm and encoding with which the signature is made of the string: none if it is done
    right, None if it is not made of it. The secrets of others are tried with the right form only."""
    table = (mistake for mistake in MISTAKES if mistake.step in ("key", "algorithm"))
    tried: list[Ways] = [(), *((way,) for mistake in table for way in mistake.ways(facts))]
    for reading in readings(facts):
        for ways in tried:
            is_of_other = any(way.id in ("secret-of-another", "secret-replaced") for way in ways)
            if not (is_of_other and reading.found) and reading.is_of(digest_of(facts.secret, ways, given)):
                return (*ways, *reading.found)
    return None


def _in_string(facts: Facts, given: bytes) -> Ways:
    """The mistakes that make a string."""
    for _, ways, string in islice(candidates(facts), HMACS_MAX * 1024 // (1024 + len(facts.query))):
        if string == given and not any(way.step in ("key", "algorithm") for way in ways):
            return ways
    return ()


def _pieces(expected: bytes, given: bytes) -> tuple[Piece, ...]:
    wanted, has = _divided(expected), _divided(given)
    if len(has) == len(PIECES):
        each = zip(PIECES, wanted, has, strict=True)
        return tuple(Piece(name, one, other) for name, one, other in each if one != other)
    at, end = first_difference(expected, given), -1
    for name, piece in zip(PIECES, wanted, strict=True):
        end += len(piece) + 1
        if at <= end:
            return (Piece(name, piece, None),)
    return (Piece(PIECES[-1], wanted[-1], None),)


def _divided(text: bytes) -> list[bytes]:
    """Six pieces, or fewer if there are fewer colons."""
    *before, rest = text.split(b":", len(PIECES) - 2)
    return [*before, *rest.rsplit(b":", 1)]


def _words(
    pieces: tuple[Piece, ...], in_string: Ways, signed: Ways, *, is_expected: bool, doubt: str
) -> tuple[str, str]:
    """What is wrong and what to do, in a sentence each. `doubt` is why the signature is not known to be made of the
    string: its form, or, of the right form, that it is not; empty when it is made of it."""
    also = "".join(f", and {one.does}" for one in signed)
    fixes = [one.mistake.fix for one in (*in_string, *signed)]
    if not in_string:
        fixes = [*(_SIX if one.given is None else _FIXES[one.name] for one in pieces), *fixes]
    if doubt:
        fixes.append(_OTHER_KEY if doubt == _NOT_OF_IT else FIX)
    said = ", and ".join(one.does for one in in_string) or ("" if is_expected else _difference(pieces))
    fix = "; ".join(dict.fromkeys(fixes))
    if is_expected:
        return "your string is the expected one" + (f", but {doubt}" if doubt else also), fix
    return (
        f"in your string {said}; and {doubt}" if doubt else f"the signature was made of your string: {said}{also}",
        fix,
    )


def _difference(pieces: tuple[Piece, ...]) -> str:
    if pieces[0].given is None:
        return f"there are not six pieces between colons, and from the {pieces[0].name} on it differs"
    return ", and ".join(map(_of_piece, pieces))


def _of_piece(piece: Piece) -> str:
    if piece.name not in _SHOWN or piece.given is None:
        what = "missing" if not piece.given else "there, though none was sent" if not piece.expected else "another"
        return f"the {piece.name} is {what}"
    return f"the {piece.name} is {_quoted(piece.given)} where {_quoted(piece.expected)} is expected"


def _quoted(value: bytes) -> str:
    return f"'{one_line(shortened(value, _SHOWN_MAX))}'"
