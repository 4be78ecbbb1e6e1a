"""API-key authentication (SPEC 5.1, 5.2): which refusal a request gets, first failure first.

`check_headers` checks what it can before the body is read, in the order of SPEC 5.2. `verify` needs the body. The
sandbox spends the nonce last.
"""

import hmac
import re
from collections.abc import Mapping
from string import ascii_letters, digits
from typing import Protocol

import msgspec

from simulator.auth import headers as names
from simulator.auth.canonical import QueryRules, body_hash, canonical_queries, canonical_string, decoded, hmac_sha256
from simulator.auth.form import NO_PREFIX, PREFIX, misspelling, repeated
from simulator.short_text import shortened

BODY_BYTES_MAX = 10 * 1024 * 1024
SIGNATURE_BYTES_MAX = 512

NONCE_BYTES_MIN, NONCE_BYTES_MAX = 16, 128
_NONCE_CHARACTERS = (ascii_letters + digits + "-_").encode()
_is_timestamp = re.compile(rb"[0-9]{1,18}").fullmatch
_is_nonce = re.compile(rb"[a-zA-Z0-9_-]{%d,%d}" % (NONCE_BYTES_MIN, NONCE_BYTES_MAX)).fullmatch

NO_QUERY = (b"",)

_UNITS = {13: "milliseconds", 16: "microseconds"}
"""By the digits of a timestamp from the year 2001 to 2286; of seconds they would be the year 33658 and later."""
_HOUR_S = 3600
_ZONE_HOURS_MAX, _CLOCK_S = 14, 60  # of zones, and what a clock may be off beside one
_CORES = {names.API_KEY: b"apikey", names.TIMESTAMP: b"timestamp", names.NONCE: b"nonce", names.SIGNATURE: b"sign"}
_KEY_FORMS = tuple((re.compile(form, re.IGNORECASE), hint) for form, hint in (
    (rb".*, .*", "X-Api-Key was sent more than once, or with a comma"),
    (rb"undefined|null|None|\$.*|\{\{.*|<.*|your.*", "it is a placeholder, or a variable that is not set"),
    (rb"([\"']).*\1", "it has quotes around it"), (rb"bearer .*", "send the key alone, without Bearer"),
    (rb".*%.*", "it is percent-encoded"),
))  # fmt: skip

NO_ACTIVE_KEY = "no active key of this sandbox has this value"
"""For unknown and revoked keys alike, so clients cannot learn which keys existed."""

MESSAGES = {
    "missing_api_key": "The X-Api-Key header is missing or empty.",
    "invalid_api_key": "The API key is unknown or revoked.",
    "hmac_not_configured": "The API key has no HMAC secret.",
    "missing_hmac_headers": "X-Timestamp, X-Nonce and X-Signature are all required.",
    "empty_hmac_values": "X-Timestamp, X-Nonce and X-Signature must not be empty.",
    "invalid_nonce_format": "X-Nonce must be 16 to 128 characters from a-z, A-Z, 0-9, - and _.",
    "invalid_timestamp_format": "X-Timestamp must be a Unix timestamp in seconds.",
    "timestamp_expired": "X-Timestamp is outside the accepted window.",
    "invalid_signature_format": "X-Signature must be v1= followed by the Base64 signature.",
    "signature_too_large": "X-Signature is too large.",
    "body_too_large": "The request body is over 10 MB.",
    "invalid_signature": "The signature does not match the request.",
    "nonce_reused": "X-Nonce was used before.",
    "decryption_error": "The HMAC secret could not be decrypted.",
    "internal_error": "An unexpected error occurred.",
    "invalid_token": "The bearer token is invalid or has expired.",
}


class Denied(msgspec.Struct, frozen=True):
    """A refusal: `code` and `message` of SPEC 5.2, and the simulator's own `diagnosis`. The caller reads
    `public_diagnosis` instead, when the diagnosis is for the owner of the key only."""

    code: str
    diagnosis: str = ""
    public_diagnosis: str = ""

    @property
    def message(self) -> str:
        """Return the text of the code."""
        return MESSAGES[self.code]


class KeyRecord(Protocol):
    """An API key's record: `state` is `active`, `revoked`, `no_secret` or `undecryptable`, `secret_bytes` is the key of
    its HMAC, decoded."""

    @property
    def state(self) -> str: ...
    @property
    def secret_bytes(self) -> bytes: ...


class Claim(msgspec.Struct, frozen=True, gc=False):
    """Validated headers, not yet verified. `signature` is decoded; `timestamp_s` is `timestamp` as a number, and was
    compared with `checked_s`."""

    key_record: KeyRecord
    timestamp: bytes
    timestamp_s: int
    checked_s: float
    nonce: bytes
    signature: bytes


def check_headers(
    headers: Mapping[bytes, bytes], key_record: KeyRecord | None, now_s: float, tolerance_s: float
) -> Claim | Denied:
    """Check the four headers in the order of SPEC 5.2.

    `headers` has lower-case names, repeated headers joined by `, `; `key_record` is that of the key in X-Api-Key, None
    when it is unknown; `now_s` is the Unix time that X-Timestamp is compared with.
    """
    raw_key = headers.get(names.API_KEY)
    if not raw_key:
        reason = "X-Api-Key is absent" if raw_key is None else "X-Api-Key is empty"
        advice = _near(headers, names.API_KEY) or "; send the key and sign the request with its secret"
        return Denied("missing_api_key", reason + advice)
    if key_record is None:
        hint = next((f"; {hint}" for form, hint in _KEY_FORMS if form.fullmatch(raw_key)), "")
        return Denied("invalid_api_key", f"no reseller of this sandbox has this key{hint}", NO_ACTIVE_KEY + hint)
    if key_record.state != "active":
        if key_record.state == "revoked":
            return Denied("invalid_api_key", "the key was revoked; use an active key of the reseller", NO_ACTIVE_KEY)
        if key_record.state == "no_secret":
            return Denied("hmac_not_configured", "the scenario gives this key no secret (state: no_secret)")
    timestamp, nonce, signature = headers.get(names.TIMESTAMP), headers.get(names.NONCE), headers.get(names.SIGNATURE)
    if not (timestamp and nonce and signature):
        return _incomplete(headers)
    if not _is_nonce(nonce):
        return _misshapen(nonce)
    if not _is_timestamp(timestamp):
        return Denied(
            "invalid_timestamp_format",
            f"X-Timestamp must be whole seconds since 1970, digits only: now {now_s:.0f}{repeated(timestamp)}",
        )
    timestamp_s = int(timestamp)
    if not -tolerance_s <= now_s - timestamp_s <= tolerance_s:
        return _out_of_time(timestamp, now_s, tolerance_s)
    if not signature.startswith(PREFIX):
        return Denied("invalid_signature_format", NO_PREFIX)
    if len(signature) > SIGNATURE_BYTES_MAX:
        return Denied(
            "signature_too_large", f"X-Signature has {len(signature)} bytes; at most {SIGNATURE_BYTES_MAX} are read"
        )
    text = signature.removeprefix(PREFIX)
    raw = decoded(text)
    if raw is None:
        return Denied("invalid_signature_format", misspelling(text))
    return Claim(
        key_record=key_record, timestamp=timestamp, timestamp_s=timestamp_s, checked_s=now_s, nonce=nonce, signature=raw
    )


def _incomplete(headers: Mapping[bytes, bytes]) -> Denied:
    """Return the refusal of a signature that lacks a header, or else has an empty header."""
    if missing := [name for name in names.SIGNATURE_HEADERS if name not in headers]:
        hints = "".join(_near(headers, name) for name in missing)
        return Denied("missing_hmac_headers", f"not sent: {_written(missing)}{hints}")
    empty = [name for name in names.SIGNATURE_HEADERS if not headers[name]]
    return Denied("empty_hmac_values", f"sent without a value: {_written(empty)}")


def _near(headers: Mapping[bytes, bytes], name: bytes) -> str:
    """Return a hint at a header that was sent with a name like that of an absent header."""
    near = (sent for sent in headers if sent != name and _CORES[name] in sent.translate(None, b"-_"))
    sent = next((sent for sent in near if sent not in _CORES), b"")
    return f"; {shortened(sent)} was sent, did you mean {_written([name])}?" if sent else ""


def _misshapen(nonce: bytes) -> Denied:
    """Return the refusal of a nonce of the wrong length, or else with a character that is not allowed."""
    if not NONCE_BYTES_MIN <= len(nonce) <= NONCE_BYTES_MAX:
        reason = f"the nonce has {len(nonce)} characters; it must have {NONCE_BYTES_MIN} to {NONCE_BYTES_MAX}"
    else:
        shown = nonce.translate(None, _NONCE_CHARACTERS)[:1].decode("latin-1")
        reason = f"the nonce has {shown!r}; only a-z A-Z 0-9 - _ are allowed"
    return Denied("invalid_nonce_format", reason + repeated(nonce))


def _written(found: list[bytes]) -> str:
    """Return names of headers as clients write them."""
    return ", ".join(name.decode().title() for name in found)


def _out_of_time(timestamp: bytes, now_s: float, tolerance_s: float) -> Denied:
    """Return the refusal of a timestamp that is further than the tolerance from now, in either direction."""
    if unit := _UNITS.get(len(timestamp)):
        return Denied("timestamp_expired", f"the timestamp is in {unit}; send seconds")
    age_s = now_s - int(timestamp)
    side = "behind" if age_s > 0 else "ahead of"
    hours = round(2 * age_s / _HOUR_S) / 2
    if 1 <= abs(hours) <= _ZONE_HOURS_MAX and abs(age_s - hours * _HOUR_S) <= _CLOCK_S:
        return Denied(
            "timestamp_expired",
            f"the timestamp is {abs(hours):g} h {side.split()[0]}: local time signed as UTC? Unix time has no zone",
        )
    span = f"{abs(age_s) / _HOUR_S:,.0f} h" if abs(age_s) >= 2 * _HOUR_S else f"{abs(age_s):,.9g} s"
    text = f"the timestamp is {span} {side} the server's clock, at most {tolerance_s:.0f} s are accepted"
    return Denied("timestamp_expired", text)


def verify(claim: Claim, method: bytes, query: bytes, body: bytes, rules: QueryRules) -> Denied | None:
    """Return the refusal of a signature that does not match the request, compared in constant time; None if it
    matches."""
    if claim.key_record.state == "undecryptable":
        return Denied("decryption_error", "the scenario sets this for the key (state: undecryptable)")
    hashed, secret = body_hash(body), claim.key_record.secret_bytes
    for form in canonical_queries(query, rules) if query else NO_QUERY:
        text = canonical_string(claim.timestamp, claim.nonce, method, form, hashed)
        if hmac.compare_digest(hmac_sha256(secret, text), claim.signature):
            return None
    return Denied("invalid_signature")
