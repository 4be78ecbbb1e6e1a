"""The search that a refusal waits for: the single mistakes that most clients make, named in the header of the response.

It has to cost less than the request that it refuses. A mistake is here when clients make it often and a few HMACs find
it; what is rarer is found when somebody reads the journal or asks `explain`, whose search tries all of this as well. It
names only what was made with the secret of the key. What should have been signed is tried with other algorithms only,
since the check of the signature did the rest.
"""

from collections.abc import Iterator

from simulator.auth.autopsy import often, queries, signatures, strings
from simulator.auth.autopsy.candidates import BODY_HASH, QUERY, around, rights
from simulator.auth.autopsy.facts import Facts, Parts
from simulator.auth.autopsy.mistakes import Found

HMACS_MAX = 200
"""An ordinary request takes 25 to 40; one of which several forms of the query are accepted, more."""
HASHED_BYTES_MAX = 256 * 1024
_HMAC_BYTES = 128  # two blocks, which each HMAC hashes beside its text

Text = tuple[tuple[Found, ...] | None, bytes]
"""A string that may have been signed, and the mistakes that make it so. None is for those of the query, which are told
when it was signed, since that takes longer than trying it."""


def short_search(facts: Facts, digest: bytes) -> tuple[Found, ...]:
    """The mistake that a signature shows, which only the owner of the key's secret can have made, or nothing; `digest`
    is what the header decodes to."""
    forms = rights(facts)
    texts: list[Text] = [((), strings.right(one)) for one in forms]
    left = min(HMACS_MAX, HASHED_BYTES_MAX // (len(texts[0][1]) + _HMAC_BYTES))
    for reading in signatures.quick_readings(digest):
        wanted, is_equal = reading.digest, signatures.is_equal
        trials = [(facts.secret, texts)] if reading.found else _trials(facts, forms, texts)
        for key, tried in trials:
            if (left := left - len(tried)) < 0:
                return ()
            digest_of = reading.algorithm(key)
            for found, text in tried:
                if is_equal(digest_of(text), wanted):
                    return (*(_of_query(facts, forms, text) if found is None else found), *reading.found)
    return ()


def _trials(facts: Facts, forms: list[Parts], texts: list[Text]) -> Iterator[tuple[bytes, list[Text]]]:
    """Keys, and the strings to try with each; the likeliest first."""
    key = facts.secret
    for found, value in often.keys(key):
        yield value, [(found, text) for _, text in texts]
    if facts.query:
        yield key, _with_query(facts, forms)
    yield key, _with_body_hash(facts, forms)
    yield key, [text for right in forms for text in often.strings(right, facts.path)]
    if not facts.query:
        yield key, _with_query(facts, forms)


def _with_body_hash(facts: Facts, forms: list[Parts]) -> list[Text]:
    heads = [around(right, BODY_HASH)[0] for right in forms]
    hashes = often.body_hashes(facts.body, facts.hashed)
    return [(found, head + value) for found, value in hashes for head in heads]


def _with_query(facts: Facts, forms: list[Parts]) -> list[Text]:
    accepted = [right.query for right in forms]
    head, tail = around(forms[0], QUERY)
    values = dict.fromkeys(queries.quick_queries(facts))
    return [(None, head + value + tail) for value in values if value not in accepted]


def _of_query(facts: Facts, forms: list[Parts], text: bytes) -> tuple[Found, ...]:
    """The mistakes in the query of a string that differs from the right one in nothing else."""
    return next((found for found, each in _texts_with_queries(facts, forms) if each == text), ())


def _texts_with_queries(facts: Facts, forms: list[Parts]) -> Iterator[tuple[tuple[Found, ...], bytes]]:
    head, tail = around(forms[0], QUERY)
    for found, value in queries.queries(facts):
        yield found, head + value + tail
