"""The autopsy of a signature: what is wrong with it, how to mend it, and the string that should have been signed.

A hash does not show what is near to it. So where no known mistake explains a signature, the string that the client says
it signed is compared with the right one.
"""

from itertools import accumulate, islice, takewhile
from typing import NamedTuple

import msgspec

from simulator.auth.autopsy.body_mistakes import body_flaw
from simulator.auth.autopsy.search import digest_of, readings, search, ways_of
from simulator.auth.autopsy.signing_steps import Facts, Parts, Ways, signings
from simulator.auth.canonical import canonical_string
from simulator.auth.form import FIX, wrong_form
from simulator.shortened import one_line, shortened

IS_RIGHT = "the signature is right"
_UNKNOWN = "no known mistake explains the signature, and no tried pair of mistakes"
_UNKNOWN_FIX = (
    "print the string that your client gives to the HMAC and have it compared (`reseller-sim explain` with --string, "
    "or ?string= of the request in the journal); compare the secret with that of the key, too"
)
_UNFINISHED = (
    "no known mistake explains the signature, but not all pairs were tried: the request is long, or several forms of "
    "its query are accepted"
)
# The pieces of a canonical string, which colons separate, and how to mend each. Only the query may have colons itself.
_PIECES = {
    "version": "begin the string with v1:",
    "timestamp": "sign the value of X-Timestamp, to the character",
    "nonce": "sign the value of X-Nonce, to the character",
    "method": "sign the method that is sent, in capitals",
    "query": "sign what follows the ? as it is sent, sorted by key; nothing without one",
    "body hash": "sign the Base64 of the SHA-256 of the exact bytes that are sent; without a body, of no bytes",
}
_SHOWN = frozenset({"version", "timestamp", "nonce", "method"})  # which have no secret and are short
_SIX = "sign v1:<timestamp>:<nonce>:<METHOD>:<query>:<body hash>, with all five colons, and nothing after it"
_NOT_OF_IT = "the signature was not made of it with this secret"
_OTHER_KEY = "print the secret, its decoded bytes and the string where the HMAC is made: one of them is another there"


class Piece(NamedTuple):
    """A piece that differs; `given` is None when the given string cannot be divided into six."""

    name: str
    expected: bytes
    given: bytes | None


class Compared(msgspec.Struct, frozen=True):
    """A given string beside the expected one: the first `at` characters are equal, `pieces` are the pieces that differ.
    If the signature was made of it (`is_signed`), `found` are the known mistakes of the later steps."""

    given: bytes
    expected: Parts
    is_signed: bool
    found: Ways
    sentence: str
    fix: str
    at: int
    pieces: tuple[Piece, ...]


class Autopsy(msgspec.Struct, frozen=True):
    """The result for one signature. `found` is empty when it is right, and when no known mistake explains it. `string`
    is the string that should have been signed, `signed` the string that was: its first `at` characters are equal. It is
    None when no known mistake explains the signature, since a hash does not show what is near to it. `compared` is a
    string that was given."""

    is_right: bool
    found: Ways
    sentence: str
    fix: str
    expected: Parts
    string: bytes
    signed: bytes | None = None
    at: int = 0
    compared: Compared | None = None

    @property
    def places(self) -> list[str]:
        """Return where the mistakes were made; the key and the later places do not show in the string."""
        return [way.mistake.place for way in self.found]


def autopsy(facts: Facts, given: bytes | None = None) -> Autopsy:
    """Search for what is wrong with a signature, and compare the string that the client says it signed, if it is
    given. Takes some tenths of a second when nothing explains it."""
    match, is_complete = search(facts)
    compared = None if given is None else compare(facts, given)
    if match is None:
        return _unexplained(facts, compared, is_complete=is_complete)
    string = canonical_string(*match.right)
    if not match.found:
        return Autopsy(True, (), IS_RIGHT, "", match.right, string, string, len(string), compared)
    does = ", and ".join(way.does for way in match.found)
    fix = "; ".join(dict.fromkeys(way.mistake.fix for way in match.found))
    at = _first_difference(string, match.string)
    return Autopsy(False, match.found, does, fix, match.right, string, match.string, at, compared)


def _unexplained(facts: Facts, compared: Compared | None, *, is_complete: bool) -> Autopsy:
    """No known mistake explains the signature; a given string may, and a wrong form comes before both."""
    form = wrong_form(facts.signature)
    unknown = body_flaw(facts) or (_UNKNOWN if is_complete else _UNFINISHED)
    text, fix = form or unknown, FIX if form else _UNKNOWN_FIX
    expected = signings(facts)[0].parts
    if compared is not None:
        text, fix, expected = compared.sentence if compared.is_signed else text, compared.fix, compared.expected
    return Autopsy(False, (), text, fix, expected, canonical_string(*expected), compared=compared)


def compare(facts: Facts, given: bytes) -> Compared:
    """Compare a string with the accepted form that begins most like it. `given` has at most `TEXT_BYTES_MAX`."""
    accepted = (signing.parts for signing in signings(facts))
    expected = max(accepted, key=lambda parts: _first_difference(canonical_string(*parts), given))
    string = canonical_string(*expected)
    signed = _mistakes_after_string(facts, given)
    pieces = () if given == string else _different_pieces(string, given)
    fixes = [_SIX if piece.given is None else _PIECES[piece.name] for piece in pieces]
    fixes += [way.mistake.fix for way in signed or ()]
    differs = ", and ".join(map(_difference, pieces))
    if signed is None:
        doubt = wrong_form(facts.signature)
        fixes.append(FIX if doubt else _OTHER_KEY)
        begin = f"in your string {differs}; and " if pieces else "your string is the expected one, but "
        sentence = begin + (doubt or _NOT_OF_IT)
    else:
        begin = f"your string was signed: {differs}" if pieces else "your string is the expected one"
        sentence = ", and ".join((begin, *(way.does for way in signed)))
    fix, at = "; ".join(dict.fromkeys(fixes)), _first_difference(string, given)
    return Compared(given, expected, signed is not None, signed or (), sentence, fix, at, pieces)


def _first_difference(string: bytes, other: bytes) -> int:
    """Return how many bytes at the beginning are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(string, other, strict=False)))


def _mistakes_after_string(facts: Facts, given: bytes) -> Ways | None:
    """Return the mistakes in key, algorithm and encoding that lead from the string to the signature: none if it was
    signed rightly, None if the signature was not made of it. The secrets of others are tried with the right form only.
    """
    tried: list[Ways] = [(), *((way,) for way in ways_of(facts, "key", "algorithm"))]
    for reading in readings(facts):
        for ways in tried:
            is_of_other = any(way.id in ("secret-of-another", "secret-replaced") for way in ways)
            if not (is_of_other and reading.found) and reading.is_of(digest_of(facts.secret, ways, given)):
                return (*ways, *reading.found)
    return None


def _different_pieces(expected: bytes, given: bytes) -> tuple[Piece, ...]:
    wanted, has = _divided(expected), _divided(given)
    if len(has) == len(_PIECES):
        each = zip(_PIECES, wanted, has, strict=True)
        return tuple(Piece(name, one, other) for name, one, other in each if one != other)
    at = _first_difference(expected, given)
    ends = accumulate((len(piece) + 1 for piece in wanted), initial=0)
    number = sum(1 for end in islice(ends, 1, len(wanted)) if end <= at)
    return (Piece(list(_PIECES)[number], wanted[number], None),)


def _divided(text: bytes) -> list[bytes]:
    """Six pieces, or fewer if there are fewer colons."""
    *before, rest = text.split(b":", len(_PIECES) - 2)
    return [*before, *rest.rsplit(b":", 1)]


def _difference(piece: Piece) -> str:
    if piece.given is None:
        return f"there are not six pieces between colons, and from the {piece.name} on it differs"
    if piece.name not in _SHOWN:
        what = "missing" if not piece.given else "present, though none was sent" if not piece.expected else "another"
        return f"the {piece.name} is {what}"
    given, expected = (f"'{one_line(shortened(value))}'" for value in (piece.given, piece.expected))
    return f"the {piece.name} is {given} where {expected} is expected"
