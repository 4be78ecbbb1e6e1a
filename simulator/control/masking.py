"""Masks the secrets in what the control API shows of a request: passwords and tokens at the token endpoints (SPEC 4.2,
4.3), however their path is written, and what `simulator.redaction` recognizes anywhere.

The journal, which is in memory alone, keeps what came; masking happens when it is read, so requests pay nothing for it.
Diagnoses are masked before they are sent.
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
    """Hides secrets in what is shown: those given, and those of `known`. An X-Api-Key that is not one of the `keys` may
    be a secret in the wrong place."""

    def __init__(self, secrets: Iterable[str] = (), keys: Container[str] = (), known: Iterable[Secrets] = ()) -> None:
        self._keys = keys
        self._secrets = tuple(each for each in (Secrets(secrets), *known) if len(each))

    def text(self, text: str) -> str:
        """A text without secrets, tokens, and the credentials in URLs."""
        return redact_urls(self._known(text))

    def _known(self, text: str) -> str:
        return redact(text, self._secrets)

    def answer(self, body: bytes) -> bytes:
        """A JSON text with every secret hidden in its strings. Names of members are mostly ours, so weak secrets are
        not looked for in them."""
        text = body.decode("utf-8", "replace")
        if self._known(text) == text and b"\\" not in body:
            return body
        return redact_strings(body, lambda each, is_name: redact(each, self._secrets, strong_only=is_name))

    def header(self, name: str, value: str) -> str:
        """A header's value."""
        if name.lower() == _API_KEY and value not in self._keys and len(value) > FOREIGN_KEY_CHARS_SHOWN:
            return f"{value[:FOREIGN_KEY_CHARS_SHOWN]}... {MASKED}"
        return MASKED if is_secret_header(name) else self.text(value)

    def path(self, path: str) -> str:
        """A path, without credentials in its parameters and in URLs in it either."""
        return redact_parameters(self.text(path), lambda _: MASKED)

    def query(self, path: str, query: bytes) -> str:
        """A query, without credentials in the URLs in it either."""
        return redact_query(self._known(masked_query(path, query).decode("latin-1")))

    def body(self, path: str, body: bytes) -> str:
        """A body as text; of a long one the beginning, and how much there is."""
        if len(body) <= BODY_BYTES_MAX:
            return self._body(masked_body(path, body))
        note = f"... (the beginning of {len(body)} bytes)"
        if is_token_path(path):  # it would have to be decoded whole to know the secrets in it
            return MASKED + note
        # More than is shown, so that a secret at the end is recognized.
        shown = self._body(body[: BODY_BYTES_MAX + SECRET_BYTES_MAX]).encode("utf-8", "surrogatepass")
        return shown[:BODY_BYTES_MAX].decode("utf-8", "ignore") + note

    def _body(self, body: bytes) -> str:
        shown = redact_members(self._known(body.decode("utf-8", "replace")).encode())
        if b"\\" in shown:
            shown = redact_strings(shown, lambda text, _: self.text(text))
        return redact_urls(shown.decode("utf-8", "replace"), lambda _: MASKED)


def mask_of(live: LiveSandbox | None, sandboxes: Sandboxes, others: Iterable[LiveSandbox | None] = ()) -> Mask:
    """The mask for what is shown of a sandbox, and of all of them where that one does not exist; `others` are those
    whose secrets came there, too."""
    all_of_them = [each for each in (live, *others) if each is not None]
    keys = ChainMap(*(each.core.state.keys for each in all_of_them))
    if not all_of_them:
        return Mask((), keys, sandboxes.secrets)
    # Sandboxes have the former secrets in common.
    return Mask((), keys, dict.fromkeys(chain.from_iterable(each.secrets for each in all_of_them)))


def masked_body(path: str, body: bytes) -> bytes:
    """A body for the journal: for a token endpoint, only the values of members without secrets."""
    if not is_token_path(path) or not body:
        return body
    try:
        return encode(_masked(decode_object(body)))
    except BadJson:
        return masked_query(path, body)


def masked_query(path: str, query: bytes) -> bytes:
    """The same for a query or form; masked completely if it has another name, since it may not be a form."""
    if not is_token_path(path) or not query:
        return query
    parts = form_parameters(query)
    if parts is None:
        return MASKED.encode()
    return b"&".join(name + b"=" + (value if name == b"username" else MASKED.encode()) for name, value in parts)


def _masked(members: dict[str, Any]) -> dict[str, Any]:
    """Unknown names are masked as well: a password may have been sent as one."""
    return {name if name in MEMBERS else MASKED: _shown(name, value) for name, value in members.items()}


def _shown(name: str, value: Any) -> Any:
    if name in HARMLESS_MEMBERS or value is None:
        return value
    return _masked(value) if isinstance(value, dict) else MASKED
