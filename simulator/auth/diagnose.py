"""Why a signature does not match: tries each known mistake of clients on the request.

Mistakes are tried one at a time. The one that reproduces the signature sent is the diagnosis.
"""

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterator

from simulator.auth.canonical import EMPTY_BODY_HASH, QueryRules, body_hash, canonical_queries, canonical_string
from simulator.auth.query_mistakes import mistaken_queries
from simulator.auth.signature import Claim
from simulator.shortened import shortened

# Bounds the cost of the search: of a longer query, or one of more parameters, no mistake is tried.
QUERY_BYTES_MAX = 16 * 1024
PARAMETERS_MAX = 500
_BODY_BYTES_MAX = 64 * 1024
_SHOWN_CHARS_MAX = 400
_DIGEST_BYTES, _SHA1_BYTES = 32, 20

Mistake = tuple[str, bytes, bytes]  # what the client does, the key it would use, the string it would sign


def diagnose(claim: Claim, method: str, path: str, query: bytes, body: bytes, rules: QueryRules) -> str:
    """Describe in one line the client's mistake behind `invalid_signature`; `rules` are those that it was verified
    by."""
    if len(query) > QUERY_BYTES_MAX or query.count(b"&") >= PARAMETERS_MAX:
        return "the signature differs; mistakes are not looked for with a query that is so long"
    for text, key, signed in _mistakes(claim, method, path, query, body, rules):
        if key and _matches(claim, key, signed):
            return text
    if len(claim.signature) != _DIGEST_BYTES:
        return _misshapen(claim.signature)
    expected = _canonical(claim, method.encode(), canonical_queries(query, rules)[0], body_hash(body))
    shown = shortened(expected, _SHOWN_CHARS_MAX)
    return f"no known mistake explains it; the string to sign was {shown}; is it this key's secret?"


def _misshapen(signature: bytes) -> str:
    if not signature:
        return "nothing follows v1="
    text = f"the signature decodes to {len(signature)} bytes, an HMAC-SHA256 has {_DIGEST_BYTES}"
    if _is_hexadecimal(signature) or _is_hexadecimal(b64encode(signature)):
        return f"{text}: is it hexadecimal?"
    return f"{text}: was it made with SHA-1?" if len(signature) == _SHA1_BYTES else text


def _is_hexadecimal(text: bytes) -> bool:
    return len(text) == 2 * _DIGEST_BYTES and not text.lower().translate(None, b"0123456789abcdef")


def _matches(claim: Claim, key: bytes, signed: bytes) -> bool:
    digest = hmac.digest(key, signed, "sha256")
    text = digest.hex().encode()
    return any(hmac.compare_digest(spelt, claim.signature) for spelt in (digest, text, b64decode(text)))


def _canonical(claim: Claim, method: bytes, query: bytes, hashed: bytes) -> bytes:
    return canonical_string(claim.timestamp, claim.nonce, method, query, hashed)


def _mistakes(claim: Claim, method: str, path: str, query: bytes, body: bytes, rules: QueryRules) -> Iterator[Mistake]:
    key, verb, hashed = claim.held.secret_bytes, method.encode(), body_hash(body)
    good_queries = canonical_queries(query, rules)
    for good_query in good_queries:
        right = _canonical(claim, verb, good_query, hashed)
        yield "the signature is hexadecimal; encode the raw digest in Base64", key, right
        yield "the secret was used as text; decode it from Base64 first", b64encode(key), right
        yield "the method is in lower case", key, _canonical(claim, verb.lower(), good_query, hashed)
        yield "the leading v1: is missing from the canonical string", key, right[3:]
        yield "the parts are joined with line feeds instead of colons", key, right.replace(b":", b"\n")
        yield "the canonical string ends in a line feed", key, right + b"\n"
        swapped = canonical_string(claim.nonce, claim.timestamp, verb, good_query, hashed)
        yield "the nonce stands before the timestamp", key, swapped
    for text, wrong_query in mistaken_queries(path, query, rules):
        yield text, key, _canonical(claim, verb, wrong_query, hashed)
    without_query = b":".join((b"v1", claim.timestamp, claim.nonce, verb, hashed))
    yield "the query was left out together with its colon; keep both colons", key, without_query
    if len(body) <= _BODY_BYTES_MAX:
        for text, wrong_hash in _body_hashes(body):
            for good_query in good_queries:
                yield text, key, _canonical(claim, verb, good_query, wrong_hash)


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
