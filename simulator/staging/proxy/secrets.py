"""The secrets that the proxy knows, from the operator and from observed traffic. All its output hides them."""

import hmac
import re
from collections import OrderedDict, deque
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from simulator.auth import headers as names
from simulator.auth.autopsy.report import diagnose
from simulator.auth.canonical import QueryRules
from simulator.auth.headers import joined
from simulator.auth.signature import MESSAGES, Denied, check_headers, verify
from simulator.contract.endpoints import fields_of
from simulator.domain.model.webhooks import Signature
from simulator.redaction import MASKED, FormerSecrets, Mask, Secrets, redact, redact_members, redact_strings
from simulator.staging.proxy.departures import members
from simulator.staging.proxy.messages import PassedExchange
from simulator.wire.traffic import Call, Headers, Notification
from simulator.wire.webhook_signature import STANDARD_HEADERS, signature_of

WEBHOOK_PATH: Final = "/v2/balance-webhook"
_WEBHOOKS_MAX: Final = 20
CHARS_MAX: Final = 4096  # tokens are shorter; a longer text is recognized by its beginning
SEARCHED_BYTES_MAX: Final = 64 * 1024  # a login is shorter


class SeenSecrets:
    """The known secrets. The operator provides the `given` secrets; `keys` are API keys, which may be shown whole.
    `webhooks` are the latest webhook secrets from the service."""

    def __init__(self, given: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        self.webhooks: deque[str] = deque(maxlen=_WEBHOOKS_MAX)
        self._given = Secrets(given)
        self._keys = frozenset(keys)
        self._seen = FormerSecrets()

    @property
    def mask(self) -> Mask:
        """Return a mask that hides all secrets."""
        return Mask(self.secrets, self._keys)

    @property
    def secrets(self) -> tuple[Secrets, ...]:
        """Return the indexes of all secrets."""
        return (self._given, *self._seen.generations)

    def learn(self, path: str, body: bytes, answer: bytes) -> None:
        """Learn the secrets of a call: webhook secrets, tokens and passwords."""
        if path.startswith(WEBHOOK_PATH):
            secret = members(answer).get("webhook_secret")
            if isinstance(secret, str) and secret[:CHARS_MAX] == secret != "" and secret not in self.webhooks:
                self.webhooks.append(secret)
        for part in (body, answer):
            redact_members(part[:SEARCHED_BYTES_MAX], self._learn)

    def _learn(self, secret: str) -> str:
        self._seen.add([secret[:CHARS_MAX]])
        return secret


def without_secrets(message: Call | Notification, secrets: Iterable[Secrets]) -> Call | Notification:
    """Return the message with secrets hidden in its query, body and answer, the only parts that a recording reads."""
    known, hidden = tuple(secrets), quote(MASKED, safe="()")
    body, answer = (redact_strings(text, lambda value: redact(value, known)) for text in (message.body, message.answer))
    if isinstance(message, Call):
        query = redact(message.query.decode("latin-1"), known, lambda _: hidden).encode("latin-1")
        return msgspec.structs.replace(message, query=query, body=body, answer=answer)
    url = redact(message.url, known, lambda _: hidden)
    return msgspec.structs.replace(message, url=url, body=body, answer=answer)


RIGHT, WRONG, UNKNOWN = "right", "wrong", "unknown"
_WORDS = ("sign", "hmac", "digest")
_TEXT = Signature(header="any", key="text")
_SCHEMES = (Signature(), Signature(header="any"), _TEXT)
_SECRET = re.compile(r"[0-9a-fA-F]{64}")  # SPEC 4.19; another secret can only sign as a text


def judged(headers: Headers, body: bytes, secrets: Iterable[str]) -> str:
    """Return `right`, `wrong`, `unknown` without known secrets, or an empty text without a signature header."""
    fields = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in headers}
    given = [value for name, value in fields.items() if any(word in name for word in _WORDS)]
    if not given:
        return ""
    id_, stamp, _ = (fields.get(name, "") for name in STANDARD_HEADERS)
    known = [(secret, scheme) for secret in secrets for scheme in (_SCHEMES if _SECRET.fullmatch(secret) else (_TEXT,))]
    expected = {signature_of(scheme, secret, id_, stamp, body).encode() for secret, scheme in known}
    if not expected:
        return UNKNOWN
    texts = [text for value in given for text in value.split()]
    values = {part.encode() for text in texts for part in (text, text.partition("=")[2])}  # sha256= may precede it
    return RIGHT if any(hmac.compare_digest(digest, other) for digest in values for other in expected) else WRONG


TOLERANCE_S: Final = 300.0
NONCES_MAX: Final = 10_000
_RULES = QueryRules()  # all queries that SPEC 5.1 allows


class OperatorKey(NamedTuple):
    """The operator's key with its secret, in the form of the signature check."""

    secret_bytes: bytes
    state: str = "active"


_WITHOUT_SECRET = OperatorKey(b"")


class Signatures:
    """Diagnoses signed requests. `key` and `secret` are None if the operator gave none."""

    def __init__(self, key: str | None = None, secret: bytes | None = None) -> None:
        self._key = None if key is None else key.encode()
        self._held = None if secret is None else OperatorKey(secret)
        self._nonces: OrderedDict[tuple[bytes, bytes], str] = OrderedDict()

    def diagnosis(self, exchange: PassedExchange, answer: bytes) -> str:
        """Return why the service refused the request, or should have; empty without a finding. `answer` is unpacked."""
        sent, status = joined(exchange.headers), exchange.answered
        code = members(answer).get("error") if status == 401 else None
        refused = code if isinstance(code, str) and code in MESSAGES else ""
        if not sent.get(names.API_KEY) and (names.AUTHORIZATION in sent or not refused):
            return ""
        earlier = self._earlier(sent, exchange.at, refused)
        denied, doubt = self._denied(exchange, sent)
        if refused == "nonce_reused" and earlier:
            return f"this nonce was sent at {earlier} before; each request needs a nonce of its own"
        if denied is not None:
            text = denied.diagnosis or denied.message
            if refused:
                other = f"the service says {refused}; by the contract it is {denied.code}: {text}"
                return text if denied.code == refused else other
            is_accepted = 0 < status < 500 and status not in (401, 403)
            return f"the service accepted it, though by the contract it is {denied.code}: {text}" if is_accepted else ""
        if refused in ("", "nonce_reused", "internal_error", "invalid_token"):
            return ""
        return doubt or f"the service refused it with {refused}, though by the contract headers and signature are right"

    def _denied(self, exchange: PassedExchange, sent: dict[bytes, bytes]) -> tuple[Denied | None, str]:
        """Return the refusal by the contract, and a reason why the result is uncertain."""
        is_given = self._held is not None and sent.get(names.API_KEY) == self._key
        held = self._held if is_given and self._held is not None else _WITHOUT_SECRET
        claim = check_headers(sent, held, exchange.at.timestamp(), TOLERANCE_S)
        if isinstance(claim, Denied):
            return claim, ""
        if not is_given:
            what = "the request has another key than --key" if self._held is not None else "give --key and --secret"
            return None, f"headers and time are right; only the secret can verify the signature: {what}"
        denied = verify(claim, exchange.method.encode(), exchange.query, exchange.body, _RULES)
        if denied is not None and denied.code == "invalid_signature":
            fields = fields_of(exchange.method, exchange.path)
            request = exchange.method, exchange.path, exchange.query, exchange.body
            found = diagnose(claim, *request, _RULES, headers=sent, fields=fields)
            denied = Denied(denied.code, found)
        return denied, ""

    def _earlier(self, sent: dict[bytes, bytes], at: datetime, refused: str) -> str:
        """Return when this nonce was sent before, if known, and remember it."""
        nonce = sent.get(names.NONCE, b"")
        pair = sent.get(names.API_KEY, b"")[:200], nonce[:200]
        earlier = self._nonces.get(pair, "")
        if nonce and not earlier and refused in ("", "nonce_reused"):
            self._nonces[pair] = at.strftime("%H:%M:%S.%f UTC")
            if len(self._nonces) > NONCES_MAX:
                self._nonces.popitem(last=False)
        return earlier
