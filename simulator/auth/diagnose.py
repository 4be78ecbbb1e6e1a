"""Why a signature does not match: tries each known mistake of clients on the request.

Mistakes are tried one at a time. The one that reproduces the signature sent is the diagnosis.
"""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash, canonical_query, canonical_string
from simulator.auth.signature import Claim

# Bounds the cost of the search.
_BODY_BYTES_MAX = 64 * 1024

Mistake = tuple[str, bytes, bytes]  # what the client does, the key it would use, the string it would sign


def diagnose(claim: Claim, method: str, path: str, query: bytes, body: bytes) -> str:
    """Describe in one line the client's mistake behind `invalid_signature`."""
    for text, key, signed in _mistakes(claim, method, path, query, body):
        if key and _matches(claim, key, signed):
            return text
    expected = _canonical(claim, method.encode(), canonical_query(query), body_hash(body))
    if len(claim.signature) != 32:
        return f"the signature decodes to {len(claim.signature)} bytes, an HMAC-SHA256 has 32: is it hexadecimal?"
    return f"no known mistake explains it; the string to sign was {_shown(expected)}; is it this key's secret?"


def _shown(text: bytes) -> str:
    return text.decode("ascii", "backslashreplace")[:400]


def _matches(claim: Claim, key: bytes, signed: bytes) -> bool:
    digest = hmac.digest(key, signed, "sha256")
    return hmac.compare_digest(digest, claim.signature) or hmac.compare_digest(
        digest.hex().encode(), b64encode(claim.signature).rstrip(b"=")
    )


def _canonical(claim: Claim, method: bytes, query: bytes, hashed: bytes) -> bytes:
    return canonical_string(claim.timestamp, claim.nonce, method, query, hashed)


def _mistakes(claim: Claim, method: str, path: str, query: bytes, body: bytes) -> Iterator[Mistake]:
    key, verb, good_query, hashed = claim.held.secret_bytes, method.encode(), canonical_query(query), body_hash(body)
    right = _canonical(claim, verb, good_query, hashed)
    yield "the signature is hexadecimal; encode the raw digest in Base64", key, right
    yield "the secret was used as text; decode it from Base64 first", b64encode(key), right
    for text, wrong_query in _queries(path, query):
        yield text, key, _canonical(claim, verb, wrong_query, hashed)
    yield "the method is in lower case", key, _canonical(claim, verb.lower(), good_query, hashed)
    yield "the leading v1: is missing from the canonical string", key, right[3:]
    yield "the parts are joined with line feeds instead of colons", key, right.replace(b":", b"\n")
    if len(body) <= _BODY_BYTES_MAX:
        for text, wrong_hash in _body_hashes(body):
            yield text, key, _canonical(claim, verb, good_query, wrong_hash)


def _queries(path: str, query: bytes) -> Iterator[tuple[str, bytes]]:
    target = path.encode() + (b"?" + query if query else b"")
    parts = query.split(b"&")
    yield "the query is not sorted by key", b"&".join(part for part in parts if b"=" in part)
    for sent in (parts, sorted(parts)):
        as_sent = b"&".join(sent)
        if canonical_query(query) == b"&".join(part for part in sent if b"=" in part):
            yield "a parameter without = is signed; leave it out", as_sent
    yield "the query is signed as it is sent; sort it by key and leave out parameters without =", query
    yield "the query was left out", b""
    yield "the query keeps its question mark", b"?" + canonical_query(query)
    yield "the query is percent-decoded; sign it as it is sent", canonical_query(unquote_to_bytes(query))
    yield "the path is signed instead of the query", path.encode()
    yield "the path is signed together with the query", target


def _body_hashes(body: bytes) -> Iterator[tuple[str, bytes]]:
    digest = hashlib.sha256(body)
    yield "the body hash is hexadecimal; encode it in Base64", digest.hexdigest().encode()
    yield "the body itself is signed instead of its hash", body
    yield "the body hash is missing", b""
    yield "the hash of an empty body was signed, but a body was sent", EMPTY_BODY_HASH
    yield "the body was changed after signing: a line feed was added", body_hash(body.rstrip(b"\n"))
    for spaced in _reserialised(body):
        yield "the body was serialised again after signing; sign the bytes that are sent", body_hash(spaced)


def _reserialised(body: bytes) -> Iterator[bytes]:
    import json

    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return
    for separators in ((",", ":"), (", ", ": ")):
        for ascii_only in (True, False):
            yield json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    yield json.dumps(value, indent=2).encode("utf-8", "surrogatepass")
