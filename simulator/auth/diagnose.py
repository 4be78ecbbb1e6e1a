"""Explains in a line why a signature does not match, for the header of the response that the owner of the key reads.

It names a mistake when the signature was made with the secret of the key. To anybody else it says nothing that the
request does not show by itself; the journal and `explain` say more.
"""

from binascii import b2a_base64
from collections.abc import Mapping
from types import MappingProxyType

from simulator.auth.autopsy.body_mistakes import body_flaw
from simulator.auth.autopsy.search import search
from simulator.auth.autopsy.signing_steps import Facts
from simulator.auth.canonical import QueryRules, body_hash
from simulator.auth.form import PREFIX, wrong_digest
from simulator.auth.headers import API_KEY
from simulator.auth.signature import Claim

_UNKNOWN = (
    "no common mistake alone explains it; the journal and `reseller-sim explain` have the whole autopsy, with rarer "
    "mistakes, two together, and other secrets"
)
_ENCODED = (
    "the body was sent with Content-Encoding, which the service does not support: the signature covers the bytes that "
    "are sent, and these have to be plain JSON"
)


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
    """Return a line about the client's mistake that led to `invalid_signature`. `rules` are the rules of the
    verification, `prefix` is the part of the path before `path`, `fields` are those of the path."""
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
        body_bytes_max=2 * 1024,  # the event loop waits for the search
    )
    match, _ = search(facts, is_short=True)
    if match is not None:
        return " and ".join(f"{way.does}; {way.fix}" for way in match.found)
    is_encoded = headers.get(b"content-encoding", b"identity") != b"identity"
    return wrong_digest(claim.signature) or (_ENCODED if is_encoded else body_flaw(facts) or _UNKNOWN)
