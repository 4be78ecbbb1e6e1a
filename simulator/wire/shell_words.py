"""The words of a command as bash reads it: quotes, backslashes, and `$'...'`, in which browsers copy bodies."""

import os
import re
from collections.abc import Iterator

# A piece of a word, or what is between words. In single quotes nothing is special.
_PIECE = re.compile(
    r"""(?P<between>(?:\s|\\\r?\n)+)
    |'(?P<single>[^']*)'
    |\$'(?P<escaped>(?:[^'\\]|\\.)*)'
    |"(?P<double>(?:[^"\\]|\\.)*)"
    |\\(?P<literal>.)
    |(?P<plain>[^\s'"\\$]+|\$(?!'))""",
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE = re.compile(r'\\(\r?\n|["\\$`])')
_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})|(?P<octal>[0-7]{1,3})"
    r"|c(?P<control>.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


_ENDS = re.compile(r"\|\|?|&&?|;")
_REDIRECTS = re.compile(r"(?:\d*|&)[<>]{1,2}&?(?P<to>.*)", re.DOTALL)


def shell_words(text: str) -> list[str]:
    """The words of the first command, with bytes that are no text as surrogates. What follows a `|`, `&&` or `;` that
    begins a word is another command, and where output goes is left out. Raises `ValueError` for a quote that is not
    closed."""
    words: list[list[str]] = []  # in pieces, since adding to a long text again and again would copy it each time
    is_within = False
    left_out: list[list[str]] = []
    into = words
    for kind, piece in _pieces(text):
        if kind == "between":
            is_within = False
            continue
        if not is_within:
            if kind == "plain" and _ENDS.match(piece):
                break
            # An operator that stands alone leaves out the next word, too.
            is_left_out = bool(left_out) and left_out[-1] == [""]
            redirects = _REDIRECTS.fullmatch(piece) if kind == "plain" else None
            into = left_out if redirects or is_left_out else words
            into.append([])
            if redirects:
                piece = redirects["to"]
        is_within = True
        into[-1].append(_read(kind, piece.removesuffix(";") if kind == "plain" else piece))
        if kind == "plain" and piece.endswith(";"):
            break
    return ["".join(one) for one in words]


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            raise ValueError("it ends in a backslash" if text[at] == "\\" else "a quote is not closed")
        at = found.end()
        kind = found.lastgroup or ""
        yield kind, found[kind]


def _read(kind: str, piece: str) -> str:
    if kind == "double":
        return _IN_DOUBLE.sub(lambda found: found[1].strip("\r\n"), piece)
    return os.fsdecode(_ESCAPE.sub(_escape, piece).encode("utf-8", "surrogateescape")) if kind == "escaped" else piece


def _escape(found: re.Match[str]) -> str:
    """What an escape stands for; a byte above 127 as a surrogate, which becomes a byte again."""
    if digits := found["hex"] or found["octal"]:
        byte = int(digits, 16 if found["hex"] else 8) & 0xFF
        return bytes([byte]).decode("utf-8", "surrogateescape")
    if digits := found["short"] or found["long"]:
        code = int(digits, 16)
        return "\ufffd" if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
    if found["control"]:
        return chr(ord(found["control"]) & 0x1F)
    return _LETTERS.get(found["letter"], found[0])
