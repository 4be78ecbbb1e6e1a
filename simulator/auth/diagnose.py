"""Why a signature does not match, in one line for the header of the response: what only the owner of the key may read.

It names a mistake when the signature was made with the secret of the key. To anybody else it says nothing that the
request does not show by itself; the journal and `explain` say more.
"""

import re
from base64 import b64encode

from simulator.auth.autopsy.facts import Facts
from simulator.auth.autopsy.search import short_search
from simulator.auth.canonical import QueryRules, body_hash
from simulator.auth.signature import Claim

# Bounds the cost of the search: of a longer query, or one of more parameters, no mistake is tried.
QUERY_BYTES_MAX = 16 * 1024
PARAMETERS_MAX = 500
_DIGEST_BYTES, _SHA1_BYTES = 32, 20
_is_hexadecimal = re.compile(rb"[0-9a-fA-F]{64}").fullmatch


def diagnose(
    claim: Claim, method: str, path: str, query: bytes, body: bytes, rules: QueryRules, prefix: str = ""
) -> str:
    """Describe in one line the client's mistake behind `invalid_signature`; `rules` are those that it was verified
    by, `prefix` is the part of the path before `path`."""
    if len(query) > QUERY_BYTES_MAX or query.count(b"&") >= PARAMETERS_MAX:
        return "the signature differs; mistakes are not looked for with a query that is so long"
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
    if len(claim.signature) != _DIGEST_BYTES:
        return _misshapen(claim.signature)
    return "no known mistake explains it; is it this key's secret? The journal and `reseller-sim explain` look further"


def _misshapen(signature: bytes) -> str:
    if not signature:
        return "nothing follows v1="
    text = f"the signature decodes to {len(signature)} bytes, an HMAC-SHA256 has {_DIGEST_BYTES}"
    if _is_hexadecimal(signature) or _is_hexadecimal(b64encode(signature)):
        return f"{text}: is it hexadecimal?"
    return f"{text}: was it made with SHA-1?" if len(signature) == _SHA1_BYTES else text
