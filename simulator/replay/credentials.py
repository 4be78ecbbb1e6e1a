"""The credentials in what clients and receivers sent, each replaced where it stands: what the journal hides, and by the
same notion of what is one (`simulator.wire`), so that no tape has what no journal shows."""

import re
from collections.abc import Container
from typing import Any, Final

from simulator.auth import headers as names
from simulator.replay.stand_ins import StandIns
from simulator.replay.token_bodies import token_body_with, token_form_with, token_with
from simulator.wire.named_secrets import named_with
from simulator.wire.secret_names import FOREIGN_KEY_CHARS_SHOWN, is_secret_header
from simulator.wire.secrets import is_token
from simulator.wire.shown_addresses import addresses_with, path_with, query_with
from simulator.wire.tokens import is_token_path
from simulator.wire.unescaped import Unescaped
from simulator.wire.userinfo import user_and_password

_API_KEY: Final = names.API_KEY.decode()
_SCHEME: Final = re.compile(r"((?:bearer|basic|digest|token|negotiate)(?:[ \t]+|$))", re.IGNORECASE)
_IN_ADDRESS: Final = re.compile(r"[/%]|\\u002f", re.IGNORECASE)


class Credentials:
    """Replaces them by stand-ins; `keys` are the API keys of the sandbox, and `users` the names of its users, which
    are none."""

    def __init__(self, stand_ins: StandIns, keys: Container[str], users: Container[str]) -> None:
        self._stand_ins = stand_ins
        self._keys = keys
        self._users = users

    def header(self, name: str, value: str) -> str:
        """A header's value, read as Latin-1."""
        if name.lower() == _API_KEY:
            shown, rest = value[:FOREIGN_KEY_CHARS_SHOWN], value[FOREIGN_KEY_CHARS_SHOWN:]
            return value if value in self._keys or not rest else shown + self._form(rest)
        if not is_secret_header(name):
            return self.addresses(value)
        scheme = found[1] if (found := _SCHEME.match(value)) else ""
        rest = value[len(scheme) :]
        if (made := self._stand_ins.of(rest)) != rest:
            return scheme + made
        if not rest or is_token(rest):
            return value  # a token of ours is made again by every tape
        return scheme + (token_with(rest, self._stand_ins.of_form) or self._form(rest))

    def path(self, path: str) -> str:
        """A path, with or without a query."""
        path, mark, query = path.partition("?")
        return path_with(path, self._userinfo, self._value) + mark + (self.query(path, query) if query else "")

    def query(self, path: str, query: str) -> str:
        """A query, read as Latin-1."""
        if is_token_path(path):
            text, form = self._stand_ins.of_credential, self._stand_ins.of_form
            return token_form_with(query.encode("latin-1"), text, form, self._users).decode("latin-1")
        return query_with(query, self._userinfo, self._parameter)

    def body(self, path: str, body: bytes) -> bytes:
        """A body, of whatever kind."""
        text, form = self._stand_ins.of_credential, self._stand_ins.of_form
        if is_token_path(path) and body:
            return token_body_with(body, text, form, self._users)
        shown = named_with(body, text, form).decode("utf-8", "surrogateescape")
        return self.addresses(shown).encode("utf-8", "surrogateescape")

    def addresses(self, text: str) -> str:
        """A text in which there may be addresses."""
        if _IN_ADDRESS.search(text) is None:
            return text
        return addresses_with(text, self._userinfo, self._parameter)

    def document(self, value: Any) -> Any:
        """A part of a scenario, or of a command: with credentials in its headers, bodies and addresses."""
        if isinstance(value, str):
            return self.addresses(value)
        if isinstance(value, list):
            return [self.document(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {name: self._member(name, one) for name, one in value.items()}

    def _member(self, name: str, value: Any) -> Any:
        if name == "headers" and isinstance(value, dict):
            return {each: self._document_header(each, one) for each, one in value.items()}
        if name == "headers" and isinstance(value, list):
            return [[each[0], self._document_header(*each)] if _is_pair(each) else each for each in value]
        if name == "body" and isinstance(value, str):
            return self.body("", value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
        return self.document(value)

    def _document_header(self, name: str, value: Any) -> Any:
        """What a header is, or may be. What it begins with or looks like stays: no stand-in would be like it."""
        if isinstance(value, list):
            return [self._document_header(name, one) for one in value]
        return self.header(name, value) if isinstance(value, str) else self.document(value)

    def _form(self, text: str) -> str:
        return self._stand_ins.of_form(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def _userinfo(self, raw: str) -> str:
        user, colon, password = user_and_password(raw)
        return self._value(user) + colon + self._value(password)

    def _parameter(self, raw: str) -> str:
        """A value of a query, in which a plus sign is a blank."""
        return self._value(raw, raw.replace("+", " "))

    def _value(self, raw: str, spelled: str | None = None) -> str:
        """However often it is encoded: what stands for it has nothing that would have to be."""
        text = raw if spelled is None else spelled
        plain = Unescaped(text.encode("utf-8", "surrogateescape")).text.decode("utf-8", "replace")
        made = self._stand_ins.of_credential(plain)
        return raw if made == plain else made


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value)
