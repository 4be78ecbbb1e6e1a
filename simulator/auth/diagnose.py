"""Why a signature does not match, in one line for the header of the response: what only the owner of the key may read.

It names a mistake when the signature was made with the secret of the key. To anybody else it says nothing that the
request does not show by itself; the journal and `explain` say more.
"""

from simulator.auth.autopsy.facts import Facts
from simulator.auth.autopsy.mistakes import MISTAKES
from simulator.auth.autopsy.short import short_search
from simulator.auth.canonical import QueryRules, body_hash
from simulator.auth.form import wrong_digest
from simulator.auth.signature import Claim

# Bounds the cost of the search: of a longer query, or one of more parameters, no mistake is tried.
QUERY_BYTES_MAX = 16 * 1024
PARAMETERS_MAX = 500
_TOO_LONG = "the signature differs; mistakes are not looked for with a query that is so long"
_UNKNOWN = (
    "no common mistake alone explains it; the journal and `reseller-sim explain` have the whole autopsy, with rarer "
    "mistakes, two together, and other secrets"
)
OWN_WORDS = frozenset((_TOO_LONG, _UNKNOWN, *(one.sentence for one in MISTAKES if "{}" not in one.does)))
"""What is said of a signature without a word of the request, so that nothing in it can be a secret."""


def diagnose(
    claim: Claim, method: str, path: str, query: bytes, body: bytes, rules: QueryRules, prefix: str = ""
) -> str:
    """Describe in one line the client's mistake behind `invalid_signature`; `rules` are those that it was verified
    by, `prefix` is the part of the path before `path`."""
    if len(query) > QUERY_BYTES_MAX or query.count(b"&") >= PARAMETERS_MAX:
        return _TOO_LONG
    facts = Facts(
        timestamp=claim.timestamp,
        nonce=claim.nonce,
        method=method.encode(),
        query=query,
        body=body,
        hashed=body_hash(body),
        signature=b"",
        secret=claim.held.secret_bytes,
        path=path.encode("utf-8", "surrogateescape"),
        prefix=prefix.encode("utf-8", "surrogateescape"),
        rules=rules,
    )
    if found := short_search(facts, claim.signature):
        return " and ".join(one.sentence for one in found)
    return wrong_digest(claim.signature) or _UNKNOWN
