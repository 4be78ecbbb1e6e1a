"""The autopsy of a signature: what is wrong with it, how to mend it, and the string that should have been signed."""

import msgspec

from simulator.auth.autopsy.compared import Compared, compare, first_difference
from simulator.auth.autopsy.search import search
from simulator.auth.autopsy.signing import Facts, Parts, Way, signings
from simulator.auth.canonical import canonical_string
from simulator.auth.form import FIX, wrong_form

IS_RIGHT = "the signature is right"
_UNKNOWN = "no known mistake explains the signature, and no two of those that are tried together"
_UNKNOWN_FIX = (
    "print the string that your client gives to the HMAC and have it compared (`reseller-sim explain` with --string, "
    "or ?string= of the request in the journal); compare the secret with that of the key, too"
)
_UNFINISHED = (
    "no known mistake explains the signature, but not all pairs were tried: the request is long, or several forms of "
    "its query are accepted"
)


class Nearest(msgspec.Struct, frozen=True):
    """The string that the client signed, and where it first differs from the expected one: `at` is the number of equal
    characters before. `differs` names the places, of which the key and what follows it do not show in the string."""

    string: bytes
    differs: tuple[str, ...]
    at: int


class Autopsy(msgspec.Struct, frozen=True):
    """What a signature shows. `found` is empty when it is right, and when no known mistake explains it; `nearest` is
    None in the latter case, since a hash does not show what is near to it. `compared` is a string that was given."""

    is_right: bool
    found: tuple[Way, ...]
    sentence: str
    fix: str
    expected: Parts
    string: bytes
    nearest: Nearest | None
    compared: Compared | None = None


def autopsy(facts: Facts, given: bytes | None = None) -> Autopsy:
    """Search for what is wrong with a signature, and compare the string that the client says it signed, if it is
    given. Takes some tenths of a second when nothing explains it."""
    match, is_complete = search(facts)
    compared = None if given is None else compare(facts, given)
    if match is None:
        return _unexplained(facts, compared, is_complete=is_complete)
    string = canonical_string(*match.right)
    if not match.found:
        return Autopsy(True, (), IS_RIGHT, "", match.right, string, Nearest(string, (), len(string)), compared)
    does = ", and ".join(one.does for one in match.found)
    fix = "; ".join(dict.fromkeys(one.mistake.fix for one in match.found))
    differs = tuple(one.mistake.place for one in match.found)
    nearest = Nearest(match.string, differs, first_difference(string, match.string))
    return Autopsy(False, match.found, does, fix, match.right, string, nearest, compared)


def _unexplained(facts: Facts, compared: Compared | None, *, is_complete: bool) -> Autopsy:
    """No known mistake explains the signature; a given string may, and a wrong form comes before both."""
    form = wrong_form(facts.signature)
    text, fix = form or (_UNKNOWN if is_complete else _UNFINISHED), FIX if form else _UNKNOWN_FIX
    expected = signings(facts)[0].parts
    if compared is not None:
        text, fix, expected = compared.sentence if compared.is_signed else text, compared.fix, compared.expected
    return Autopsy(False, (), text, fix, expected, canonical_string(*expected), None, compared)
