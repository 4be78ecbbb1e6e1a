"""Masks the secrets in requests that the control API shows: passwords and tokens at the token endpoints (SPEC 4.2,
4.3), in any spelling of their path, and everything that `simulator.redaction` recognizes.

The journal, which lives in memory only, stores requests as received; masking happens on reading, so requests pay
nothing for it. Diagnoses are masked before they are sent.
"""

from collections import ChainMap
from collections.abc import Container, Iterable
from itertools import chain
from typing import Any, Final

from simulator.auth import headers as names
from simulator.contract.body import BadJson, decode_object
from simulator.redaction import (
    BODY_BYTES_MAX,
    FOREIGN_KEY_CHARS_SHOWN,
    MASKED,
    SECRET_BYTES_MAX,
    Secrets,
    is_secret_header,
    redact,
    redact_members,
    redact_parameters,
    redact_query,
    redact_strings,
    redact_urls,
)
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.wire.money import encode
from simulator.wire.tokens import HARMLESS_MEMBERS, MEMBERS, form_parameters, is_token_path

_API_KEY: Final = names.API_KEY.decode()


class Mask:
    """Hides secrets in shown texts: the given secrets, and the secrets in `known`. An X-Api-Key that is not in `keys`
    may be a misplaced secret."""

    def __init__(self, secrets: Iterable[str] = (), keys: Container[str] = (), known: Iterable[Secrets] = ()) -> None:
        self._keys = keys
        self._secrets = tuple(each for each in (Secrets(secrets), *known) if len(each))

    def text(self, text: str) -> str:
        """Return a text without secrets, tokens, and the credentials in URLs."""
        return redact_urls(self._known(text))

    def _known(self, text: str) -> str:
        return redact(text, self._secrets)

    def answer(self, body: bytes) -> bytes:
        """Return a JSON text with every secret in its strings hidden. Names of members are mostly ours, so weak secrets
        are not searched in them."""
        text = body.decode("utf-8", "replace")
        if self._known(text) == text and b"\\" not in body:
            return body
        return redact_strings(body, lambda each, is_name: redact(each, self._secrets, strong_only=is_name))

    def header(self, name: str, value: str) -> str:
        """Return a header's value without secrets."""
        if name.lower() == _API_KEY and value not in self._keys and len(value) > FOREIGN_KEY_CHARS_SHOWN:
            return f"{value[:FOREIGN_KEY_CHARS_SHOWN]}... {MASKED}"
        return MASKED if is_secret_header(name) else self.text(value)

    def path(self, path: str) -> str:
        """Return a path without credentials, including those in its parameters and in URLs in it."""
        return redact_parameters(self.text(path), lambda _: MASKED)

    def query(self, path: str, query: bytes) -> str:
        """Return a query without credentials, including those in URLs in it."""
        return redact_query(self._known(masked_query(path, query).decode("latin-1")))

    def body(self, path: str, body: bytes) -> str:
        """Return a body as text; a long body is truncated, with its full length."""
        if len(body) <= BODY_BYTES_MAX:
            return self._body(masked_body(path, body))
        note = f"... (the beginning of {len(body)} bytes)"
        if is_token_path(path):  # it would have to be decoded whole to know the secrets in it
            return MASKED + note
        # More than the shown part, so that a secret at its end is recognized.
        shown = self._body(body[: BODY_BYTES_MAX + SECRET_BYTES_MAX]).encode("utf-8", "surrogatepass")
        return shown[:BODY_BYTES_MAX].decode("utf-8", "ignore") + note

    def _body(self, body: bytes) -> str:
        shown = redact_members(self._known(body.decode("utf-8", "replace")).encode())
        if b"\\" in shown:
            shown = redact_strings(shown, lambda text, _: self.text(text))
        return redact_urls(shown.decode("utf-8", "replace"), lambda _: MASKED)


def mask_of(live: LiveSandbox | None, sandboxes: Sandboxes, others: Iterable[LiveSandbox | None] = ()) -> Mask:
    """Return the mask for a sandbox, or for all sandboxes if it does not exist; `others` are sandboxes whose secrets it
    received."""
    all_of_them = [each for each in (live, *others) if each is not None]
    keys = ChainMap(*(each.core.state.keys for each in all_of_them))
    if not all_of_them:
        return Mask((), keys, sandboxes.secrets)
    # Sandboxes share the former secrets.
    return Mask((), keys, dict.fromkeys(chain.from_iterable(each.secrets for each in all_of_them)))


def masked_body(path: str, body: bytes) -> bytes:
    """Return a body for the journal: for a token endpoint, only the values of members without secrets."""
    if not is_token_path(path) or not body:
        return body
    try:
        return encode(_masked(decode_object(body)))
    except BadJson:
        return masked_query(path, body)


def masked_query(path: str, query: bytes) -> bytes:
    """Return a query or form for the journal; masked completely if it has an unknown name, since it may not be a
    form."""
    if not is_token_path(path) or not query:
        return query
    parts = form_parameters(query)
    if parts is None:
        return MASKED.encode()
    return b"&".join(name + b"=" + (value if name == b"username" else MASKED.encode()) for name, value in parts)


def _masked(members: dict[str, Any]) -> dict[str, Any]:
    """Return members with secrets masked, including unknown names: a password may have been sent as a name."""
    return {name if name in MEMBERS else MASKED: _shown(name, value) for name, value in members.items()}


def _shown(name: str, value: Any) -> Any:
    if name in HARMLESS_MEMBERS or value is None:
        return value
    return _masked(value) if isinstance(value, dict) else MASKED
