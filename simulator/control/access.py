"""Who may use the control API: tokens with a name and a role, each for all sandboxes or for one, and their file."""

import hmac
import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from simulator.runtime.sandboxes import is_sandbox_id

Role = Literal["read", "full"]

FILE_BYTES_MAX: Final = 64 * 1024
TOKENS_MAX: Final = 200
SECRET_CHARS_MIN: Final = 16
SECRET_CHARS_MAX: Final = 200
ROLES: Final = ("read", "full")
FORM: Final = "NAME read|full TOKEN, and sandbox=ID behind it for one sandbox alone"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SECRET: Final = re.compile(r"[!-~]+")


class Access(NamedTuple):
    """What a request may do: with the role `read` it changes nothing and sees no secrets, `full` may do everything;
    of one `sandbox` nothing else. `name` is that of its token, empty for the control token and where none is asked
    for."""

    name: str = ""
    role: Role = "full"
    sandbox: str | None = None

    @property
    def may_change(self) -> bool:
        """Whether it may change things, and see secrets."""
        return self.role == "full"


EVERYTHING: Final = Access()


class Token(NamedTuple):
    """A secret, and what its holder may do."""

    secret: str
    access: Access


class BadTokens(ValueError):
    """A file of tokens that cannot be used; the text says what is wrong in which line, without any token."""


class Tokens:
    """The tokens that a server accepts. None at all is no refusal of anybody: see `Guard`."""

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self._tokens = [(one.secret.encode(), one.access) for one in tokens]

    def __len__(self) -> int:
        return len(self._tokens)

    def find(self, given: bytes) -> Access | None:
        """What the holder of a token may do; None for one that is not known. All are compared, whichever it is."""
        found = None
        for secret, access in self._tokens:
            if hmac.compare_digest(given, secret):
                found = access
        return found


def parsed_tokens(content: bytes) -> tuple[Token, ...]:
    """The tokens of a file: one a line, `NAME ROLE TOKEN [sandbox=ID]`, but for lines that begin with `#`.

    Raises `BadTokens`.
    """
    if len(content) > FILE_BYTES_MAX:
        raise BadTokens(f"has more than {FILE_BYTES_MAX} bytes")
    try:
        lines = content.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise BadTokens("has characters other than ASCII") from None
    tokens: list[Token] = []
    for number, line in enumerate(lines, 1):
        words = [] if line.lstrip().startswith("#") else line.split()
        if words:
            try:
                tokens.append(_token(words, tokens))
            except BadTokens as wrong:
                raise BadTokens(f"line {number}: {wrong}") from None
    if not tokens:
        raise BadTokens(f"has no tokens: write {FORM}")
    return tuple(tokens)


def _token(words: list[str], before: list[Token]) -> Token:
    if not 3 <= len(words) <= 4:
        raise BadTokens(f"has {len(words)} words: write {FORM}")
    name, role, secret, *more = words
    if _NAME.fullmatch(name) is None:
        raise BadTokens("a name has 1 to 64 letters, digits, '.', '_' and '-', and begins with a letter or digit")
    if role not in ROLES:
        raise BadTokens(f"the role of {name} is read or full")
    if not SECRET_CHARS_MIN <= len(secret) <= SECRET_CHARS_MAX or _SECRET.fullmatch(secret) is None:
        raise BadTokens(f"the token of {name} has {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} visible ASCII characters")
    sandbox = None
    if more:
        key, _, sandbox = more[0].partition("=")
        if key != "sandbox" or not is_sandbox_id(sandbox):
            raise BadTokens(f"behind the token of {name} only sandbox=ID may stand, with the id of a sandbox")
    if len(before) == TOKENS_MAX:
        raise BadTokens(f"is one more than {TOKENS_MAX} tokens")
    if any(one.access.name == name for one in before):
        raise BadTokens(f"the name {name} is there already")
    if any(one.secret == secret for one in before):
        raise BadTokens(f"the token of {name} is another one's, too")
    return Token(secret, Access(name, "full" if role == "full" else "read", sandbox))
