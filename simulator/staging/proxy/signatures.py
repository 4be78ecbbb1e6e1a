"""Why the service refused a signature, by the secret that the operator gave, and whether a webhook has its own."""

import binascii
import hmac
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from simulator.auth import headers as names
from simulator.auth.canonical import QueryRules
from simulator.auth.diagnose import diagnose
from simulator.auth.signature import MESSAGES, Denied, check_headers, verify
from simulator.staging.proxy.facts import members
from simulator.wire.signing import STANDARD_HEADERS
from simulator.wire.traffic import Headers

RIGHT, WRONG, UNKNOWN = "right", "wrong", "unknown"
_WORDS = ("sign", "hmac", "digest")


def judged(headers: Headers, body: bytes, secrets: Iterable[str]) -> str:
    """`right`, `wrong`, `unknown` when no secret was seen, or empty when no header looks like a signature."""
    fields = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in headers}
    given = {name: value for name, value in fields.items() if any(word in name for word in _WORDS)}
    if not given:
        return ""
    expected = {text for secret in secrets for text in _expected(secret, fields, body)}
    if not expected:
        return UNKNOWN
    values = {part for value in given.values() for part in _parts(value)}
    return RIGHT if any(hmac.compare_digest(a.encode(), b.encode()) for a in values for b in expected) else WRONG


def _parts(value: str) -> Iterator[str]:
    """The signatures in a header: several are divided by blanks, and each may have a scheme's name in front."""
    for one in value.split()[:10]:
        yield one
        for divider in (",", "="):
            _, found, rest = one.partition(divider)
            if found:
                yield rest


def _expected(secret: str, fields: dict[str, str], body: bytes) -> Iterator[str]:
    id_, stamp, _ = (fields.get(name, "") for name in STANDARD_HEADERS)
    signed = [body, b".".join((id_.encode(), stamp.encode(), body))] if id_ else [body]
    for key in _keys(secret):
        for text in signed:
            digest = hmac.digest(key, text, "sha256")
            yield digest.hex()
            yield b64encode(digest).decode()


def _keys(secret: str) -> Iterator[bytes]:
    """A secret as text, as hexadecimal digits and as Base64."""
    yield secret.encode()
    for decode in (bytes.fromhex, b64decode):
        try:
            yield decode(secret.removeprefix("whsec_"))
        except (ValueError, binascii.Error):
            continue


TOLERANCE_S: Final = 300.0
NONCES_MAX: Final = 10_000
_DIAGNOSED_BYTES_MAX: Final = 10 * 1024 * 1024
_RULES = QueryRules()  # whatever SPEC 5.1 allows


class GivenKey(NamedTuple):
    """The key that the operator gave with its secret, as the signature check wants it."""

    secret_bytes: bytes
    state: str = "active"


_WITHOUT_SECRET = GivenKey(b"")


class Signatures:
    """Says of each signed request what is wrong with it. `key` and `secret` are None when none were given."""

    def __init__(self, key: str | None = None, secret: bytes | None = None) -> None:
        self._key = None if key is None else key.encode()
        self._held = None if secret is None else GivenKey(secret)
        self._nonces: OrderedDict[tuple[bytes, bytes], str] = OrderedDict()

    def diagnosis(
        self,
        at: datetime,
        method: str,
        path: str,
        query: bytes,
        headers: Headers,
        body: bytes,
        status: int,
        answer: bytes,
    ) -> str:
        """Why the service refused the request, or should have; empty when there is nothing to say."""
        sent = _joined(headers)
        refused = _refusal(status, answer)
        if not sent.get(names.API_KEY) and (names.AUTHORIZATION in sent or not refused):
            return ""
        earlier = self._earlier(sent, at, refused)
        denied, doubt = self._denied(sent, at, method, path, query, body)
        if refused == "nonce_reused" and earlier:
            return f"this nonce was sent at {earlier} before; each request needs a nonce of its own"
        if denied is not None:
            text = denied.diagnosis or denied.message
            if not refused:
                accepted = 0 < status < 500 and status not in (401, 403)
                return (
                    f"the service accepted it, though by the contract it is {denied.code}: {text}" if accepted else ""
                )
            return (
                text
                if denied.code == refused
                else f"the service says {refused}; by the contract it is {denied.code}: {text}"
            )
        if refused in ("", "nonce_reused", "internal_error", "invalid_token"):
            return ""
        return doubt or f"the service refused it with {refused}, though by the contract headers and signature are right"

    def _denied(
        self, sent: dict[bytes, bytes], at: datetime, method: str, path: str, query: bytes, body: bytes
    ) -> tuple[Denied | None, str]:
        """What the contract refuses it with; and what we cannot know, in words."""
        is_given = self._held is not None and sent.get(names.API_KEY) == self._key
        held = self._held if is_given and self._held is not None else _WITHOUT_SECRET
        claim = check_headers(sent, held, at.timestamp(), TOLERANCE_S)
        if isinstance(claim, Denied):
            return claim, ""
        if not is_given:
            what = "the request has another key than --key" if self._held is not None else "give --key and --secret"
            return None, f"headers and time are right; whether the signature is, only the secret tells: {what}"
        if len(body) > _DIAGNOSED_BYTES_MAX:
            return None, "the body is too long to check the signature"
        denied = verify(claim, method.encode(), query, body, _RULES)
        if denied is not None and denied.code == "invalid_signature":
            denied = Denied(denied.code, diagnose(claim, method, path, query, body, _RULES, headers=sent))
        return denied, ""

    def _earlier(self, sent: dict[bytes, bytes], at: datetime, refused: str) -> str:
        """When this nonce was sent before, as far as it is remembered; remembers it from now on."""
        nonce = sent.get(names.NONCE, b"")
        pair = sent.get(names.API_KEY, b"")[:200], nonce[:200]
        earlier = self._nonces.get(pair, "")
        if nonce and not earlier and refused in ("", "nonce_reused"):
            self._nonces[pair] = at.strftime("%H:%M:%S.%f UTC")
            if len(self._nonces) > NONCES_MAX:
                self._nonces.popitem(last=False)
        return earlier


def _joined(headers: Headers) -> dict[bytes, bytes]:
    """Names in lower case; the values of a repeated one joined, as the signature check expects."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        lower = name.lower()
        joined[lower] = joined[lower] + b", " + value if lower in joined else value
    return joined


def _refusal(status: int, answer: bytes) -> str:
    """The code of SPEC 5.2 with which an answer refuses a request; empty when it does not."""
    if status != 401:
        return ""
    found: Any = members(answer).get("error")
    return found if isinstance(found, str) and found in MESSAGES else ""
