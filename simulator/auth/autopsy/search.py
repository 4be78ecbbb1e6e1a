"""The table of known mistakes, and the search for a mistake that explains a signature, or for two of different steps.

It signs the request as clients with each mistake do, single mistakes before pairs, and compares. It has a budget.
"""

import hmac
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, islice, product
from typing import Any, NamedTuple

from simulator.auth.autopsy import body_mistakes, key_mistakes, query_mistakes, string_mistakes
from simulator.auth.autopsy.key_mistakes import DIGEST_BYTES_MIN
from simulator.auth.autopsy.signing_steps import Facts, Signing, Way, Ways, signings
from simulator.auth.canonical import decoded, hmac_sha256
from simulator.auth.form import PREFIX, wrong_form
from simulator.auth.signature import SIGNATURE_BYTES_MAX

MISTAKES = (*key_mistakes.MISTAKES, *string_mistakes.MISTAKES, *query_mistakes.MISTAKES,
            *body_mistakes.MISTAKES)  # fmt: skip
"""Two mistakes that are found together are reported in this order; within a step, the likeliest comes first."""
BY_ID = {mistake.id: mistake for mistake in MISTAKES}
HMACS_MAX = 100_000
"""The budget of a search, in HMACs. Each KiB of the query and of another body, and every eighth parameter, costs one
more."""
LOOP_HMACS_MAX = 60
"""The budget while a refusal waits on the event loop: enough for the common ways of single mistakes."""
_WAYS_MAX, _PAIRED_MAX = 3000, 24  # ways of each mistake: alone, and in pairs with another mistake


class SignatureReading(NamedTuple):
    """One way to read X-Signature: it implies the mistakes `found`, and `of` makes `sent` from a digest."""

    found: Ways
    sent: bytes
    of: Callable[[bytes], bytes] = bytes


class Match(NamedTuple):
    """A string whose signature was sent: the mistakes that lead to it, none when it is right, and how the request
    should have been signed."""

    found: Ways
    signing: Signing
    string: bytes


def search(facts: Facts, given: bytes | None = None, *, is_short: bool = False) -> tuple[Match | None, bool]:
    """Return the fewest mistakes that explain a signature, and whether the budget sufficed to try all. If the string
    that was signed is given, only mistakes after it are tried. A short search tries the common ways of single mistakes
    only: if X-Signature has a wrong form, that is the mistake."""
    weight = 1 + facts.query.count(b"&") // 8 + len(facts.query) // 1024
    left = LOOP_HMACS_MAX if is_short else HMACS_MAX
    if weight > left:  # sorting the parameters alone would take too long
        return None, False
    read, accepted, right_mac = readings(facts), signings(facts), hmac.new(facts.secret, digestmod="sha256")
    tried: Iterable[tuple[Signing, Ways]] = _candidates(facts, accepted, is_short=is_short)
    if given is not None:
        tried = ((accepted[0], ways) for ways in ((), *((way,) for way in _ways_of(facts, "key", "algorithm"))))
    elif is_short and wrong_form(facts.signature):
        tried = islice(tried, len(accepted))  # without another mistake
    for signing, ways in tried:
        makes = {}
        for way in ways:
            makes[way.mistake.step] = way.make
        string = signing.string(makes) if given is None else given
        left -= weight + (len(makes["body"]) // 1024 if "body" in makes else 0)
        if left < 0:
            return None, False
        if "key" in makes or "algorithm" in makes:
            digest = makes.get("algorithm", hmac_sha256)(makes.get("key", facts.secret), string)
        elif string == signing.right and ways:
            continue
        else:
            mac = right_mac.copy()  # faster than an HMAC from the secret
            mac.update(string)
            digest = mac.digest()
        for reading in read:
            if hmac.compare_digest(reading.of(digest), reading.sent):
                return Match((*ways, *reading.found), signing, string), True
    return None, True


def _candidates(facts: Facts, accepted: list[Signing], *, is_short: bool) -> Iterator[tuple[Signing, Ways]]:
    """Yield what clients may have signed, as mistakes in an accepted form: none, the common ways of each mistake, its
    other ways, and two mistakes."""
    yield from product(accepted, [()])
    common = [(way,) for mistake in _COMMON for way in islice(mistake.ways(facts), mistake.common)]
    yield from product(accepted, common)
    if is_short:
        return
    for mistake in sorted(_SIGNED, key=lambda mistake: mistake.step == "timestamp"):  # there are thousands of these
        yield from product(accepted, ((way,) for way in islice(mistake.ways(facts), mistake.common, _WAYS_MAX)))
    first = [tuple(islice(mistake.ways(facts), _PAIRED_MAX)) for mistake in _SIGNED]
    for signing, (some, others) in product(accepted, combinations(filter(None, first), 2)):
        if some[0].mistake.step != others[0].mistake.step:
            yield from product([signing], islice(product(some, others), _PAIRED_MAX))


def readings(facts: Facts) -> list[SignatureReading]:
    """Return every way to read the header with at most two mistakes, those with the fewest first."""
    if not wrong_form(facts.signature):
        return [SignatureReading((), decoded(facts.signature.removeprefix(PREFIX)) or b"")]
    values: dict[Any, Ways] = {facts.signature[:SIGNATURE_BYTES_MAX]: ()}
    for step, right in _READ_STEPS.items():
        read: dict[Any, Ways] = {}
        makes = [((), right), *(((way,), way.make) for way in _ways_of(facts, step))]
        for (value, found), (more, make) in product(values.items(), makes):
            if result := make(value):
                read.setdefault(result, (*more, *found))
        values = read
    found = (
        SignatureReading(ways, *(value if isinstance(value, tuple) else (value,))) for value, ways in values.items()
    )
    whole = (reading for reading in found if len(reading.found) <= 2 and len(reading.sent) >= DIGEST_BYTES_MIN)
    return sorted(whole, key=lambda reading: len(reading.found))


def _unprefixed(value: bytes) -> bytes | None:
    is_right = value.startswith(PREFIX) and not value.startswith(PREFIX * 2)
    return value.removeprefix(PREFIX) if is_right else None


_READ_STEPS: dict[str, Callable[[bytes], bytes | None]] = {
    "wrapping": bytes, "prefix": _unprefixed, "encoding": decoded,
}  # fmt: skip
"""The steps from X-Signature back to a digest, each with the right way to do it."""
_SIGNED = tuple(mistake for mistake in MISTAKES if mistake.step not in _READ_STEPS)
_COMMON = tuple(mistake for mistake in _SIGNED if mistake.common)


def _ways_of(facts: Facts, *steps: str) -> Iterator[Way]:
    """Yield all ways of the mistakes in these steps."""
    return chain.from_iterable(mistake.ways(facts) for mistake in MISTAKES if mistake.step in steps)
