"""Splits a pasted command into words as bash does: quotes, backslashes, and `$'...'`, which browsers use for bodies.

Commands with parts that only a shell can evaluate, such as variables, are refused with a sentence; so is quoting that
no browser, documentation or page of ours uses.
"""

import re
from collections.abc import Callable
from typing import Final

SHOWN_CHARS: Final = 40
_UNREADABLE: Final = "the command cannot be read: "

_COMMENTS = re.compile(r"\A(?:\s*#[^\n]*\n(?=\s*\S))+")
_PROMPT = re.compile(r"\A\s*[$%#>]\s+")
_PRINTED: Final = r"(?:[^'\\]++|\\0[0-3][0-7][0-7])*+"  # the form of our arguments to printf %b
_PIPED = re.compile(rf"\s*printf %b '(?P<body>{_PRINTED})'\s*\|(?![|&])\s*")
# A piece of a word, or the space between words. In single quotes nothing is special. A line that begins with an option
# continues the line before, since backslashes get lost when commands are copied.
_PIECE = re.compile(
    r"""(?P<gap>[ \t]++|\r(?=\n|\Z)|\n\s*+(?=-)|(?<![^ \t\n])[0-9&]?>>?(?:&[0-9]|[ \t]*[^ \t\r\n'"\\;&|<>()$`]+))
    |(?P<joined>\\\r?\n)
    |(?P<end>[;&|)\n]|(?<!\\\n)(?<![^ \t\n])\#)
    |'(?P<single>[^']*)'
    |\$'(?P<escaped>(?:[^'\\]++|\\.)*+)'
    |"\$\(printf[ ]%b[ ]'(?P<printed>PRINTED)'\)"
    |"(?P<double>(?:[^"\\]++|\\.)*+)"
    |\\(?P<literal>.)
    |(?P<open>['"\\])
    |(?P<cmd>\^(?="|[ \t]*+\r?\n))
    |(?P<replaced>(?:\$(?=[\w{(?@*\#!$\["-])|`)[^\s'"]*)
    |(?P<unquoted>(?:[(<>]|\{(?!\})|(?<![^ \t\n])~)[^\s'"]*)
    |(?P<plain>[^ \t\r\n'"\\$;&|<>()`{~\#^]+|.)""".replace("PRINTED", _PRINTED),
    re.VERBOSE | re.DOTALL,
)
_REPLACED = re.compile(r"\$[\w{(?@*#!$\[-][^\s'\"]*|`")
_IN_DOUBLE = re.compile(r'\\(\r?\n|["\\$`])')
_ESCAPE = re.compile(
    rb"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))",
    re.DOTALL,
)
_LETTERS: Final = dict(zip(b"abeEfnrtv\\'\"?", b"\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
_OCTAL = re.compile(rb"\\0([0-3][0-7]{2})")
# The text after such a sign when it is a part of a URL, which should have been quoted.
_IS_CUT: Final = {"&": re.compile(r"[^\s&;|)]"), ";": re.compile(r"[\w.%-]+="), "|": re.compile(r"[\w.%-]+=")}
_NEVER = re.compile(r"(?!)")


class NotCurl(Exception):
    """The text is no curl command that can be read; the text of the exception says why."""


def stdin_of(text: str) -> tuple[bytes | None, str]:
    """Split off the text that is piped into a command in the form of our own commands, `printf %b '...' | curl ...`,
    and the command.

    None is piped into any other."""
    text = _PROMPT.sub("", _COMMENTS.sub("", text))
    found = _PIPED.match(text)
    return (_printed(found["body"]), text[found.end() :]) if found else (None, text)


def words_of(text: str) -> list[str]:
    """Return the words of a command, which may continue on further lines and begin with a prompt. Later commands and
    plain redirections are dropped. Raises `NotCurl`."""
    text = _PROMPT.sub("", _COMMENTS.sub("", text)).strip(" \t\r\n").replace("\0", "")
    words: list[list[str]] = []
    is_within = is_plain = False
    for found in _PIECE.finditer(text):
        kind = found.lastgroup or ""
        piece = found[kind]
        if kind == "end":
            after = text[found.end() : found.end() + 100]
            if is_plain and "?" in (word := "".join(words[-1])) and _IS_CUT.get(piece, _NEVER).match(after):
                raise NotCurl(f"{_UNREADABLE}the shell ends it at the {piece} after {word!r}: put the URL in quotes")
            break
        _refuse(kind, piece)
        if kind == "gap":
            is_within = False
        elif kind != "joined":
            if not is_within:
                words.append([])
            words[-1].append(_READ[kind](piece))
            is_within = True
        is_plain = kind == "plain"
    return ["".join(pieces) for pieces in words]


def _refuse(kind: str, piece: str) -> None:
    if kind == "cmd":
        raise NotCurl("the command is quoted with ^ for cmd of Windows: copy it as cURL for bash")
    if kind == "double" and (found := _REPLACED.search(re.sub(r"\\.", "  ", piece, flags=re.DOTALL))):
        kind, piece = "replaced", piece[found.start() :]
    if wrong := {
        "open": "it ends in a backslash" if piece == "\\" else "a quote is not closed",
        "replaced": f"the shell replaces {piece[:SHOWN_CHARS]!r}: give the command with the value that was sent",
        "unquoted": f"the shell takes {piece[:SHOWN_CHARS]!r} for something else: put it in quotes",
    }.get(kind):
        raise NotCurl(_UNREADABLE + wrong)


def as_text(raw: bytes) -> str:
    """Return bytes as a word, with surrogates for bytes that are no text."""
    return raw.decode("utf-8", "surrogateescape")


def _ansi_c(text: str) -> str:
    """Return the text of `$'...'`, up to its first NUL, as bash does."""
    return as_text(_ESCAPE.sub(_unescaped, text.encode("utf-8", "surrogateescape")).partition(b"\0")[0])


def _unescaped(found: re.Match[bytes]) -> bytes:
    hexadecimal, octal, short, long, letter = found.groups()
    if code := short or long:
        return chr(min(int(code, 16), 0x10FFFF)).encode("utf-8", "surrogatepass")
    if hexadecimal or octal:
        return bytes([int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF])
    return bytes([_LETTERS[letter[0]]]) if letter[0] in _LETTERS else found[0]


def _printed(text: str) -> bytes:
    """Return the bytes that `printf %b` writes in our own commands."""
    return _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), text.encode("utf-8", "surrogateescape"))


_READ: Final[dict[str, Callable[[str], str]]] = {
    "single": str,
    "literal": str,
    "plain": str,
    "escaped": _ansi_c,
    "printed": lambda piece: as_text(_printed(piece).translate(None, b"\0").rstrip(b"\n")),
    "double": lambda piece: _IN_DOUBLE.sub(lambda found: found[1].strip("\r\n"), piece),
}
