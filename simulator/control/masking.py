"""Masks secrets in what the control API shows: passwords and tokens at the token endpoints (SPEC 4.2, 4.3), however
their path is written, and wherever they came.

A value is masked when its name is that of a secret, when a secret of the sandbox is in it, and when it looks like a
token. The journal, which is in memory alone, keeps what came; masking happens when it is read, so requests pay nothing
for it. Diagnoses are masked before they are sent.
"""

import re
from collections import ChainMap
from collections.abc import Container, Iterable
from itertools import chain
from typing import Any, Final

import msgspec

from simulator.auth import headers as names
from simulator.contract.body import BadJson, decode_object
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.wire.json import encode
from simulator.wire.named_secrets import without_named
from simulator.wire.secret_names import FOREIGN_KEY_CHARS_SHOWN, is_secret_header
from simulator.wire.secrets import MASKED, Secrets, hidden
from simulator.wire.shown_addresses import shown_path, shown_query, with_shown_addresses
from simulator.wire.tokens import HARMLESS_MEMBERS, MEMBERS, form_parameters, is_token_path
from simulator.wire.unescaped import Unescaped
from simulator.wire.userinfo import without_userinfo

_API_KEY: Final = names.API_KEY.decode()

BODY_BYTES_MAX = 256 * 1024
"""How much of a body is shown. The rest is neither decoded nor searched."""

_SECRET_BYTES_MAX: Final = 16 * 1024  # the longest token, percent-encoded

_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')


class Mask:
    """Hides secrets in what is shown: those given, and those of `known`. An X-Api-Key that is not one of the `keys` may
    be a secret in the wrong place."""

    def __init__(self, secrets: Iterable[str] = (), keys: Container[str] = (), known: Iterable[Secrets] = ()) -> None:
        self._keys = keys
        self._secrets = tuple(each for each in (Secrets(secrets), *known) if len(each))
        self._secrets = self._secrets or (Secrets(),)  # tokens are recognized without any

    def text(self, text: str) -> str:
        """A text without secrets and tokens, also where they are percent-encoded or escaped as in JSON, and without the
        userinfo of addresses."""
        return without_userinfo(self._known(text))

    def _known(self, text: str) -> str:
        return hidden(text, self._secrets)

    def answer(self, body: bytes) -> bytes:
        """A compact JSON text with every secret hidden in its strings; nothing is decoded when there is none. Names of
        members are mostly ours, so weak secrets are not looked for in them."""
        return _STRING.sub(self._string, body) if self._may_show(body) else body

    def _may_show(self, body: bytes) -> bool:
        once = Unescaped(body.replace(b'\\"', b'"')).text  # the most frequent escape is undone fastest
        twice = Unescaped(once).text
        texts = (once,) if twice == once else (once, twice)
        return any(each.spans(text) for text in texts for each in self._secrets)

    def _string(self, found: re.Match[bytes]) -> bytes:
        text = msgspec.json.decode(found[0], type=str)
        is_name = found.string[found.end() : found.end() + 1] == b":"
        shown = hidden(text, self._secrets, strong_only=is_name)
        return found[0] if shown == text else encode(shown)

    def header(self, name: str, value: str) -> str:
        """A header's value."""
        if name.lower() == _API_KEY and value not in self._keys and len(value) > FOREIGN_KEY_CHARS_SHOWN:
            return f"{value[:FOREIGN_KEY_CHARS_SHOWN]}... {MASKED}"
        return MASKED if is_secret_header(name) else with_shown_addresses(self._known(value))

    def path(self, path: str) -> str:
        """A path, without credentials in its parameters and in addresses in it either."""
        return shown_path(self._known(path))

    def query(self, path: str, query: bytes) -> str:
        """A query, without credentials in the addresses in it either."""
        return shown_query(self._known(masked_query(path, query).decode("latin-1")))

    def body(self, path: str, body: bytes) -> str:
        """A body as text; of a long one the beginning, and how much there is."""
        if len(body) <= BODY_BYTES_MAX:
            return self._by_name(self._known(masked_body(path, body).decode("utf-8", "replace")))
        note = f"... (the beginning of {len(body)} bytes)"
        if is_token_path(path):  # it would have to be decoded whole to know the secrets in it
            return MASKED + note
        return self._by_name(self._known(body[: self._cut(body)].decode("utf-8", "ignore"))) + note

    @staticmethod
    def _by_name(text: str) -> str:
        """What is a secret by its name may be unknown, such as a wrong password that was sent to a wrong path, or what
        a receiver's address has in its query."""
        return with_shown_addresses(without_named(text.encode()).decode())

    def _cut(self, body: bytes) -> int:
        """Where the shown part of a long body ends: not within a secret, of which the rest would not be recognized."""
        start = BODY_BYTES_MAX - _SECRET_BYTES_MAX
        around = body[start : BODY_BYTES_MAX + _SECRET_BYTES_MAX]
        cut = BODY_BYTES_MAX
        for unescaped in (Unescaped(around, is_plain=True), Unescaped(around)):
            for each in self._secrets:
                for span in each.spans(unescaped.text):
                    begins, ends = (start + unescaped.place(at) for at in span)
                    cut = begins if begins < cut < ends else cut
        return cut


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
