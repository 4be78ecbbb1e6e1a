"""Autopsies of refused signatures, for readers of the journal.

A search takes some tenths of a second, so it runs in a thread, and only on request. An autopsy never shows a signature:
the signature of the expected string would be accepted.
"""

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from simulator.auth import headers as names
from simulator.auth.autopsy.report import Autopsy, Compared, autopsy, first_difference
from simulator.auth.autopsy.signing_steps import PLACES, Facts, Other
from simulator.auth.canonical import QueryRules, body_hash, canonical_string
from simulator.auth.headers import joined
from simulator.contract.endpoints import fields_of
from simulator.control.http import InvalidInput
from simulator.domain.model.resellers import ApiKey, Reseller
from simulator.redaction import MASKED, Mask
from simulator.runtime.background import in_background, place
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import SANDBOX_PREFIX
from simulator.short_text import shortened

OTHERS_MAX: Final = 500
"""The number of other keys' secrets to try, and the number of replaced secrets."""
STRING_CHARS_MAX: Final = 4000
_VERSIONED: Final = re.compile(rb"/v[12]/")
_EARLIER, _LATER = 10, 3  # other nonces are tried up to this distance in the journal
_REFUSED: Final = ("invalid_signature", "invalid_signature_format")
# The body is part of these strings as Base64, so a secret in it is not recognized by the name of its member.
_HIDDEN: Final = frozenset({"body-only-encoded", "string-encoded-first"})


class RequestParts(NamedTuple):
    """A request as a client sends it. `path` is the part after `prefix`, names of headers are in lower case, `secret`
    is decoded (None to use the key's own), and `canonical` is the string that the client says it signed."""

    method: str
    host: bytes
    prefix: bytes
    path: bytes
    query: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    secret: bytes | None = None
    canonical: bytes | None = None

    def facts(self, others: Iterable[Other], rules: QueryRules | None = None, hashed: bytes = b"") -> Facts:
        """Return what an autopsy needs; `hashed` is the hash of the body, unless `search` makes it."""
        assert self.secret is not None
        headers = joined(self.headers)
        return Facts(
            timestamp=headers.get(names.TIMESTAMP, b""),
            nonce=headers.get(names.NONCE, b""),
            method=self.method.upper().encode("utf-8", "surrogateescape"),
            query=self.query,
            body=self.body,
            hashed=hashed,
            signature=headers.get(names.SIGNATURE, b""),
            secret=self.secret,
            path=self.path,
            prefix=self.prefix,
            host=self.host or headers.get(b"host", b""),
            api_key=headers.get(names.API_KEY, b""),
            fields=fields_of(self.method.upper(), self.path.decode("utf-8", "surrogateescape")),
            rules=rules or QueryRules(),
            others=tuple(others),
        )


def request_parts(method: str, target: str, pairs: Iterable[tuple[str, str]], body: bytes) -> RequestParts:
    """Return a request to a path or URL. Raises `InvalidInput`."""
    whole, _, query = as_bytes(target).partition(b"#")[0].partition(b"?")
    host, path = b"", whole
    if whole.startswith((b"http://", b"https://")):
        host, _, rest = whole.partition(b"//")[2].partition(b"/")
        path = b"/" + rest
    if not path.startswith(b"/"):
        raise InvalidInput("path must begin with /, or be a URL with http:// or https://", "path")
    version = _VERSIONED.search(path)
    begins = version.start() if version else 0
    headers = [(as_bytes(name).strip().lower(), as_bytes(value).strip()) for name, value in pairs]
    return RequestParts(method, host, path[:begins], path[begins:], query, headers, body)


def as_bytes(text: str) -> bytes:
    """Encode a text in UTF-8, restoring bytes from a shell that are not valid text."""
    return text.encode("utf-8", "surrogateescape")


async def autopsy_of(
    live: LiveSandbox, owner: LiveSandbox, exchange: Exchange, mask: Mask, given: bytes | None = None
) -> dict[str, Any] | None:
    """Return the autopsy of a request in `live`'s journal that was refused for its signature, or None for other
    requests. `owner` is the sandbox whose credentials the request named, `given` the string that the client says it
    signed. Raises `Busy`."""
    named = owner.core.state.keys.get(joined(exchange.headers).get(names.API_KEY, b"").decode("latin-1"))
    if exchange.error not in _REFUSED or named is None or exchange.unread:
        return None
    path, prefix = exchange.path.encode("utf-8", "surrogateescape"), (SANDBOX_PREFIX + live.id).encode()
    sent = RequestParts(exchange.method, b"", prefix, path, exchange.query, exchange.headers, exchange.body)
    sent = sent._replace(secret=named[1].secret_bytes, canonical=given)
    near = (live.journal.find(n) for n in range(exchange.n - _EARLIER, exchange.n + _LATER + 1) if n != exchange.n)
    nonces = (joined(other.headers).get(names.NONCE) for other in near if other)
    made = await search(owner, sent, named, tuple(filter(None, nonces)))
    shown = mask.query(exchange.path, exchange.query)
    has_secrets = shown != exchange.query.decode("latin-1")
    query = mask.query(exchange.path, made.expected.query) if has_secrets else None
    return rendered(made, lambda text: mask.body(exchange.path, text), query)


async def search(
    owner: LiveSandbox, sent: RequestParts, named: tuple[Reseller, ApiKey] | None, nonces: tuple[bytes, ...] = ()
) -> Autopsy:
    """Return the autopsy of a request with its secret, made in the background; `named` is the sandbox's record of its
    key. Raises `Busy`."""
    rules = QueryRules.of(owner.scenario.assume)
    facts = replace(sent.facts(others_of(owner, *named) if named else (), rules), nonces=nonces)
    with place(len(sent.body)):  # a body may be long, so that it is hashed in the background, too
        return await in_background(lambda: autopsy(replace(facts, hashed=body_hash(sent.body)), sent.canonical))


def rendered(
    made: Autopsy,
    shown: Callable[[bytes], str] = lambda text: text.decode("utf-8", "replace"),
    query: str | None = None,
) -> dict[str, Any]:
    """Return an autopsy as JSON. `shown` redacts texts that may have secrets; `query` replaces a query that has
    secrets."""
    pieces = ("timestamp", "nonce", "method", "query", "body_hash")
    parts = {name: shown(value) for name, value in zip(pieces, made.expected, strict=True)}
    if query is not None:
        parts["query"] = query
    expected = shown(made.string) if query is None else ":".join(["v1", *parts.values()])
    is_hidden = query is not None or any(mistake.id in _HIDDEN for mistake in made.found)
    return {
        "is_right": made.is_right,
        **_found(made, shown),
        "expected": {"canonical_string": _short(expected), "parts": {name: _short(one) for name, one in parts.items()}},
        "nearest": None
        if made.signed is None
        else {
            "canonical_string": MASKED if is_hidden and made.signed != made.string else _short(shown(made.signed)),
            "differs": [PLACES[way.mistake.step] for way in made.found],
            "at": first_difference(made.string, made.signed),
        },
        "compared": made.compared and _compared(made.compared, shown, is_query_hidden=query is not None),
    }


def _found(made: Autopsy | Compared, shown: Callable[[bytes], str]) -> dict[str, Any]:
    return {"mistakes": [one.id for one in made.found], "sentence": shown(made.sentence.encode()), "fix": made.fix}


def _compared(made: Compared, shown: Callable[[bytes], str], *, is_query_hidden: bool) -> dict[str, Any]:
    """Return a given string as JSON. For a hidden query it does not say where the given query differs, since repeated
    guesses would reveal it."""
    at = first_difference(canonical_string(*made.expected), made.signed)
    if is_query_hidden and made.pieces:
        at = min(at, len(canonical_string(*made.expected._replace(query=b"", hashed=b""))) - 1)
    pieces = [
        {
            "name": piece.name,
            "expected": _short(MASKED if is_query_hidden and piece.name == "query" else shown(piece.expected)),
            "given": None if piece.given is None else _short(shown(piece.given)),
        }
        for piece in made.pieces
    ]
    return {
        "canonical_string": _short(shown(made.signed)),
        "is_signed": made.is_signed,
        "is_expected": not made.pieces,
        **_found(made, shown),
        "pieces": pieces,
        "at": at,
    }


def _short(text: str) -> str:
    return shortened(text, STRING_CHARS_MAX)


def others_of(owner: LiveSandbox, reseller: Reseller, key: ApiKey) -> Iterator[Other]:
    """Yield other secrets with which a request of this key may have been signed."""
    state = owner.core.state
    if reseller.webhook.secret:
        yield Other(f"the webhook of {reseller.code}", reseller.webhook.secret.encode())
    for holder, other in islice(state.keys.values(), OTHERS_MAX):
        if other is not key and other.secret_bytes:
            yield Other(f"the key {other.key} of {holder.code}", other.secret_bytes)
    for secret in islice(state.secrets.former, OTHERS_MAX):
        yield Other("", _decoded(secret))


def _decoded(secret: str) -> bytes:
    try:
        return b64decode(secret, validate=True)
    except (Error, ValueError):
        return secret.encode()
