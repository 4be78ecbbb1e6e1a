"""Words as a shell takes them, on one line whatever is in them."""

import os
import shlex
from collections.abc import Iterable

_NAMED = {"\\": r"\\", "'": r"\'", "\n": r"\n", "\t": r"\t", "\r": r"\r"}


def quoted(word: str) -> str:
    """One word. What cannot be printed is written as `$'…'` has it, which bash, zsh, ksh and the newer sh read."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def joined(words: Iterable[str]) -> str:
    """A command line."""
    return " ".join(map(quoted, words))


def _escaped(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    return char if char.isprintable() else "".join(f"\\{byte:03o}" for byte in os.fsencode(char))
